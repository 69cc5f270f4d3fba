/**
 * What the tests know of `map`.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { map } from '../../kinds/map.ts';
import { KEYS, keyed } from '../intents.ts';
import { tokenOf } from '../naive-cell.ts';
import { emptyCell, placeOf } from '../sample-kind.ts';
import type { KindOf, SampleKind } from '../sample-kind.ts';
import type { FieldSpec } from '../spec.ts';

type MapSpec = { readonly kind: 'map'; readonly of: FieldSpec; readonly cap: number };

const COUNTER: FieldSpec = { kind: 'counter', start: 0 };
const LEASED: FieldSpec = { kind: 'claim', leaseMs: 100 };

export function mapSample(kindOf: KindOf): SampleKind<MapSpec> {
  return {
    kind: 'map',
    isCollection: true,
    simple: [
      { kind: 'map', of: { kind: 'counter', start: 0 }, cap: 3 },
      { kind: 'map', of: { kind: 'map', of: { kind: 'cas', of: 'text' }, cap: 2 }, cap: 2 },
    ],
    later: [
      { kind: 'map', of: { kind: 'records', cells: { n: COUNTER, x: COUNTER, y: { kind: 'claim' } }, cap: 2 }, cap: 2 },
      {
        kind: 'map',
        of: { kind: 'map', of: { kind: 'records', cells: { n: COUNTER, x: { kind: 'claim' }, y: LEASED }, cap: 2 }, cap: 2 },
        cap: 2,
      },
    ],
    random: (choice, depth, draw) => ({ kind: 'map', of: draw(depth + 1), cap: 2 + choice.upTo(2) }),
    field: (spec) => map(kindOf(spec.of).field(spec.of), spec) as Field,
    intent: (spec, choice) =>
      choice.upTo(4) === 3
        ? { drop: [choice.of(KEYS)] }
        : { at: keyed(KEYS, () => kindOf(spec.of).intent(spec.of, choice), choice) },
    fold: (trial, spec, cell, verbs, path) => {
      const of = kindOf(spec.of);
      const before = Object.keys(cell.children).length;
      let isChanged = false;
      for (const key of (verbs['drop'] ?? []) as readonly string[]) {
        const child = cell.children[key];
        if (child === undefined) trial.note(`${path}/${tokenOf(key)}`, 'unchanged');
        else if (!trial.sawAll(child.dots)) trial.note(`${path}/${tokenOf(key)}`, 'superseded');
        else if (of.mayDrop?.(trial, spec.of, child) === false) trial.refuse();
        else {
          delete cell.children[key];
          cell.drops[key] = [trial.dot];
          isChanged = true;
        }
      }
      for (const [key, intent] of Object.entries((verbs['at'] ?? {}) as JsonObject)) {
        const known = cell.children[key];
        const dropped = known === undefined ? (cell.drops[key] ?? cell.born) : known.born;
        if (!trial.sawAll(dropped)) {
          trial.refuse();
          continue;
        }
        const child = known ?? emptyCell(of, spec.of, dropped);
        const count = child.dots.length;
        of.fold(trial, spec.of, child, intent as JsonObject, `${path}/${tokenOf(key)}`);
        if (child.dots.length === count) {
          // Nothing changed; but a write at an absent key makes it, when there is something to see at its start.
          if (known !== undefined || isBlank(of.json(spec.of, child))) continue;
          child.dots.push(trial.dot);
          child.writer = trial.dot;
        }
        cell.children[key] = child;
        delete cell.drops[key];
        isChanged = true;
      }
      const after = Object.keys(cell.children).length;
      if (after > spec.cap && after > before) return trial.refuse();
      if (isChanged) trial.change(cell);
    },
    mayDrop: (trial, spec, cell) =>
      Object.values(cell.children).every((child) => kindOf(spec.of).mayDrop?.(trial, spec.of, child) !== false),
    json: (spec, cell) =>
      Object.fromEntries(Object.entries(cell.children).map(([key, child]) => [key, kindOf(spec.of).json(spec.of, child)])),
    settle: (spec, cell, path, evict) => {
      for (const [key, child] of Object.entries(cell.children))
        kindOf(spec.of).settle?.(spec.of, child, `${path}/${tokenOf(key)}`, evict);
    },
    expire: (spec, cell, [key = '', ...rest], expiry) => {
      const child = cell.children[key];
      if (child === undefined || kindOf(spec.of).expire?.(spec.of, child, rest, expiry) !== true) return false;
      cell.dots.push(expiry.dot);
      return true;
    },
    child: (spec, cell, token) => {
      const of = kindOf(spec.of);
      return placeOf(of, spec.of, cell.children[token] ?? emptyCell(of, spec.of, cell.drops[token] ?? cell.born));
    },
    outside: (spec, json) => {
      const entries = Object.entries(json as JsonObject);
      if (entries.length > spec.cap) return `has ${entries.length} keys`;
      for (const [key, value] of entries) {
        const wrong = kindOf(spec.of).outside(spec.of, value);
        if (wrong !== undefined) return `/${key} ${wrong}`;
      }
      return undefined;
    },
    parts: (spec, verbs) => [
      ...((verbs['drop'] ?? []) as readonly string[]).map((key) => ({ tokens: [key], spec: 'drop' as const, verbs: {} })),
      ...Object.entries((verbs['at'] ?? {}) as JsonObject).map(([key, change]) => ({
        tokens: [key],
        spec: spec.of,
        verbs: change as JsonObject,
      })),
    ],
  };
}

function isBlank(json: Json): boolean {
  return json === null || (typeof json === 'object' && Object.keys(json).length === 0);
}
