/**
 * One row of `records`: a fixed list of cells of declared kinds, with the mark of its birth.
 */
import { keyedChanges } from '../change.ts';
import type { Change } from '../change.ts';
import type { Mark } from '../dot.ts';
import { affirmed, decodeMark, encodeMark } from '../dot.ts';
import { all, fault, placedAt, soundKind } from '../fault.ts';
import { FIELD_NAME_HINT, isFieldName } from '../field-name.ts';
import { aimsOf, declared, restrictionsOf } from '../field-kind.ts';
import type { Aim, Attempt, Complain, Settling, Expiry, Field, FieldKind, FieldMeta, Timer, Traversable } from '../field-kind.ts';
import { nullable, readVerbs } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, isJsonObject, pointer, utf8Bytes } from '../json.ts';
import { malformed } from '../refusal.ts';
import type { JsonSchema } from '../value-type.ts';

/**
 * `past` is the mark of the drop of the row that had this id before, while bases may predate it; `mark` the newest change.
 * `texts` is a memo: the encoded cells, where they are known.
 */
export type Row = {
  readonly birth: Mark | undefined;
  readonly past: Mark | undefined;
  readonly mark: Mark | undefined;
  readonly cells: readonly unknown[];
  readonly texts: (string | undefined)[];
};

/** Operations by index of cell. */
export type RowOp = readonly (readonly [number, unknown])[];

export type RowKind = {
  readonly bytesMax: number;
  readonly hasSettle: boolean;
  /** Who may write the cells, all of them: what a drop must satisfy. */
  readonly restrictions: readonly FieldMeta[];
  /** The row for premises: its children are its cells. */
  readonly walk: Traversable<Row>;
  born(birth: Mark, past: Mark | undefined): Row;
  read(change: Json, path: string, complain: Complain): RowOp | undefined;
  weigh(op: RowOp): number;
  erases(op: RowOp): number;
  /** The cells that the operation names; the row where it names none, or where there is no row. */
  aims(row: Row | undefined, op: RowOp, path: string): readonly Aim[];
  fold(row: Row, op: RowOp, path: string, attempt: Attempt): Row;
  withoutEcho(row: Row, op: RowOp): RowOp | undefined;
  write(op: RowOp): JsonObject;
  settle(row: Row, path: string, settling: Settling): Row;
  readonly hasHolds: boolean;
  /** Asks every cell, so that all that is held is named. */
  mayDrop(row: Row, path: string, attempt: Attempt): boolean;
  readonly hasTimers: boolean;
  timers(row: Row, path: string): readonly Timer[];
  expire(row: Row, tokens: readonly string[], expiry: Expiry): Row;
  readonly hasRivals: boolean;
  contested(row: Row, path: string): readonly string[];
  view(row: Row): unknown;
  json(row: Row): Json;
  valueSchema(): JsonSchema;
  assign(row: Row, change: Change, path: string, complain: Complain): JsonObject | undefined;
  samples(): readonly JsonObject[];
  encode(row: Row): string;
  decode(stored: Json): Row;
  modelSchema(): JsonSchema;
  fromModel(change: Json): Json;
  declaration(): Json;
};

