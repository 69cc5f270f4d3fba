import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Json } from '../json.ts';
import { loadState } from '../state-schema.ts';
import { codesOf, outcomesOf, sha256, smallTeam } from '../testing/index.ts';
import { log } from './log.ts';

const line = z.string().max(10);
const message = z.strictObject({ id: z.int().min(0).max(99), text: line });

describe('log', () => {
  test('[KLG1] the last entries are kept, and it is counted how many fell off', () => {
    const team = smallTeam({ fields: { l: log(line, { keep: 3 }) } });
    for (const entry of ['1', '2', '3', '4', '5']) team.ask('a', { l: { append: [entry] } });
    expect(team.state).toEqual({ l: ['3', '4', '5'] });
    expect(team.schema.kinds[0]?.view(team.space.cells[0])).toEqual({ entries: ['3', '4', '5'], dropped: 2 });
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
      () => log(optional, { keep: 5, id: 'id' }),
      () => log(message, { keep: 5, id: 'name' }),
      () => log(line, { keep: 5, id: 'id' }),
    ]) {
      expect(bad).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
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
    expect(() => log(line, { keep: 0 })).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    expect(() => loadState({ name: 'x', version: 1, fields: { l: log(line, { keep: 1 }) } }, sha256)).not.toThrow();
    const team = smallTeam({ fields: { l: log(line, { keep: 2 }) } });
    expect(codesOf(team.ask('a', { l: { append: 'x' } }))).toEqual(['schema']);
    expect(team.ask('a', { l: { append: ['x', 1] } })).toMatchObject({ issues: [{ path: '/l/append/1', code: 'schema' }] });
  });
});
