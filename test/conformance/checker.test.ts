import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashText, spin } from '@oplus/core';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../house/source.ts';
import { FIXTURES } from './fixtures.ts';
import type { Fixture } from './fixtures.ts';

const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.json'));

/** Fixtures of what the checker does not have: it names them and leaves them out. */
const LEFT_OUT = ['text.json', 'text-2.json'];

/** Runs the checker over these files, or over all fixtures. */
function checked(...paths: readonly string[]): { readonly status: number | null; readonly said: string } {
  const ran = spawnSync('python3', [join(FIXTURES, 'check.py'), ...paths], { encoding: 'utf8' });
  if (ran.error !== undefined)
    throw new Error('the checker of the fixtures needs python3, 3.9 or later, on the path', { cause: ran.error });
  return { status: ran.status, said: ran.stdout + ran.stderr };
}

/** What the checker says of a fixture after one change of its text. */
function checkedAfter(name: string, change: (fixture: Fixture) => Fixture): ReturnType<typeof checked> {
  const folder = mkdtempSync(join(tmpdir(), 'oplus-fixture-'));
  try {
    const path = join(folder, name);
    const fixture = JSON.parse(readFileSync(join(FIXTURES, name), 'utf8')) as Fixture;
    writeFileSync(path, JSON.stringify(change(fixture)));
    return checked(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The fixture with another last entry of its first play. */
function withLastEntry(fixture: Fixture, change: (entry: string) => string): Fixture {
  const [first, ...others] = fixture.plays as readonly [Fixture['plays'][number], ...Fixture['plays']];
  const last = first.rounds.length - 1;
  const rounds = first.rounds.map((round, i) => (i === last ? { ...round, entry: change(round.entry) } : round));
  return { ...fixture, plays: [{ ...first, rounds }, ...others] };
}

/** The text with another digit in place of the first hex digit after `before`. */
function otherDigit(text: string, before: string): string {
  const at = text.lastIndexOf(before) + before.length;
  return `${text.slice(0, at)}${text[at] === '0' ? '1' : '0'}${text.slice(at + 1)}`;
}

describe('the checker in another language', () => {
  test('[CNF4] it makes every entry of its kinds from their proposals, byte for byte', () => {
    const { status, said } = checked();
    expect(said).not.toContain('differs');
    const held = names.filter((name) => !LEFT_OUT.includes(name)).toSorted();
    expect([...said.matchAll(/^(\S+): \d+ entries, the same bytes$/gm)].map(([, name]) => name).toSorted()).toEqual(held);
    expect(status).toBe(0);
  });

  test('[CNF4] one byte, one verdict or one code that differs is found, in every entry of every fixture', () => {
    const { status, said } = checked('--spoilt');
    const found = [...said.matchAll(/^(\S+): (\d+) entries, .*\n\S+: (\d+) of (\d+) faults found$/gm)];
    expect(found.map(([, name]) => name)).toHaveLength(names.length - LEFT_OUT.length);
    for (const [, name, entries, count, of] of found) {
      expect(count, name).toBe(of);
      expect(Number(of), name).toBeGreaterThan(2 * Number(entries));
    }
    expect(status).toBe(0);
  });

  test('[CNF4] the first byte that differs is told, and the run fails', () => {
    const name = 'rules.json';
    expect(checkedAfter(name, (fixture) => fixture)).toMatchObject({ status: 0 });
    for (const before of ['"state":"', '"prev":"', '"term":', '"revision":']) {
      const { status, said } = checkedAfter(name, (fixture) => withLastEntry(fixture, (entry) => otherDigit(entry, before)));
      expect(said).toMatch(/play 0, entry \d+ differs at character \d+/);
      expect(status).toBe(1);
    }
  });

  test('[CNF4] a byte of a hint is found too: the state digest covers verdicts whole', () => {
    const spoilt = (entry: string): string => entry.replace('"hint":"', '"hint":"x');
    const { status, said } = checkedAfter('rules.json', (fixture) => withLastEntry(fixture, spoilt));
    expect(said).toContain('differs');
    expect(status).toBe(1);
  });

  test('[CNF4] another definition, another state at the end and a kind that it does not have fail', () => {
    const contract = (fixture: Fixture): Fixture =>
      JSON.parse(JSON.stringify(fixture).replace('"horizon":65536', '"horizon":9')) as Fixture;
    expect(checkedAfter('cas.json', contract)).toMatchObject({
      status: 1,
      said: expect.stringContaining('definition') as string,
    });
    const ended = ({ plays, ...rest }: Fixture): Fixture => ({
      ...rest,
      plays: plays.map((one) => ({ ...one, state: { f: 77 } })),
    });
    expect(checkedAfter('counter.json', ended)).toMatchObject({
      status: 1,
      said: expect.stringContaining('at the end') as string,
    });
    expect(checkedAfter('text.json', (fixture) => fixture)).toMatchObject({
      status: 1,
      said: expect.stringContaining('left out') as string,
    });
  });
});

test('[CNF5] the vectors of the page of bytes are those of the core', () => {
  const page = readFileSync(join(ROOT, 'docs', 'wire-format.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\d+|none) \| `([^`]+)` \| (\d+) \|$/gm)].map(([, depth, text, value]) => {
    const made = depth === 'none' ? hashText(text as string) : spin(Number(depth), text as string);
    return [text, made, Number(value)] as const;
  });
  expect(rows).toHaveLength(7);
  for (const [text, made, value] of rows) expect(value, text).toBe(made);
});
