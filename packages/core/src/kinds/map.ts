/**
 * `map`: keys that agents choose, each holding a cell of one declared kind.
 *
 * Different keys never conflict; concurrent creation of one key merges by the child's own rule, because the child's
 * identity is the key. A drop deletes only what it saw: a child changed since stays, and the dropper is told. A dropped key
 * starts again from empty, and a write that did not see the drop meets its mark, so it cannot pass for a first write; so
 * do the keys of a collection that stood below a dropped key. SPEC: MAP1-MAP9.
 */
import { z } from 'zod';
import { keyedChanges } from '../change.ts';
import type { Change } from '../change.ts';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { affirmed, blockerOf, decodeMark, encodeMark, summed } from '../dot.ts';
import { all, fieldFrom, placedAt, soundKind } from '../fault.ts';
import { aimsOf, declared, restrictionsOf } from '../field-kind.ts';
import type { Aim, Attempt, Complain, Settling, Expiry, Field, FieldKind, IntentOf, ViewOf } from '../field-kind.ts';
import { checkOptions, COUNT, keyTypeOf } from '../field-options.ts';
import { isOfType, isOnceEach, readList, readVerbs, strictObject, withoutNulls } from '../intent.ts';
import type { Json, JsonObject, Sha256 } from '../json.ts';
import { escapeToken, isJsonObject } from '../json.ts';
import { gone, malformed, outOfBounds, superseded } from '../refusal.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieDigest, trieSorted, trieWith, trieWithout } from '../trie.ts';
import { samplesOfType } from '../value-samples.ts';
import type { MapView } from './collection-view.ts';
import { mapView } from './collection-view.ts';
import type { Graves } from './graves.ts';
import {
  decodeGraves,
  decodeMarks,
  encodeGraves,
  encodeMarks,
  graveOf,
  gravesDigest,
  NO_GRAVES,
  withGrave,
  withoutGrave,
} from './graves.ts';

/** `cap` is the largest number of keys. `keys` is the type of a key; 64 characters when left out. */
export type MapOptions = { readonly cap: number; readonly keys?: z.ZodType<string> };

export type MapIntent<I> = { readonly at?: { readonly [key: string]: I }; readonly drop?: readonly string[] };

export function map<F extends Field>(of: F, options: MapOptions): Field<MapView<ViewOf<F>>, MapIntent<IntentOf<F>>> {
  return fieldFrom(() => mapOf(of, options));
}

const OPTIONS = z.object({ cap: COUNT, keys: z.unknown().optional() });