/** Throws the faults of the cells and of their names, and one for a row without cells. */
export function rowKind(cells: { readonly [name: string]: Field }): RowKind {
  const names = isJsonObject(cells as unknown as Json) ? Object.keys(cells).sort() : [];
  if (names.length === 0)
    throw fault('records without cells', 'Name at least one cell: records({ done: counter() }, { cap: 64 }).');
  const kinds = all(...names.map((name) => () => placedAt(`/*${pointer(name)}`, () => cellKind(name, cells[name]))));
  const keys = names.map((name) => canonical(name));

  const walk: Traversable<Row> = {
    newest: (row) => row.mark,
    child: (row, name) => {
      const index = names.indexOf(name);
      return index < 0 ? undefined : { kind: walks[index] as Traversable<Row>, cell: row };
    },
  };
  const walks = kinds.map((kind, i): Traversable<Row> => ({
    // A cell that was never written is as new as its row: the cell of that name in an earlier row was another one.
    newest: (row) => kind.newest(row.cells[i]) ?? row.birth,
    child: (row, key) => kind.child?.(row.cells[i], key),
  }));

  const json = (row: Row): Json => Object.fromEntries(names.map((name, i) => [name, (kinds[i] as FieldKind).json(row.cells[i])]));

  return {
    bytesMax: kinds.reduce((sum, kind, i) => sum + utf8Bytes(keys[i] as string) + 2 + kind.bytesMax, 2),
    hasSettle: kinds.some((kind) => kind.settle !== undefined),
    restrictions: kinds.flatMap(restrictionsOf),
    walk,
    born: (birth, past) => ({ birth, past, mark: birth, cells: kinds.map((kind) => kind.empty(undefined)), texts: [] }),
    read,
    erases: (op) => op.reduce((sum, [index, cellOp]) => sum + (kinds[index] as FieldKind).erases(cellOp), 0),
    weigh: (op) => op.reduce((sum, [index, cellOp]) => sum + (kinds[index] as FieldKind).weigh(cellOp), 0),
    aims: (existing, op, path) =>
      existing === undefined || op.length === 0
        ? [[path, existing === undefined ? existing : json(existing)]]
        : op.flatMap(([index, cellOp]) =>
            aimsOf(kinds[index] as FieldKind, existing.cells[index], cellOp, `${path}/${names[index] as string}`),
          ),
    fold,
    withoutEcho: (row, op) => {
      const kept = op.flatMap(([index, cellOp]): RowOp => {
        const rest = (kinds[index] as FieldKind).withoutEcho(row.cells[index], cellOp);
        return rest === undefined ? [] : [[index, rest]];
      });
      return kept.length === 0 ? undefined : kept;
    },
    write: (op) =>
      Object.fromEntries(op.map(([index, cellOp]) => [names[index] as string, (kinds[index] as FieldKind).write(cellOp)])),
    settle,
    hasHolds: kinds.some((kind) => kind.mayDrop !== undefined),
    mayDrop: (existing, path, attempt) =>
      kinds
        .map((kind, i) => kind.mayDrop?.(existing.cells[i], `${path}/${names[i] as string}`, attempt) !== false)
        .every(Boolean),
    hasTimers: kinds.some((kind) => kind.timers !== undefined),
    timers: (row, path) => kinds.flatMap((kind, i) => kind.timers?.(row.cells[i], `${path}/${names[i] as string}`) ?? []),
    expire,
    hasRivals: kinds.some((kind) => kind.contested !== undefined),
    contested: (row, path) => kinds.flatMap((kind, i) => kind.contested?.(row.cells[i], `${path}/${names[i] as string}`) ?? []),
    valueSchema: () => ({
      type: 'object',
      properties: Object.fromEntries(names.map((name, i) => [name, (kinds[i] as FieldKind).valueSchema()])),
      required: names,
      additionalProperties: false,
    }),
    assign,
    samples: () => kinds.flatMap((kind, i) => kind.samples().map((intent) => ({ [names[i] as string]: intent }))),
    view: (row) => Object.fromEntries(names.map((name, i) => [name, (kinds[i] as FieldKind).view(row.cells[i])])),
    json,
    encode,
    decode: (stored) => {
      const row = stored as JsonObject;
      const encoded = row['cells'] as JsonObject;
      return {
        birth: decodeMark(row['birth']),
        past: decodeMark(row['past']),
        mark: decodeMark(row['mark']),
        cells: names.map((name, i) => (kinds[i] as FieldKind).decode(encoded[name] as Json)),
        texts: [],
      };
    },
    modelSchema: () => ({
      type: 'object',
      properties: Object.fromEntries(names.map((name, i) => [name, nullable((kinds[i] as FieldKind).modelSchema())])),
      required: names,
      additionalProperties: false,
    }),
    fromModel: (change) => {
      if (!isJsonObject(change)) return change;
      return Object.fromEntries(
        Object.entries(change)
          .filter(([, value]) => value !== null)
          .map(([name, value]) => {
            const index = names.indexOf(name);
            return [name, index < 0 ? value : (kinds[index] as FieldKind).fromModel(value)];
          }),
      );
    },
    declaration: () => Object.fromEntries(names.map((name, i) => [name, declared(kinds[i] as FieldKind)])),
  };

  function read(change: Json, path: string, complain: Complain): RowOp | undefined {
    const given =
      isJsonObject(change) && Object.keys(change).length === 0 ? change : readVerbs(change, 'records', names, path, complain);
    if (given === undefined) return undefined;
    const op: (readonly [number, unknown])[] = [];
    let isSound = true;
    for (const name of Object.keys(given)) {
      const index = names.indexOf(name);
      const cellOp = (kinds[index] as FieldKind).read(given[name] as Json, `${path}/${name}`, complain);
      if (cellOp === undefined) isSound = false;
      else op.push([index, cellOp]);
    }
    return isSound ? op : undefined;
  }

  function fold(row: Row, op: RowOp, path: string, attempt: Attempt): Row {
    let cells: unknown[] | undefined;
    let texts: (string | undefined)[] = [];
    let isChanged = false;
    for (const [index, cellOp] of op) {
      const before = row.cells[index];
      const cellPath = `${path}/${names[index] as string}`;
      const kind = kinds[index] as FieldKind;
      if (!attempt.mayWrite(cellPath, kind.meta)) continue;
      const after = kind.fold(before, cellOp, cellPath, attempt);
      if (after === before) continue;
      if (kind.newest(after) !== kind.newest(before)) isChanged = true;
      if (cells === undefined) {
        cells = row.cells.slice();
        texts = row.texts.slice();
      }
      cells[index] = after;
      texts[index] = undefined;
    }
    return cells === undefined
      ? row
      : { birth: row.birth, past: row.past, mark: isChanged ? affirmed(row.mark, attempt.mark) : row.mark, cells, texts };
  }

  function settle(row: Row, path: string, settling: Settling): Row {
    let cells: unknown[] | undefined;
    for (let i = 0; i < kinds.length; i += 1) {
      const settled = (kinds[i] as FieldKind).settle?.(row.cells[i], `${path}/${names[i] as string}`, settling) ?? row.cells[i];
      if (settled === row.cells[i]) continue;
      cells ??= row.cells.slice();
      cells[i] = settled;
    }
    return cells === undefined ? row : { ...row, cells, texts: [] };
  }

  function expire(row: Row, [name = '', ...rest]: readonly string[], expiry: Expiry): Row {
    const index = names.indexOf(name);
    const before = row.cells[index];
    const after = index < 0 ? before : (kinds[index] as FieldKind).expire?.(before, rest, expiry);
    if (after === undefined || after === before) return row;
    const texts = row.texts.slice();
    texts[index] = undefined;
    return { ...row, cells: row.cells.with(index, after), texts, mark: affirmed(row.mark, expiry.mark) };
  }

  function assign(row: Row, change: Change, path: string, complain: Complain): JsonObject | undefined {
    const changes = keyedChanges(change, [], 'records', path, complain);
    const intents: [string, Json][] = [];
    for (const [name, one] of changes ?? []) {
      const index = names.indexOf(name);
      if (index < 0) {
        complain(`${path}/${name}`, malformed('records', `The cells are ${names.join(', ')}.`));
        continue;
      }
      const intent = (kinds[index] as FieldKind).assign(row.cells[index], one, `${path}/${name}`, complain);
      if (intent !== undefined) intents.push([name, intent]);
    }
    return intents.length === 0 ? undefined : Object.fromEntries(intents);
  }

  function encode(row: Row): string {
    let text = '';
    for (let i = 0; i < kinds.length; i += 1) {
      const cellText = row.texts[i] ?? (kinds[i] as FieldKind).encode(row.cells[i]);
      row.texts[i] = cellText;
      text += `${(i === 0 ? '' : ',') + (keys[i] as string)}:${cellText}`;
    }
    return `{"birth":${encodeMark(row.birth)},"cells":{${text}},"mark":${encodeMark(row.mark)},"past":${encodeMark(row.past)}}`;
  }
}

function cellKind(name: string, given: unknown): FieldKind {
  const [kind] = all(
    () => soundKind(given),
    () => {
      if (!isFieldName(name)) throw fault(`${name} cannot be the name of a cell`, FIELD_NAME_HINT);
    },
  );
  return kind;
}
