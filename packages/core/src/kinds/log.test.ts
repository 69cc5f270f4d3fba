import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Attempt, Field } from '../field-kind.ts';
import type { Json } from '../json.ts';
import { stampOf } from '../stamp.ts';
import type { Rule } from '../state-schema.ts';
import { loadState } from '../state-schema.ts';
import { codesOf, loading, outcomesOf, QUIET_SETTLING, sha256, smallTeam } from '../testing/index.ts';
import { map } from './map.ts';
import { records } from './records.ts';
import { hasSpills } from '../state-schema.ts';
import { replay } from '../replay.ts';
import { viewsOfSpace } from '../projection.ts';
import type { Verdict } from '../issue.ts';
import type { LogView } from './log.ts';
import { log } from './log.ts';

const line = z.string().max(10);
const message = z.strictObject({ id: z.int().min(0).max(99), text: line });

const text = z.string().max(20);

describe('log', () => {
  test('[KLG1] the last entries are kept, and it is counted how many fell off', () => {
    const team = smallTeam({ fields: { l: log(line, { keep: 3 }) } });
    for (const entry of ['1', '2', '3', '4', '5']) team.ask('a', { l: { append: [entry] } });
    expect(team.state).toEqual({ l: ['3', '4', '5'] });
    expect(team.schema.kinds[0]?.view(team.space.cells[0])).toEqual({ entries: ['3', '4', '5'], dropped: 2, spilled: null });
  });

  test('[KLG2] in commit order a late entry stands after those already there', () => {
    const team = smallTeam({ fields: { l: log(line, { keep: 5 }) } });
    team.ask('a', { l: { append: ['first'] } });
    team.ask('a', { l: { append: ['second'] } });
    team.ask('b', { l: { append: ['late'] } }, 0);
    expect(team.state).toEqual({ l: ['first', 'second', 'late'] });
  });

  test('[KLG3] in stamp order it stands where its view puts it', () => {
    const team = smallTeam({ fields: { l: log(line, { keep: 5, order: 'stamp' }) } });
    team.ask('a', { l: { append: ['first'] } }, 0);
    team.ask('a', { l: { append: ['second', 'third'] } }, 1);
    team.ask('b', { l: { append: ['late'] } }, 0);
    const entries = team.state['l'] as string[];
    expect(entries.slice(2)).toEqual(['second', 'third']);
    expect(entries.slice(0, 2).sort()).toEqual(['first', 'late']);
  });

  test('[KLG4] an entry whose id is there is skipped; with other content its sender is told what stands', () => {
    const team = smallTeam({ fields: { l: log(message, { keep: 5, id: 'id' }) } });
    team.ask('a', { l: { append: [{ id: 1, text: 'one' }] } });
    const verdict = team.ask(
      'b',
      {
        l: {
          append: [
            { id: 1, text: 'one' },
            { id: 1, text: 'other' },
            { id: 2, text: 'two' },
          ],
        },
      },
      0,
    );
    expect(verdict).toMatchObject({
      outcomes: {
        '/l/append/0': { kind: 'unchanged' },
        '/l/append/1': { kind: 'superseded', by: 'a', value: { id: 1, text: 'one' } },
      },
    });
    expect(team.state).toEqual({
      l: [
        { id: 1, text: 'one' },
        { id: 2, text: 'two' },
      ],
    });
  });

  test('[KLG4] the id is a required property of the entries, or the entry itself', () => {
    const optional = z.strictObject({ id: z.int().min(0).max(9).optional(), text: line }) as unknown as z.ZodType<Json>;
    for (const bad of [
      log(optional, { keep: 5, id: 'id' }),
      log(message, { keep: 5, id: 'name' }),
      log(line, { keep: 5, id: 'id' }),
    ]) {
      expect(loading(bad)).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    }
    const team = smallTeam({ fields: { l: log(line, { keep: 5, id: 'self' }) } });
    team.ask('a', { l: { append: ['x', 'y', 'x'] } });
    expect(team.state).toEqual({ l: ['x', 'y'] });
  });

  test('[KLG5] who appended what fell off in the same seal is told', () => {
    const team = smallTeam({ fields: { l: log(line, { keep: 2 }) } });
    const verdicts = team.round(
      { agent: 'a', patch: { l: { append: ['a1', 'a2'] } } },
      { agent: 'b', patch: { l: { append: ['b1'] } } },
    );
    const told = verdicts.map(outcomesOf);
    const kept = team.state['l'] as string[];
    expect(kept).toHaveLength(2);
    const evicted = ['a1', 'a2', 'b1'].filter((entry) => !kept.includes(entry));
    expect(evicted).toHaveLength(1);
    expect(told).toEqual([
      evicted[0] === 'a1' ? { '/l/append/0': 'evicted' } : {},
      evicted[0] === 'b1' ? { '/l/append/0': 'evicted' } : {},
    ]);
  });

  test('[KLG5] a late entry that is older than all that is kept is told at once', () => {
    const team = smallTeam({ fields: { l: log(line, { keep: 2, order: 'stamp' }) } });
    for (const [i, entry] of ['1', '2', '3'].entries()) team.ask('a', { l: { append: [entry] } }, i);
    expect(outcomesOf(team.ask('b', { l: { append: ['old'] } }, 0))).toEqual({ '/l/append/0': 'evicted' });
    expect(team.state).toEqual({ l: ['2', '3'] });
  });

  test('[KLG6] without a cap it does not load, and append takes a list', () => {
    expect(loading(log(line, { keep: 0 }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    expect(() => loadState({ name: 'x', version: 1, fields: { l: log(line, { keep: 1 }) } }, sha256)).not.toThrow();
    const team = smallTeam({ fields: { l: log(line, { keep: 2 }) } });
    expect(codesOf(team.ask('a', { l: { append: 'x' } }))).toEqual(['schema']);
    expect(team.ask('a', { l: { append: ['x', 1] } })).toMatchObject({ issues: [{ path: '/l/append/1', code: 'schema' }] });
  });

  test('[KLG7] a log that rejects takes nothing once it is full, and loses nothing', () => {
    const team = smallTeam({ fields: { l: log(message, { keep: 2, id: 'id', overflow: 'reject' }) } });
    const one = { id: 1, text: 'x' };
    const two = { id: 2, text: 'x' };
    const three = { id: 3, text: 'x' };
    expect(codesOf(team.ask('a', { l: { append: [one, two, three] } }))).toEqual(['bound']);
    expect(outcomesOf(team.ask('a', { l: { append: [one, two] } }))).toEqual({});
    expect(team.ask('b', { l: { append: [three] } })).toMatchObject({ issues: [{ path: '/l', code: 'bound', have: 2 }] });
    expect(outcomesOf(team.ask('b', { l: { append: [two] } }))).toEqual({ '/l/append/0': 'unchanged' });
    expect(team.state).toEqual({ l: [one, two] });
    expect(team.schema.kinds[0]?.view(team.space.cells[0])).toEqual({ entries: [one, two], dropped: 0, spilled: null });
  });

  test('[KLG7] which appends get the room is decided by the log, and the schema digest covers it', () => {
    const grades = [
      log(line, { keep: 2, order: 'stamp' }),
      log(line, { keep: 2, order: 'stamp', overflow: 'reject' }),
      log(message, { keep: 2, order: 'stamp', id: 'id' }),
      log(line, { keep: 2 }),
    ].map((kind) => kind.grade.letter);
    expect(grades).toEqual(['A', 'B', 'B', 'B']);
    const declarations = (['keep-last', 'reject'] as const).map((overflow) => log(line, { keep: 2, overflow }).declaration());
    expect(declarations[0]).toEqual(log(line, { keep: 2 }).declaration());
    expect(declarations[1]).not.toEqual(declarations[0]);
  });

  test.each(['commit', 'stamp'] as const)(
    '[KLG8] an append in %s order costs few hashes, however many entries stand',
    (order) => {
      const kind = log(z.int().min(0).max(99_999), { keep: 4096, order, id: 'self' });
      let hashes = 0;
      const counted = (text: string): string => {
        hashes += 1;
        return sha256(text);
      };
      let cell = kind.empty(undefined);
      const append = (n: number): void => {
        const mark = { agent: 'a', n, revision: n };
        const attempt = { agent: 'a', mark, stamp: stampOf({ revision: n, priority: 0, agent: 'a', n }) } as unknown as Attempt;
        cell = kind.settle?.(kind.fold(cell, { append: [n] }, '', attempt), '', QUIET_SETTLING);
      };
      for (let n = 1; n <= 5000; n += 1) append(n);
      kind.digest(cell, counted);
      expect(hashes).toBeGreaterThanOrEqual(4096);
      hashes = 0;
      for (let n = 5001; n <= 5100; n += 1) {
        append(n);
        kind.digest(cell, counted);
      }
      expect(hashes / 100).toBeLessThan(5 * Math.log2(4096));
      expect(kind.view(cell)).toMatchObject({ dropped: 5100 - 4096 });
    },
  );

  test('[JDG7] a rule that changes the entries it reads does not change the log', () => {
    const vandal: Rule<{ readonly l: Field<LogView<string>> }> = {
      reads: ['l'],
      check: ({ after }) => {
        for (const harm of [() => (after.l.entries as string[]).push('x'), () => ((after.l.entries as string[])[0] = 'y')]) {
          try {
            harm();
          } catch {
            // What is frozen throws.
          }
        }
        return true;
      },
    };
    const team = smallTeam({
      fields: { l: log(line, { keep: 3 }) },
      invariants: { vandal: vandal as Rule<{ readonly [name: string]: Field }> },
    });
    team.ask('a', { l: { append: ['1'] } });
    team.ask('a', { l: { append: ['2'] } });
    expect(team.state).toEqual({ l: ['1', '2'] });
  });

  test('[KLG9] a log that spills moves its oldest entries to artefacts, each of which names the one before', () => {
    const team = smallTeam({ fields: { f: log(text, { keep: 2, overflow: 'spill' }) } });
    const artefacts = new Map<string, string>();
    const append = (...values: readonly string[]): Verdict => {
      const { sealed, verdict } = team.sealOne('a', { f: { append: values } });
      for (const { path, digest, text: body } of sealed.spilled) {
        expect({ path, digest }).toEqual({ path: '/f', digest: sha256(body) });
        artefacts.set(digest, body);
      }
      return verdict;
    };
    append('1', '2');
    append('3');
    const told = append('4', '5', '6');
    expect(outcomesOf(told)).toEqual({ '/f/append/0': 'evicted' });
    expect(team.state['f']).toEqual(['5', '6']);
    const view = viewsOfSpace(team.space)['f'] as LogView<string>;
    expect(view.dropped).toBe(4);
    const read: string[] = [];
    for (let at = view.spilled; at !== null;) {
      const { before, entries } = JSON.parse(artefacts.get(at) as string) as {
        before: string | null;
        entries: readonly string[];
      };
      read.unshift(...entries);
      at = before;
    }
    expect(read).toEqual(['1', '2', '3', '4']);
    expect(replay(team.schema, 'example', team.log).state).toBe(team.space.state);
    expect(hasSpills(team.schema)).toBe(true);
    expect(hasSpills(smallTeam({ fields: { f: map(log(text, { keep: 2 }), { cap: 2 }) } }).schema)).toBe(false);
  });

  test('[KLG9][T2] which entries share an artefact depends on the cut into rounds, so no order makes the grade A', () => {
    const f = log(text, { keep: 1, order: 'stamp', overflow: 'spill' });
    const asks = ['a', 'b', 'c'].map((agent) => ({ agent, patch: { f: { append: [agent] } }, base: 0 }));
    const [one, other] = [smallTeam({ fields: { f } }), smallTeam({ fields: { f } })];
    one.round(...asks);
    for (const ask of asks) other.round(ask);
    expect(one.state).toEqual(other.state);
    expect(f.view(one.space.cells[0])).not.toEqual(f.view(other.space.cells[0]));
    expect(f.grade.letter).toBe('B');
    expect(log(text, { keep: 1, order: 'stamp' }).grade.letter).toBe('A');
  });

  test('[KLG9] below keys and rows too, under their paths', () => {
    const spilling = log(text, { keep: 1, overflow: 'spill' });
    const team = smallTeam({ fields: { m: map(spilling, { cap: 2 }), r: records({ said: spilling }, { cap: 2 }) } });
    const patch = { m: { at: { k: { append: ['1', '2'] } } }, r: { put: { t: { said: { append: ['3', '4'] } } } } };
    const { sealed } = team.sealOne('a', patch);
    expect(sealed.spilled.map(({ path }) => path)).toEqual(['/m/k', '/r/t/said']);
    expect(hasSpills(team.schema)).toBe(true);
  });
});
