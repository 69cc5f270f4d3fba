/**
 * `records`: rows by id, each with the same declared cells.
 *
 * A row's identity is its id and the mark of its birth, so no operation ever reaches another incarnation: a patch or a drop
 * aimed at a dropped row answers `gone`, and a put that has seen the drop begins a new row. A drop must have seen the whole
 * row; one that would erase a change it did not see is a conflict (decision 0002). `add` lets the coordinator issue the id
 * from the proposal's dot, so two agents that add at once get two rows. SPEC: REC1-REC8.
 */
import { z } from 'zod';
import { keyedChanges } from '../change.ts';
import type { Change } from '../change.ts';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { affirmed, decodeMark, encodeMark } from '../dot.ts';
import { all, fieldFrom } from '../fault.ts';
import type {
  Attempt,
  Complain,
  Settling,
  Expiry,
  Field,
  FieldKind,
  IntentOf,
  Refusal,
  Traversable,
  ViewOf,
} from '../field-kind.ts';
import { checkOptions, COUNT, keyTypeOf } from '../field-options.ts';
import { isOfType, isOnceEach, readList, readVerbs, strictObject } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { escapeToken, isJsonObject } from '../json.ts';
import { absent, conflict, gone, malformed, outOfBounds } from '../refusal.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieDigest, trieSorted, trieWith, trieWithout } from '../trie.ts';
import { samplesOfType } from '../value-samples.ts';
import type { JsonSchema } from '../value-type.ts';
import type { MapView } from './collection-view.ts';
import { mapView } from './collection-view.ts';
import type { Graves } from './graves.ts';
import { decodeGraves, encodeGraves, graveOf, gravesDigest, NO_GRAVES, withGrave, withoutGrave } from './graves.ts';
import { keyedFromModel } from './map.ts';
import type { Row, RowOp } from './row.ts';
import { rowKind } from './row.ts';

/** `cap` is the largest number of rows. `ids` is the type of an id; 64 characters when left out. */
export type RecordsOptions = { readonly cap: number; readonly ids?: z.ZodType<string> };

type Cells = { readonly [name: string]: Field };
type RowIntent<C extends Cells> = { readonly [K in keyof C]?: IntentOf<C[K]> };

export type RecordsIntent<C extends Cells> = {
  readonly add?: readonly RowIntent<C>[];
  readonly put?: { readonly [id: string]: RowIntent<C> };
  readonly patch?: { readonly [id: string]: RowIntent<C> };
  readonly drop?: readonly string[];
};

export type RowView<C extends Cells> = { readonly [K in keyof C]: ViewOf<C[K]> };

/** Rows of at least one cell. */
export function records<C extends Cells>(cells: C, options: RecordsOptions): Field<MapView<RowView<C>>, RecordsIntent<C>> {
  return fieldFrom(() => recordsOf(cells, options));
}

const OPTIONS = z.object({ cap: COUNT, ids: z.unknown().optional() });

