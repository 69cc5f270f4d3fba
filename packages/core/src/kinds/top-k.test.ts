import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Attempt, Field } from '../field-kind.ts';
import type { Json } from '../json.ts';
import type { Rule } from '../state-schema.ts';
import { codesOf, loading, outcomesOf, QUIET_SETTLING, sha256, smallTeam } from '../testing/index.ts';
import { map } from './map.ts';
import { topK } from './top-k.ts';

const idea = z.strictObject({ score: z.int().min(-9).max(99), text: z.string().max(10) });
const ideas = topK(idea, { k: 2, by: 'score' });
const of = (score: number, text = 'x'): { score: number; text: string } => ({ score, text });

describe('top-k', () => {
  test('[TOP1] the values of greatest rank stand, greatest first; equal ranks by their text', () => {
    const team = smallTeam({ fields: { t: topK(idea, { k: 4, by: 'score' }) } });
    team.ask('a', { t: { add: [of(2), of(-1), of(10), of(-2)] } });
    expect(team.state).toEqual({ t: [of(10), of(2), of(-1), of(-2)] });
    team.round({ agent: 'a', patch: { t: { add: [of(2, 'a')] } } }, { agent: 'b', patch: { t: { add: [of(2, 'z')] } } });
    expect(team.state).toEqual({ t: [of(10), of(2, 'z'), of(2), of(2, 'a')] });
    expect(team.schema.kinds[0]?.view(team.space.cells[0])).toEqual(team.state['t']);
  });

  test('[TOP2] equal values agree: each stands once', () => {
    const team = smallTeam({ fields: { t: ideas } });
    team.ask('a', { t: { add: [of(1)] } });
    expect(outcomesOf(team.ask('b', { t: { add: [{ text: 'x', score: 1 }, of(2)] } }, 0))).toEqual({ '/t/add/0': 'unchanged' });
    expect(team.state).toEqual({ t: [of(2), of(1)] });
    expect(codesOf(team.ask('b', { t: { add: [of(3), of(3)] } }))).toEqual(['schema']);
    const op = { add: [of(1), of(3)], remove: [] };
    expect(ideas.withoutEcho(team.space.cells[0], op)).toEqual({ add: [of(3)], remove: [] });
    expect(ideas.withoutEcho(team.space.cells[0], { ...op, add: [of(2)] })).toBeUndefined();
  });

  test('[TOP3] whose value is not among them after the seal is told, got it in or not', () => {
    const team = smallTeam({ fields: { t: ideas } });
    team.ask('a', { t: { add: [of(5), of(6)] } });
    expect(outcomesOf(team.ask('b', { t: { add: [of(4), of(7)] } }))).toEqual({ '/t/add/0': 'evicted' });
    const told = team.round(
      { agent: 'a', patch: { t: { add: [of(8)] } } },
      { agent: 'b', patch: { t: { add: [of(9)] } } },
      { agent: 'c', patch: { t: { add: [of(7), of(10)] } } },
    );
    expect(told.map(outcomesOf)).toEqual([{ '/t/add/0': 'evicted' }, {}, { '/t/add/0': 'evicted' }]);
    expect(team.state).toEqual({ t: [of(10), of(9)] });
  });

  test('[TOP3] it is told with the path of the key below which it stood', () => {
    const team = smallTeam({ fields: { m: map(ideas, { cap: 2 }) } });
    expect(outcomesOf(team.ask('a', { m: { at: { k: { add: [of(1), of(2), of(3)] } } } }))).toEqual({
      '/m/k/add/0': 'evicted',
    });
  });

  test('[TOP4] what does not come in is no change: who relies on the field need not look again', () => {
    const team = smallTeam({ fields: { t: ideas } });
    team.ask('a', { t: { add: [of(5), of(6)] } });
    team.ask('b', { t: { add: [of(4), of(5)] } });
    expect(codesOf(team.round({ agent: 'c', patch: {}, premises: ['/t'], base: 1 })[0])).toEqual(['committed']);
    team.ask('b', { t: { add: [of(7)] } });
    expect(codesOf(team.round({ agent: 'c', patch: {}, premises: ['/t'], base: 1 })[0])).toEqual(['premise']);
  });

  test('[TOP5] the rank is a required whole number of the values, and there is a k', () => {
    const wrong = z.strictObject({
      score: z.int().min(0).max(9).optional(),
      ratio: z.number().min(0).max(1),
      text: z.string().max(9),
    }) as unknown as z.ZodType<Json>;
    for (const by of ['score', 'ratio', 'text', 'none', '__proto__']) {
      expect(loading(topK(wrong, { k: 2, by }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    }
    expect(loading(topK(z.string().max(9), { k: 2, by: 'length' }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    expect(loading(topK(idea, { k: 0, by: 'score' }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    const team = smallTeam({ fields: { t: ideas } });
    expect(team.ask('a', { t: { add: [of(1), of(100)] } })).toMatchObject({
      issues: [{ path: '/t/add/1', code: 'bound' }],
    });
  });

  test('[TOP6] an add costs few hashes, however many values stand', () => {
    const kind = topK(z.strictObject({ score: z.int().min(0).max(9999) }), { k: 4096, by: 'score' });
    let hashes = 0;
    const counted = (text: string): string => {
      hashes += 1;
      return sha256(text);
    };
    let cell = kind.empty(undefined);
    const add = (n: number): void => {
      const attempt = { mark: { agent: 'a', n, revision: n }, note: () => undefined } as unknown as Attempt;
      cell = kind.settle?.(
        kind.fold(cell, { add: [{ score: (n * 7919) % 10_000 }], remove: [] }, '', attempt),
        '',
        QUIET_SETTLING,
      );
    };
    for (let n = 1; n <= 5000; n += 1) add(n);
    kind.digest(cell, counted);
    expect(hashes).toBeGreaterThanOrEqual(4096);
    hashes = 0;
    for (let n = 5001; n <= 5100; n += 1) {
      add(n);
      kind.digest(cell, counted);
    }
    expect(hashes / 100).toBeLessThan(5 * Math.log2(4096));
  });

  test('[JDG7] a rule that changes the list it reads does not change the field', () => {
    const vandal: Rule<{ readonly t: Field<readonly Json[]> }> = {
      reads: ['t'],
      check: ({ after }) => {
        for (const harm of [() => (after.t as Json[]).push(1), () => (after.t as Json[]).reverse()]) {
          try {
            harm();
          } catch {
            // What is frozen throws.
          }
        }
        return true;
      },
    };
    const team = smallTeam({ fields: { t: ideas }, invariants: { vandal: vandal as Rule<{ readonly [name: string]: Field }> } });
    team.ask('a', { t: { add: [of(1)] } });
    team.ask('a', { t: { add: [of(2)] } });
    expect(team.state).toEqual({ t: [of(2), of(1)] });
  });
});
