import * as automerge from '@automerge/automerge';
import { canonical } from '@oplus/core';
import type { FieldKind, Json, JsonObject } from '@oplus/core';
import { runsOf } from '@oplus/core/testing';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { documentKind } from './document.ts';
import { causalHistories, patches, turnsOf } from './testing/causal-history.ts';
import type { CausalHistory, Turn } from './testing/causal-history.ts';
import { naiveDocument } from './testing/naive-document.ts';

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 1_200_000 });

/** A history costs some hundred times what one of core's kinds costs. */
const RUNS = Math.ceil(runsOf() / 16);
const BYTES = { bytesMax: 65_536 };

/** Never cut, and cut at the horizon before every merge. */
const whole: FieldKind = documentKind(automerge, () => ({ changesMax: 1_000, keep: 1_000, bytesMax: 1e9 }))(BYTES);
const cut: FieldKind = documentKind(automerge, () => ({ changesMax: 0, keep: 1_000, bytesMax: 1e9 }))(BYTES);

function folded(
  kind: FieldKind,
  history: CausalHistory,
  turns: readonly Turn[],
  start: unknown = kind.empty(undefined),
): unknown {
  return turns.reduce((cell, turn) => fold(kind, history, cell, turn), start);
}

function fold(kind: FieldKind, history: CausalHistory, cell: unknown, { index, attempt, told }: Turn): unknown {
  const op = kind.read({ merge: history[index]?.patch as JsonObject }, '/f', () => undefined);
  if (op === undefined) throw new Error('a generated patch was not read');
  const after = kind.fold(cell, op, '/f', attempt);
  if (told.refusals.length > 0) throw new Error(canonical(told.refusals as unknown as Json));
  return after;
}

describe('document', () => {
  test('[DOC6][DOC18] any order and any cut gives what the naive model gives', () => {
    fc.assert(
      fc.property(causalHistories(12), fc.nat(0xffff), (history, seed) => {
        const model = canonical(naiveDocument(history).json);
        for (const way of [seed, seed + 1, seed + 2]) {
          const json = canonical(whole.json(folded(whole, history, turnsOf(history, way))));
          if (json !== model) throw new Error(`${json}\nmodel\n${model}`);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('[DOC9] a history cut at every step gives what the whole one gives', () => {
    fc.assert(
      fc.property(causalHistories(12), fc.nat(0xffff), (history, seed) => {
        let [short, long] = [cut.empty(undefined), whole.empty(undefined)];
        for (const turn of turnsOf(history, seed)) {
          short = fold(cut, history, short, turn);
          long = fold(whole, history, long, turn);
          const [json, expected] = [canonical(cut.json(short)), canonical(whole.json(long))];
          if (json !== expected) throw new Error(`${json}\nwhole\n${expected}\n${cut.encode(short)}`);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('[DOC10] two runs, and a run that goes on from a snapshot, give the same text', () => {
    fc.assert(
      fc.property(causalHistories(10), fc.nat(0xffff), fc.nat(9), fc.boolean(), (history, seed, at, isCut) => {
        const kind = isCut ? cut : whole;
        const turns = turnsOf(history, seed);
        const text = kind.encode(folded(kind, history, turns));
        const half = folded(kind, history, turns.slice(0, at));
        const stored = JSON.parse(kind.encode(half)) as Json;
        expect(canonical(stored)).toBe(kind.encode(half));
        const read = kind.decode(stored);
        expect(kind.encode(read)).toBe(kind.encode(half));
        expect(canonical(kind.json(read))).toBe(canonical(kind.json(half)));
        expect(kind.encode(folded(kind, history, turns.slice(at), read))).toBe(text);
        expect(kind.encode(folded(kind, history, turns))).toBe(text);
      }),
      { numRuns: RUNS },
    );
  });

  test('[DOC11] a fold leaves every cell as it was, and from an old one gives the same again', () => {
    fc.assert(
      fc.property(causalHistories(10), fc.nat(0xffff), (history, seed) => {
        const turns = turnsOf(history, seed);
        const cells = turns.reduce<readonly unknown[]>(
          (made, turn) => [...made, fold(cut, history, made.at(-1), turn)],
          [cut.empty(undefined)],
        );
        const texts = cells.map((cell) => [cut.encode(cell), canonical(cut.json(cell))]);
        for (const [at, turn] of [...turns.entries()].toReversed()) {
          expect(cut.encode(fold(cut, history, cells[at], turn))).toBe(texts[at + 1]?.[0]);
        }
        expect(cells.map((cell) => [cut.encode(cell), canonical(cut.json(cell))])).toEqual(texts);
      }),
      { numRuns: RUNS },
    );
  });

  test('[DOC12] whatever is asked is read or refused with a path', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.boolean(), (value, isMerge) => {
        const issues: string[] = [];
        const op = whole.read((isMerge ? { merge: value } : value) as Json, '/f', (path) => issues.push(path));
        expect(op === undefined).toBe(issues.length > 0);
        if (op === undefined) expect(issues[0]).toMatch(/^\/f/);
        else expect(whole.read(whole.write(op), '/f', () => undefined)).toEqual(op);
      }),
      { numRuns: RUNS },
    );
  });

  test('[DOC1] on its own view a merge gives what RFC 7396 gives', () => {
    fc.assert(
      fc.property(fc.array(patches(), { minLength: 1, maxLength: 6 }), (list) => {
        const team = list.map((patch, i) => {
          const seen = new Set(list.slice(0, i).keys());
          return { agent: 'ada', n: i + 1, viewed: seen, past: seen, stamp: stampAt(i), patch };
        });
        const json = whole.json(folded(whole, team, turnsOf(team, 1)));
        const expected = list.reduce<Json>((target, patch) => mergePatch(target, patch), {});
        expect(canonical(json)).toBe(canonical({ value: expected, contested: {} }));
      }),
      { numRuns: RUNS },
    );
  });
});

/** The pseudocode of RFC 7396, section 2. */
function mergePatch(target: Json, patch: Json): Json {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result: { [key: string]: Json } = isObject ? { ...(target as JsonObject) } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = mergePatch(result[name] ?? null, value);
  }
  return result;
}

function stampAt(i: number): CausalHistory[number]['stamp'] {
  return { depth: i + 1, priority: 0, spin: 0, agent: 'ada', n: i + 1 };
}