function recordsOf(cells: Cells, options: RecordsOptions): FieldKind<RecordsCell, RecordsOp> {
  const [idType, row] = all(
    () => keyTypeOf(options?.ids, 'records: ids'),
    () => rowKind(cells),
    () => checkOptions('records', 'Use records({ done: counter() }, { cap: 64 }), with ids if needed.', OPTIONS, options),
  );
  const { cap } = options;
  const kind: FieldKind<RecordsCell, RecordsOp> = {
    name: 'records',
    grade: { letter: 'B', why: 'whether a change meets the row or its drop is decided by the log; cells keep their own grades' },
    bytesMax: 2 + cap * (idType.bytesMax + row.bytesMax + 2),
    verbs: VERBS,
    summary: `at most ${cap} rows of ${Object.keys(cells).join(', ')}`,
    parts: cells,
    empty: (born) => ({ live: emptyTrie(), graves: NO_GRAVES, mark: born, born, untidy: [] }),
    read,
    erases: (op) => [...op.put, ...op.patch].reduce((sum, [, r]) => sum + row.erases(r), op.drop.length),
    weigh: (op) =>
      [...op.add, ...op.put.map(([, r]) => r), ...op.patch.map(([, r]) => r)].reduce(
        (sum, r) => sum + Math.max(1, row.weigh(r)),
        op.drop.length,
      ),
    aims: (cell, op, path) =>
      [...op.drop.map((id): readonly [string, RowOp] => [id, []]), ...op.put, ...op.patch].flatMap(([id, rowOp]) =>
        row.aims(trieAt(cell.live, id), rowOp, `${path}/${escapeToken(id)}`),
      ),
    fold,
    withoutEcho: (cell, op) => {
      const patch = op.patch.flatMap(([id, rowOp]): RecordsOp['patch'] => {
        const existing = trieAt(cell.live, id);
        const kept = existing === undefined ? rowOp : row.withoutEcho(existing, rowOp);
        return kept === undefined ? [] : [[id, kept]];
      });
      const put = op.put.map(([id, rowOp]): readonly [string, RowOp] => {
        const existing = trieAt(cell.live, id);
        return [id, (existing === undefined ? rowOp : row.withoutEcho(existing, rowOp)) ?? []];
      });
      const kept = { ...op, put: put.filter(([id, r]) => r.length > 0 || trieAt(cell.live, id) === undefined), patch };
      return kept.add.length + kept.put.length + kept.patch.length + kept.drop.length === 0 ? undefined : kept;
    },
    write: (op) => ({
      ...(op.add.length === 0 ? {} : { add: op.add.map((r) => row.write(r)) }),
      ...(op.put.length === 0 ? {} : { put: Object.fromEntries(op.put.map(([id, r]) => [id, row.write(r)])) }),
      ...(op.patch.length === 0 ? {} : { patch: Object.fromEntries(op.patch.map(([id, r]) => [id, row.write(r)])) }),
      ...(op.drop.length === 0 ? {} : { drop: op.drop }),
    }),
    ...(row.hasHolds
      ? {
          mayDrop: (cell, path, attempt) =>
            below(cell, path).every(([rowPath, existing]) => row.mayDrop(existing, rowPath, attempt)),
        }
      : {}),
    ...(row.hasSettle ? { settle: settleRows } : {}),
    ...(row.hasTimers
      ? { timers: (cell, path) => below(cell, path).flatMap(([rowPath, r]) => row.timers(r, rowPath)), expire }
      : {}),
    ...(row.hasRivals
      ? { contested: (cell, path) => below(cell, path).flatMap(([rowPath, r]) => row.contested(r, rowPath)) }
      : {}),
    newest: (cell) => cell.mark,
    child: (cell, id) => {
      const existing = trieAt(cell.live, id);
      return existing === undefined
        ? { kind: ABSENT, cell: graveOf(cell.graves, id) ?? cell.born }
        : { kind: row.walk, cell: existing };
    },
    view: (cell) => mapView(cell.live, row.view),
    json: (cell) => Object.fromEntries(trieSorted(cell.live).map(([id, r]) => [id, row.json(r)])),
    encode: (cell) =>
      `{"born":${encodeMark(cell.born)},"graves":${encodeGraves(cell.graves)},"live":{${trieSorted(cell.live)
        .map(([id, r]) => `${JSON.stringify(id)}:${row.encode(r)}`)
        .join()}},"mark":${encodeMark(cell.mark)}}`,
    decode: (stored) => {
      const cell = stored as JsonObject;
      let live = emptyTrie<Row>();
      for (const [id, value] of Object.entries(cell['live'] as JsonObject)) live = trieWith(live, id, row.decode(value));
      return {
        live,
        graves: decodeGraves(cell['graves']),
        mark: decodeMark(cell['mark']),
        born: decodeMark(cell['born']),
        untidy: [],
      };
    },
    digest: (cell, sha256) =>
      leafDigest(
        `["${trieDigest(cell.live, row.encode, sha256)}",${gravesDigest(cell.graves, sha256)},${encodeMark(cell.mark)},${encodeMark(cell.born)}]`,
        sha256,
      ),
    valueSchema: () => ({ type: 'object', additionalProperties: row.valueSchema(), maxProperties: cap }),
    assign,
    samples: () => {
      const [first, second] = samplesOfType(idType, 2) as readonly string[];
      if (first === undefined) return [];
      const [one = {}, ...others] = row.samples();
      const other = others.find((change) => Object.keys(change)[0] !== Object.keys(one)[0]) ?? others[0] ?? one;
      return [
        { put: { [first]: one } },
        { put: { [first]: other } },
        { patch: { [first]: others[0] ?? one } },
        ...(second === undefined ? [] : [{ put: { [second]: one } }]),
        { drop: [first] },
        { add: [one] },
      ];
    },
    modelSchema: () => {
      const change = row.modelSchema();
      const keyed: JsonSchema = {
        type: 'array',
        items: {
          type: 'object',
          properties: { key: idType.jsonSchema, change },
          required: ['key', 'change'],
          additionalProperties: false,
        },
      };
      return strictObject({
        add: { type: 'array', items: change },
        put: keyed,
        patch: keyed,
        drop: { type: 'array', items: idType.jsonSchema },
      });
    },
    fromModel: (answer) => {
      const given = keyedFromModel(answer, ['put', 'patch'], row.fromModel);
      if (!isJsonObject(given) || !Array.isArray(given['add'])) return given;
      return { ...given, add: (given['add'] as readonly Json[]).map(row.fromModel) };
    },
    declaration: () => ({ kind: 'records', cap, ids: idType.jsonSchema, cells: row.declaration() }),
  };
  return kind;

  function read(intent: Json, path: string, complain: Complain): RecordsOp | undefined {
    const verbs = readVerbs(intent, 'records', VERBS, path, complain);
    if (verbs === undefined) return undefined;
    const put = readRows(verbs['put'], 'put', path, complain);
    const patch = readRows(verbs['patch'], 'patch', path, complain);
    const drop = readList(idType, verbs['drop'], 'record id', `${path}/drop`, complain);
    const add = readAdd(verbs['add'], path, complain);
    if (put === undefined || patch === undefined || drop === undefined || add === undefined) return undefined;
    const dropped = drop as readonly string[];
    const ids = [...dropped, ...put.map(([id]) => id), ...patch.map(([id]) => id)];
    return isOnceEach(ids, 'records', path, complain) ? { add, put, patch, drop: dropped } : undefined;
  }

  function readRows(value: Json | undefined, verb: string, path: string, complain: Complain): RecordsOp['put'] | undefined {
    if (value === undefined) return [];
    if (!isJsonObject(value)) {
      complain(path, malformed('records', `${verb} takes an object: id to cells.`, value));
      return undefined;
    }
    const rows: (readonly [string, RowOp])[] = [];
    let isSound = true;
    for (const [id, change] of Object.entries(value)) {
      const rowPath = `${path}/${escapeToken(id)}`;
      const op = isOfType(idType, id, 'record id', rowPath, complain) ? row.read(change, rowPath, complain) : undefined;
      if (op === undefined) isSound = false;
      else rows.push([id, op]);
    }
    return isSound ? rows : undefined;
  }

  function readAdd(value: Json | undefined, path: string, complain: Complain): readonly RowOp[] | undefined {
    if (value === undefined) return [];
    if (!Array.isArray(value)) {
      complain(path, malformed('records', 'add takes a list of rows without ids.', value));
      return undefined;
    }
    const rows = (value as readonly Json[]).map((change, i) => row.read(change, `${path}/add/${i}`, complain));
    return rows.every((op) => op !== undefined) ? rows : undefined;
  }

  function fold(cell: RecordsCell, op: RecordsOp, path: string, attempt: Attempt): RecordsCell {
    let { live, graves, untidy } = cell;
    let isChanged = false;
    for (const id of op.drop) {
      const existing = trieAt(live, id);
      const rowPath = `${path}/${escapeToken(id)}`;
      if (existing === undefined) attempt.note(rowPath, { kind: 'unchanged' });
      else if (!attempt.sees(existing.birth)) attempt.refuse(rowPath, gone('records', existing.birth, attempt.agent));
      else if (!attempt.sawAll(existing.mark))
        attempt.refuse(rowPath, conflict('records', row.json(existing), null, existing.mark, attempt.agent));
      else if (row.restrictions.every((meta) => attempt.mayWrite(rowPath, meta)) && row.mayDrop(existing, rowPath, attempt)) {
        attempt.touch(rowPath);
        isChanged = true;
        live = trieWithout(live, id);
        graves = withGrave(graves, id, attempt.mark, attempt.horizon);
      }
    }
    const change = (id: string, existing: Row, rowOp: RowOp, rowPath: string): void => {
      const after = row.fold(existing, rowOp, rowPath, attempt);
      if (after === trieAt(live, id)) {
        if (rowOp.length === 0) attempt.note(rowPath, { kind: 'unchanged' });
        return;
      }
      attempt.touch(rowPath);
      if (after.mark !== trieAt(live, id)?.mark) isChanged = true;
      live = trieWith(live, id, after);
      if (row.hasSettle) untidy = [...untidy, id];
    };
    const begin = (id: string, rowOp: RowOp, rowPath: string): void => {
      change(id, row.born(attempt.mark, graveOf(graves, id) ?? cell.born), rowOp, rowPath);
      graves = withoutGrave(graves, id);
    };
    for (const [at, rowOp] of op.add.entries()) {
      const id = `${attempt.agent}-${attempt.mark.n}-${at}`;
      const fault = idType.fault(id);
      if (fault !== undefined)
        attempt.refuse(`${path}/add/${at}`, malformed('records', `The id that add would issue ${fault.message}; use put.`, id));
      else if (trieAt(live, id) !== undefined)
        attempt.refuse(`${path}/add/${at}`, conflict('records', id, id, trieAt(live, id)?.birth, attempt.agent));
      else begin(id, rowOp, `${path}/${escapeToken(id)}`);
      attempt.note(`${path}/add/${at}`, { kind: 'merged', id });
    }
    for (const [id, rowOp] of op.put) {
      const existing = trieAt(live, id);
      const grave = existing === undefined ? (graveOf(graves, id) ?? cell.born) : existing.past;
      const rowPath = `${path}/${escapeToken(id)}`;
      const isUnseen = existing === undefined || !attempt.sees(existing.birth);
      if (isUnseen && !attempt.sees(grave)) attempt.refuse(rowPath, gone('records', grave, attempt.agent));
      else if (existing === undefined) begin(id, rowOp, rowPath);
      else change(id, existing, rowOp, rowPath);
    }
    for (const [id, rowOp] of op.patch) {
      const existing = trieAt(live, id);
      const rowPath = `${path}/${escapeToken(id)}`;
      if (existing === undefined) attempt.refuse(rowPath, missing(graveOf(graves, id), attempt));
      else if (!attempt.sees(existing.birth)) attempt.refuse(rowPath, gone('records', existing.birth, attempt.agent));
      else change(id, existing, rowOp, rowPath);
    }
    if (live.size > cap && live.size > cell.live.size) {
      attempt.refuse(path, outOfBounds('records', cell.live.size, live.size, `At most ${cap} rows; drop some first.`));
      return cell;
    }
    return live === cell.live && graves === cell.graves
      ? cell
      : { live, graves, mark: isChanged ? affirmed(cell.mark, attempt.mark) : cell.mark, born: cell.born, untidy };
  }

  function below(cell: RecordsCell, path: string): readonly (readonly [string, Row])[] {
    return trieSorted(cell.live).map(([id, r]) => [`${path}/${escapeToken(id)}`, r]);
  }

  function expire(cell: RecordsCell, [id = '', ...rest]: readonly string[], expiry: Expiry): RecordsCell {
    const before = trieAt(cell.live, id);
    const after = before === undefined ? before : row.expire(before, rest, expiry);
    if (after === undefined || after === before) return cell;
    return { ...cell, live: trieWith(cell.live, id, after), mark: affirmed(cell.mark, expiry.mark) };
  }

  function assign(cell: RecordsCell, change: Change, path: string, complain: Complain): Json | undefined {
    const changes = keyedChanges(change, trieSorted(cell.live), 'records', path, complain);
    const put: [string, Json][] = [];
    const drop: string[] = [];
    for (const [id, one] of changes ?? []) {
      const before = trieAt(cell.live, id);
      if (one.kind === 'remove') {
        if (before !== undefined) drop.push(id);
        continue;
      }
      const blank = before ?? row.born({ agent: '', n: 0, revision: 0 }, undefined);
      const intent = row.assign(blank, one, `${path}/${escapeToken(id)}`, complain);
      if (intent !== undefined || before === undefined) put.push([id, intent ?? {}]);
    }
    if (put.length + drop.length === 0) return undefined;
    return { ...(put.length === 0 ? {} : { put: Object.fromEntries(put) }), ...(drop.length === 0 ? {} : { drop }) };
  }

  function settleRows(cell: RecordsCell, path: string, settling: Settling): RecordsCell {
    if (cell.untidy.length === 0) return cell;
    let live = cell.live;
    for (const id of cell.untidy) {
      const existing = trieAt(live, id);
      if (existing !== undefined) live = trieWith(live, id, row.settle(existing, `${path}/${escapeToken(id)}`, settling));
    }
    return { ...cell, live, untidy: [] };
  }
}

/** A row that is not there: dropped since the view, or not in it either. */
function missing(grave: Mark | undefined, attempt: Attempt): Refusal {
  return attempt.sees(grave) ? absent('records') : gone('records', grave, attempt.agent);
}

/** The place of a row that is not there, for premises: its newest change is its drop. */
const ABSENT: Traversable<Mark | undefined> = { newest: (mark) => mark };

/** `born` and `untidy` as in a map's cell. */
type RecordsCell = {
  readonly live: Trie<Row>;
  readonly graves: Graves;
  readonly mark: Mark | undefined;
  readonly born: Mark | undefined;
  readonly untidy: readonly string[];
};
type RecordsOp = {
  readonly add: readonly RowOp[];
  readonly put: readonly (readonly [string, RowOp])[];
  readonly patch: readonly (readonly [string, RowOp])[];
  readonly drop: readonly string[];
};

const VERBS = ['add', 'put', 'patch', 'drop'];