function mapOf(of: Field, options: MapOptions): FieldKind<MapCell, MapOp> {
  const [keyType, child] = all(
    () => keyTypeOf(options?.keys, 'map: keys'),
    () => placedAt('/*', () => soundKind(of)),
    () => checkOptions('map', 'Use map(counter(), { cap: 64 }), with keys if needed.', OPTIONS, options),
  );
  const { cap } = options;
  const restrictions = restrictionsOf(child);
  const encodeChild = (cell: unknown): string => child.encode(cell);
  const kind: FieldKind<MapCell, MapOp> = {
    name: 'map',
    grade: {
      letter: 'B',
      why: `keys merge as their child does (${child.grade.letter}: ${child.grade.why}); what meets a drop or the cap is decided by the log`,
    },
    bytesMax: 2 + cap * (keyType.bytesMax + child.bytesMax + 2),
    verbs: VERBS,
    summary: `at most ${cap} keys, each: ${child.summary}`,
    parts: { '*': child },
    empty: (born) => ({ live: emptyTrie(), graves: NO_GRAVES, pasts: emptyTrie(), mark: born, born, untidy: [] }),
    read,
    erases: (op) => op.drop.length + op.at.reduce((sum, [, childOp]) => sum + child.erases(childOp), 0),
    weigh: (op) => op.drop.length + op.at.reduce((sum, [, childOp]) => sum + child.weigh(childOp), 0),
    aims: (cell, op, path) => [
      ...op.drop.map((key): Aim => {
        const existing = trieAt(cell.live, key);
        return [`${path}/${escapeToken(key)}`, existing === undefined ? existing : child.json(existing)];
      }),
      ...op.at.flatMap(([key, childOp]): readonly Aim[] => {
        const existing = trieAt(cell.live, key);
        const keyPath = `${path}/${escapeToken(key)}`;
        return existing === undefined ? [[keyPath, undefined]] : aimsOf(child, existing, childOp, keyPath);
      }),
    ],
    fold,
    withoutEcho: (cell, op) => {
      const at = op.at.flatMap(([key, childOp]): MapOp['at'] => {
        const existing = trieAt(cell.live, key);
        const kept = existing === undefined ? childOp : child.withoutEcho(existing, childOp);
        return kept === undefined ? [] : [[key, kept]];
      });
      return at.length + op.drop.length === 0 ? undefined : { at, drop: op.drop };
    },
    write: (op) => ({
      ...(op.at.length === 0 ? {} : { at: Object.fromEntries(op.at.map(([key, childOp]) => [key, child.write(childOp)])) }),
      ...(op.drop.length === 0 ? {} : { drop: op.drop }),
    }),
    ...(child.mayDrop === undefined
      ? {}
      : {
          mayDrop: (cell, path, attempt) =>
            below(cell, path).every(([keyPath, childCell]) => child.mayDrop?.(childCell, keyPath, attempt) !== false),
        }),
    ...(child.settle === undefined ? {} : { settle: settleChildren }),
    ...(child.timers === undefined
      ? {}
      : {
          timers: (cell, path) => below(cell, path).flatMap(([keyPath, childCell]) => child.timers?.(childCell, keyPath) ?? []),
        }),
    ...(child.expire === undefined ? {} : { expire }),
    ...(child.contested === undefined
      ? {}
      : {
          contested: (cell, path) =>
            below(cell, path).flatMap(([keyPath, childCell]) => child.contested?.(childCell, keyPath) ?? []),
        }),
    newest: (cell) => cell.mark,
    child: (cell, key) => ({ kind: child, cell: trieAt(cell.live, key) ?? child.empty(graveOf(cell.graves, key) ?? cell.born) }),
    view: (cell) => mapView(cell.live, (childCell) => child.view(childCell)),
    json: (cell) => Object.fromEntries(trieSorted(cell.live).map(([key, childCell]) => [key, child.json(childCell)])),
    encode: (cell) => {
      const live = trieSorted(cell.live).map(([key, childCell]) => `${JSON.stringify(key)}:${child.encode(childCell)}`);
      return `{"born":${encodeMark(cell.born)},"graves":${encodeGraves(cell.graves)},"live":{${live.join()}},"mark":${encodeMark(cell.mark)},"pasts":${encodeMarks(cell.pasts)}}`;
    },
    decode: (stored) => {
      const cell = stored as JsonObject;
      let live = emptyTrie<unknown>();
      for (const [key, value] of Object.entries(cell['live'] as JsonObject)) live = trieWith(live, key, child.decode(value));
      return {
        live,
        graves: decodeGraves(cell['graves']),
        pasts: decodeMarks(cell['pasts']),
        mark: decodeMark(cell['mark']),
        born: decodeMark(cell['born']),
        untidy: [],
      };
    },
    digest: (cell, sha256: Sha256) =>
      leafDigest(
        `["${trieDigest(cell.live, encodeChild, sha256)}",${gravesDigest(cell.graves, sha256)},${pastsDigest(cell.pasts, sha256)}${encodeMark(cell.mark)},${encodeMark(cell.born)}]`,
        sha256,
      ),
    valueSchema: () => ({ type: 'object', additionalProperties: child.valueSchema(), maxProperties: cap }),
    assign,
    samples: () => {
      const [first, second] = samplesOfType(keyType, 2) as readonly string[];
      if (first === undefined) return [];
      const [one, other] = child.samples();
      if (one === undefined) return [];
      return [
        { at: { [first]: one } },
        { at: { [first]: other ?? one } },
        ...(second === undefined ? [] : [{ at: { [second]: one } }]),
        { drop: [first] },
      ];
    },
    modelSchema: () =>
      strictObject({
        at: {
          type: 'array',
          items: {
            type: 'object',
            properties: { key: keyType.jsonSchema, change: child.modelSchema() },
            required: ['key', 'change'],
            additionalProperties: false,
          },
        },
        drop: { type: 'array', items: keyType.jsonSchema },
      }),
    fromModel: (answer) => keyedFromModel(answer, ['at'], (change) => child.fromModel(change)),
    declaration: () => ({ kind: 'map', cap, keys: keyType.jsonSchema, of: declared(child) }),
  };
  return kind;

  function read(intent: Json, path: string, complain: Complain): MapOp | undefined {
    const verbs = readVerbs(intent, 'map', VERBS, path, complain);
    if (verbs === undefined) return undefined;
    const drop = readList(keyType, verbs['drop'], 'map key', `${path}/drop`, complain);
    const changes = verbs['at'] ?? {};
    if (!isJsonObject(changes)) {
      complain(path, malformed('map', 'at takes an object: key to change.', changes));
      return undefined;
    }
    const at: (readonly [string, unknown])[] = [];
    let isSound = drop !== undefined;
    for (const key of Object.keys(changes)) {
      const childPath = `${path}/${escapeToken(key)}`;
      const op = isOfType(keyType, key, 'map key', childPath, complain)
        ? child.read(changes[key] as Json, childPath, complain)
        : undefined;
      if (op === undefined) isSound = false;
      else at.push([key, op]);
    }
    if (!isSound || drop === undefined) return undefined;
    const dropped = drop as readonly string[];
    const isOnce = dropped.length === 0 || isOnceEach([...dropped, ...Object.keys(changes)], 'map', path, complain);
    return isOnce ? { at, drop: dropped } : undefined;
  }

  function fold(cell: MapCell, op: MapOp, path: string, attempt: Attempt): MapCell {
    let { live, graves, pasts, untidy } = cell;
    let isChanged = false;
    for (const key of op.drop) {
      const childCell = trieAt(live, key);
      const keyPath = `${path}/${escapeToken(key)}`;
      if (childCell === undefined) attempt.note(keyPath, { kind: 'unchanged' });
      else if (!restrictions.every((meta) => attempt.mayWrite(keyPath, meta))) continue;
      else if (attempt.sawAll(child.newest(childCell))) {
        if (child.mayDrop?.(childCell, keyPath, attempt) === false) continue;
        attempt.touch(keyPath);
        isChanged = true;
        live = trieWithout(live, key);
        pasts = trieWithout(pasts, key);
        graves = withGrave(graves, key, attempt.mark, attempt.horizon);
      } else {
        attempt.note(keyPath, superseded(blockerOf(child.newest(childCell), attempt.agent) ?? '', child.json(childCell)));
      }
    }
    for (const [key, childOp] of op.at) {
      const keyPath = `${path}/${escapeToken(key)}`;
      if (!attempt.mayWrite(keyPath, child.meta)) continue;
      const before = trieAt(live, key);
      const past = before === undefined ? (graveOf(graves, key) ?? cell.born) : trieAt(pasts, key);
      if (!attempt.sees(past)) {
        attempt.refuse(keyPath, gone('map', past, attempt.agent));
        continue;
      }
      const start = before ?? child.empty(past);
      let after = child.fold(start, childOp, keyPath, attempt);
      // A write that leaves an absent key at its start value makes the key, unless there is nothing in it to see.
      if (before === undefined && after === start && !isBlank(child.json(start))) after = child.empty(summed(past, attempt.mark));
      if (after === start) continue;
      attempt.touch(keyPath);
      if (child.newest(after) !== child.newest(start)) isChanged = true;
      live = trieWith(live, key, after);
      if (child.settle !== undefined) untidy = [...untidy, key];
      if (before === undefined) graves = withoutGrave(graves, key);
      if (past !== undefined) pasts = past.revision > attempt.horizon ? trieWith(pasts, key, past) : trieWithout(pasts, key);
    }
    if (live.size > cap && live.size > cell.live.size) {
      attempt.refuse(path, outOfBounds('map', cell.live.size, live.size, `At most ${cap} keys; drop some first.`));
      return cell;
    }
    return live === cell.live && graves === cell.graves
      ? cell
      : { live, graves, pasts, mark: isChanged ? affirmed(cell.mark, attempt.mark) : cell.mark, born: cell.born, untidy };
  }

  function below(cell: MapCell, path: string): readonly (readonly [string, unknown])[] {
    return trieSorted(cell.live).map(([key, childCell]) => [`${path}/${escapeToken(key)}`, childCell]);
  }

  function expire(cell: MapCell, [key = '', ...rest]: readonly string[], expiry: Expiry): MapCell {
    const before = trieAt(cell.live, key);
    const after = before === undefined ? before : child.expire?.(before, rest, expiry);
    if (after === before) return cell;
    return { ...cell, live: trieWith(cell.live, key, after), mark: affirmed(cell.mark, expiry.mark) };
  }

  function assign(cell: MapCell, change: Change, path: string, complain: Complain): Json | undefined {
    const changes = keyedChanges(change, trieSorted(cell.live), 'map', path, complain);
    const at: [string, Json][] = [];
    const drop: string[] = [];
    for (const [key, one] of changes ?? []) {
      const before = trieAt(cell.live, key);
      if (one.kind === 'remove') {
        if (before !== undefined) drop.push(key);
        continue;
      }
      const keyPath = `${path}/${escapeToken(key)}`;
      const start = before ?? child.empty(undefined);
      let isTold = false;
      const intent = child.assign(start, one, keyPath, (place, refusal) => {
        isTold = true;
        complain(place, refusal);
      });
      if (intent !== undefined) at.push([key, intent]);
      else if (before === undefined && !isTold && !isBlank(child.json(start))) complain(keyPath, malformed('map', unmade(child)));
    }
    if (at.length + drop.length === 0) return undefined;
    return { ...(at.length === 0 ? {} : { at: Object.fromEntries(at) }), ...(drop.length === 0 ? {} : { drop }) };
  }

  function settleChildren(cell: MapCell, path: string, settling: Settling): MapCell {
    if (cell.untidy.length === 0) return cell;
    let live = cell.live;
    for (const key of cell.untidy) {
      const childCell = trieAt(live, key);
      if (childCell !== undefined) live = trieWith(live, key, child.settle?.(childCell, `${path}/${escapeToken(key)}`, settling));
    }
    return { ...cell, live, untidy: [] };
  }
}

