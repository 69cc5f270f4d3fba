import { describe, expect, test } from 'vitest';
import type { FieldKind } from '../field-kind.ts';
import type { JsonObject } from '../json.ts';
import type { Verdict } from '../issue.ts';
import { codesOf, smallTeam } from '../testing/index.ts';
import type { SmallTeam } from '../testing/index.ts';
import { text } from './text.ts';

function teamOf(start: string, charsMax: number = 1_000): SmallTeam {
  return smallTeam({ fields: { t: text({ charsMax, start }) } });
}

function replace(find: string, by: string): JsonObject {
  return { t: { replace: { find, with: by } } };
}

function append(more: string): JsonObject {
  return { t: { append: more } };
}

function issueOf(verdict: Verdict | undefined): unknown {
  return verdict?.kind === 'rejected' ? verdict.issues[0] : undefined;
}

function sizeOf(team: SmallTeam): number {
  return (team.schema.kinds[0] as FieldKind).encode(team.space.cells[0]).length;
}

describe('the history of a text', () => {
  test('[TXT11] what every view has seen is forgotten', () => {
    const team = smallTeam({ fields: { t: text({ charsMax: 9_000, start: 'a0 b0' }) } }, ['a', 'b']);
    const sizes: number[] = [];
    for (let i = 0; i < 300; i += 1) {
      team.round({ agent: 'a', patch: replace(`a${i}`, `a${i + 1}`) }, { agent: 'b', patch: append('.') });
      sizes.push(sizeOf(team));
    }
    expect(team.state['t']).toBe(`a300 b0${'.'.repeat(300)}`);
    expect(Math.max(...sizes)).toBeLessThan(20_000);
  });

  test('[TXT11] when more is forgotten, older views append and find no places; newer ones do', () => {
    const start = Array.from({ length: 40 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
    const team = teamOf(`${start}.`, 9_000);
    const sizes: number[] = [];
    for (let i = 0; i < 60; i += 1) {
      const many = Array.from({ length: 40 }, (_, j) => ({
        find: String.fromCodePoint(0x4e00 + i * 40 + j),
        with: String.fromCodePoint(0x4e00 + i * 40 + 40 + j),
      }));
      expect(codesOf(team.ask(i % 2 === 0 ? 'a' : 'b', { t: { replace: many } }))).toEqual(['committed']);
      sizes.push(sizeOf(team));
    }
    expect(Math.max(...sizes)).toBeLessThan(300_000);
    expect(issueOf(team.ask('c', replace('.', '!'), 2))).toMatchObject({ code: 'conflict', recovery: 're-read' });
    expect(codesOf(team.ask('c', append('x'), 2))).toEqual(['committed']);
    expect(codesOf(team.ask('c', replace('.', '!'), 50))).toEqual(['committed']);
    expect(String(team.state['t'])).toMatch(/!x$/);
  });

  test('[TXT11] of a short text much more removed text than it may have is kept for older views', () => {
    const team = teamOf('0.', 20);
    for (let i = 0; i < 40; i += 1) team.ask('a', replace(String(i), String(i + 1)));
    expect(codesOf(team.ask('b', replace('.', '!'), 0))).toEqual(['committed']);
    expect(team.state['t']).toBe('40!');
  });

  test('[TXT11] no more removed text is kept than the text may have', () => {
    const team = teamOf('0', 20_000);
    const sizes: number[] = [];
    for (let i = 0; i < 40; i += 1) {
      const [from, to] = [i, i + 1].map((n) => (n === 0 ? '0' : String.fromCodePoint(0x4e00 + n).repeat(9_000)));
      expect(codesOf(team.ask('a', replace(from as string, to as string)))).toEqual(['committed']);
      sizes.push(sizeOf(team));
    }
    expect(Math.max(...sizes)).toBeLessThan(100_000);
    expect(codesOf(team.ask('b', append('.'), 0))).toEqual(['committed']);
  });

  test('[TXT11] a flood behind a rewrite in one round does not make it seen: who has not is refused', () => {
    const team = smallTeam(
      { fields: { t: text({ charsMax: 10_000, start: 'start' }) }, roles: { first: { priority: 1 }, agent: { priority: 0 } } },
      ['a:first', 'b'],
    );
    const runs = Array.from({ length: 12 }, (_, i) => String.fromCodePoint(0x4e00 + i).repeat(9_000));
    const flood = runs.slice(1).map((run, i) => ({ agent: 'a', patch: replace(runs[i] as string, run) }));
    const verdicts = team.round({ agent: 'a', patch: { t: { rewrite: `x${runs[0] as string}` } } }, ...flood, {
      agent: 'b',
      patch: replace('x', 'y'),
    });
    expect(verdicts.flatMap(codesOf)).toEqual([...runs.map(() => 'committed'), 'conflict']);
    expect(codesOf(team.ask('b', replace('x', 'y')))).toEqual(['committed']);
  });
});
