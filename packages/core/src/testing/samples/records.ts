/**
 * What the tests know of `records`. A row is a naive cell whose children are its cells.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { records } from '../../kinds/records.ts';
import { IDS, keyed } from '../intents.ts';
import { newCell, tokenOf } from '../naive-cell.ts';
import type { NaiveCell, NaiveTrial } from '../naive-cell.ts';
import { emptyCell, placeOf } from '../sample-kind.ts';
import type { KindOf, Part, Place, SampleKind } from '../sample-kind.ts';
import type { FieldSpec } from '../spec.ts';

type RecordsSpec = { readonly kind: 'records'; readonly cells: { readonly [name: string]: FieldSpec }; readonly cap: number };

const COUNTER: FieldSpec = { kind: 'counter', start: 0 };
const LOG: FieldSpec = { kind: 'log', of: 'text', keep: 2, order: 'stamp' };
const TEXT: FieldSpec = { kind: 'text', charsMax: 12, start: 'abc' };

export function recordsSample(kindOf: KindOf): SampleKind<RecordsSpec> {
  return {
    kind: 'records',
    isCollection: true,
    simple: [
      {
        kind: 'records',
        cells: { n: { kind: 'counter', start: 0 }, x: { kind: 'cas', of: 'text' }, y: { kind: 'claim' } },
        cap: 3,
      },
      {
        kind: 'map',
        cap: 2,
        of: {
          kind: 'records',
          cap: 2,
          cells: {
            n: { kind: 'counter', start: 0 },
            x: { kind: 'log', of: 'text', keep: 2, order: 'commit' },
            y: { kind: 'lww', of: 'text' },
          },
        },
      },
    ],
    later: [
      { kind: 'records', cells: { n: COUNTER, x: { kind: 'set', of: 'text', cap: 3 }, y: LOG }, cap: 2 },
      { kind: 'records', cells: { n: COUNTER, x: { kind: 'multi', of: 'text', cap: 4 }, y: TEXT }, cap: 2 },
    ],
    random: (choice, depth, draw) => ({
      kind: 'records',
      cap: 2 + choice.upTo(2),
      cells: { n: { kind: 'counter', start: 0 }, x: draw(depth + 1), y: draw(2) },
    }),
    field: (spec) =>
      records(
        Object.fromEntries(Object.entries(spec.cells).map(([name, cell]) => [name, kindOf(cell).field(cell)])),
        spec,
      ) as Field,
    intent: (spec, choice) => {
      const row = (): JsonObject => {
        const name = choice.of(['x', 'n', 'y']);
        const cell = spec.cells[name] as FieldSpec;
        return { [name]: kindOf(cell).intent(cell, choice) };
      };
      switch (choice.upTo(6)) {
        case 0:
        case 1:
          return { put: keyed(IDS, row, choice) };
        case 2:
        case 3:
          return { patch: keyed(IDS, row, choice) };
        case 4:
          return { drop: [choice.of(IDS)] };
        default:
          return { add: choice.upTo(2) === 0 ? [row()] : [row(), row()] };
      }
    },
    fold,
    mayDrop: (trial, spec, cell) => Object.values(cell.children).every((row) => mayDropRow(trial, spec, row)),
    json: (spec, cell) =>
      Object.fromEntries(
        Object.entries(cell.children).map(([id, row]) => [
          id,
          Object.fromEntries(cellsOf(spec, row).map(([name, of, inner]) => [name, kindOf(of).json(of, inner)])),
        ]),
      ),
    settle: (spec, cell, path, evict) => {
      for (const [id, row] of Object.entries(cell.children))
        for (const [name, of, inner] of cellsOf(spec, row))
          kindOf(of).settle?.(of, inner, `${path}/${tokenOf(id)}/${name}`, evict);
    },
    expire: (spec, cell, [id = '', name = '', ...rest], expiry) => {
      const row = cell.children[id];
      const inner = row?.children[name];
      const of = spec.cells[name];
      if (row === undefined || inner === undefined || of === undefined) return false;
      if (kindOf(of).expire?.(of, inner, rest, expiry) !== true) return false;
      row.dots.push(expiry.dot);
      cell.dots.push(expiry.dot);
      return true;
    },
    child: (spec, cell, id) => {
      const row = cell.children[id];
      if (row === undefined) return { dots: cell.drops[id] ?? cell.born, below: () => undefined };
      return { dots: row.dots, below: (name) => cellPlace(spec, row, name) };
    },
    outside: (spec, json) => {
      const entries = Object.entries(json as JsonObject);
      if (entries.length > spec.cap) return `has ${entries.length} keys`;
      for (const [id, row] of entries) {
        for (const [name, value] of Object.entries(row as JsonObject)) {
          const of = spec.cells[name] as FieldSpec;
          const wrong = kindOf(of).outside(of, value);
          if (wrong !== undefined) return `/${id} ${wrong}`;
        }
      }
      return undefined;
    },
    parts: (spec, verbs, dot) => {
      const rows: (readonly [string, Json])[] = ((verbs['add'] ?? []) as readonly Json[]).map((row, at) => [
        `${dot.agent}-${dot.n}-${at}`,
        row,
      ]);
      for (const verb of ['put', 'patch']) rows.push(...Object.entries((verbs[verb] ?? {}) as JsonObject));
      return [
        ...((verbs['drop'] ?? []) as readonly string[]).map((id): Part => ({ tokens: [id], spec: 'drop', verbs: {} })),
        ...rows.flatMap(([id, row]) =>
          Object.entries(row as JsonObject).map(([name, change]): Part => ({
            tokens: [id, name],
            spec: spec.cells[name] as FieldSpec,
            verbs: change as JsonObject,
          })),
        ),
      ];
    },
  };

  function fold(trial: NaiveTrial, spec: RecordsSpec, cell: NaiveCell, verbs: JsonObject, path: string): void {
    const before = Object.keys(cell.children).length;
    for (const id of (verbs['drop'] ?? []) as readonly string[]) {
      const row = cell.children[id];
      if (row === undefined) trial.note(`${path}/${tokenOf(id)}`, 'unchanged');
      else if (!trial.sawAll(row.birth) || !trial.sawAll(row.dots)) trial.refuse();
      else if (!mayDropRow(trial, spec, row)) trial.refuse();
      else {
        delete cell.children[id];
        cell.drops[id] = [trial.dot];
        trial.change(cell);
      }
    }
    for (const [at, change] of ((verbs['add'] ?? []) as readonly JsonObject[]).entries()) {
      const id = `${trial.agent}-${trial.n}-${at}`;
      if (cell.children[id] !== undefined) trial.refuse();
      else begin(trial, spec, cell, [id, change], path);
      trial.note(`${path}/add/${at}`, 'merged');
    }
    for (const [id, change] of Object.entries((verbs['put'] ?? {}) as JsonObject)) {
      const row = cell.children[id];
      const past = row === undefined ? (cell.drops[id] ?? cell.born) : row.born;
      const isKnown = row !== undefined && trial.sawAll(row.birth);
      if (!isKnown && !trial.sawAll(past)) trial.refuse();
      else if (row === undefined) begin(trial, spec, cell, [id, change as JsonObject], path);
      else alter(trial, spec, cell, row, [id, change as JsonObject], path);
    }
    for (const [id, change] of Object.entries((verbs['patch'] ?? {}) as JsonObject)) {
      const row = cell.children[id];
      if (row === undefined || !trial.sawAll(row.birth)) trial.refuse();
      else alter(trial, spec, cell, row, [id, change as JsonObject], path);
    }
    const after = Object.keys(cell.children).length;
    if (after > spec.cap && after > before) trial.refuse();
  }

  function mayDropRow(trial: NaiveTrial, spec: RecordsSpec, row: NaiveCell): boolean {
    return cellsOf(spec, row).every(([, of, inner]) => kindOf(of).mayDrop?.(trial, of, inner) !== false);
  }

  function begin(
    trial: NaiveTrial,
    spec: RecordsSpec,
    cell: NaiveCell,
    [id, change]: readonly [string, JsonObject],
    path: string,
  ): void {
    const row: NaiveCell = newCell(undefined, undefined, []);
    row.birth = [trial.dot];
    row.born = cell.drops[id] ?? cell.born;
    row.dots = [trial.dot];
    for (const [name, of] of Object.entries(spec.cells)) row.children[name] = emptyCell(kindOf(of), of, []);
    cell.children[id] = row;
    delete cell.drops[id];
    trial.change(cell);
    alter(trial, spec, cell, row, [id, change], path);
  }

  function alter(
    trial: NaiveTrial,
    spec: RecordsSpec,
    cell: NaiveCell,
    row: NaiveCell,
    [id, change]: readonly [string, JsonObject],
    path: string,
  ): void {
    for (const [name, intent] of Object.entries(change)) {
      const inner = row.children[name] as NaiveCell;
      const of = spec.cells[name] as FieldSpec;
      const count = inner.dots.length;
      kindOf(of).fold(trial, of, inner, intent as JsonObject, `${path}/${tokenOf(id)}/${name}`);
      if (inner.dots.length === count) continue;
      trial.change(row);
      trial.change(cell);
    }
  }

  function cellPlace(spec: RecordsSpec, row: NaiveCell, name: string): Place | undefined {
    const inner = row.children[name];
    const of = spec.cells[name];
    if (inner === undefined || of === undefined) return undefined;
    return placeOf(kindOf(of), of, inner, inner.dots.length === 0 ? row.birth : inner.dots);
  }
}

function cellsOf(spec: RecordsSpec, row: NaiveCell): readonly (readonly [string, FieldSpec, NaiveCell])[] {
  return Object.entries(row.children).map(([name, inner]) => [name, spec.cells[name] as FieldSpec, inner]);
}