/** Turns `[{key, change}]` under these verbs into `{key: change}`, and drops nulls. */
export function keyedFromModel(answer: Json, verbs: readonly string[], changeOf: (change: Json) => Json): Json {
  const given = withoutNulls(answer);
  if (!isJsonObject(given)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([verb, value]) => {
      if (!verbs.includes(verb) || !Array.isArray(value)) return [verb, value];
      const items = value as readonly Json[];
      return [
        verb,
        Object.fromEntries(items.filter(isKeyed).map((item) => [item['key'] as string, changeOf(item['change'] as Json)])),
      ];
    }),
  );
}

/**
 * `pasts` holds, of keys that were dropped and made anew, that drop, while bases may predate it. `born` is the mark of what made the map empty: the drop of a key above it. `untidy` names the children folded since the
 * last seal that may need settling; it is empty in every sealed state.
 */
type MapCell = {
  readonly live: Trie<unknown>;
  readonly graves: Graves;
  readonly pasts: Trie<Mark>;
  readonly mark: Mark | undefined;
  readonly born: Mark | undefined;
  readonly untidy: readonly string[];
};
type MapOp = { readonly at: readonly (readonly [string, unknown])[]; readonly drop: readonly string[] };

const VERBS = ['at', 'drop'];

/** Most maps have none, and their digest is one hash cheaper. */
function pastsDigest(pasts: Trie<Mark>, sha256: Sha256): string {
  return pasts.size === 0 ? '' : `"${trieDigest(pasts, encodeMark, sha256)}",`;
}

/** No patch format without verbs can say that a key is made as it starts. */
function unmade({ verbs }: FieldKind): string {
  return `A key that is not there comes to be with a write, also one of the value that it starts with; use ${verbs.join(', ')}.`;
}

function isBlank(json: Json): boolean {
  return json === null || (typeof json === 'object' && Object.keys(json).length === 0);
}

function isKeyed(item: Json): item is JsonObject {
  return isJsonObject(item) && typeof item['key'] === 'string' && item['change'] !== undefined;
}
