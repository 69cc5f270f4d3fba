import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { admit, seal, stateFromContract, stateJson, unbornSpace } from '@oplus/core';
import type { ContractCode, Json, Space, Verdict } from '@oplus/core';
import { SAMPLE_KINDS, sha256 } from '@oplus/core/testing';
import { describe, expect, test } from 'vitest';
import { FIXTURES, fixtureFiles, shownBy } from './fixtures.ts';
import type { Fixture } from './fixtures.ts';
import { IDEAS } from './ideas.ts';

const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.json'));

function fixture(name: string): Fixture {
  return JSON.parse(readFileSync(join(FIXTURES, name), 'utf8')) as Fixture;
}

describe('conformance', () => {
  test('[CNF1] the fixtures are what the core makes today', () => {
    const files = fixtureFiles();
    expect(names.toSorted()).toEqual([...files.keys()].toSorted());
    for (const [name, text] of files)
      expect(readFileSync(join(FIXTURES, name), 'utf8'), `${name}: npm run conformance`).toBe(text);
  });

  test.each(names)('[CNF2] %s is enough to seal its own entries', (name) => {
    const read = fixture(name);
    const schema = stateFromContract(read.contract, sha256, codeOf(read));
    for (const { rounds, state } of read.plays) {
      let space: Space = unbornSpace(read.space, schema);
      for (const { term, events, proposals, entry } of rounds) {
        const sealed = seal(space, { term, events, proposals: proposals.map(admitted) });
        expect(sealed.text).toBe(entry);
        space = sealed.space;
      }
      expect(stateJson(space)).toEqual(state);
    }
  });

  test('[CNF3] every kind has fixtures, and together they show every outcome and the codes of patches', () => {
    const fixtures = names.map(fixture);
    const kinds = [...IDEAS.map(({ name }) => name), ...SAMPLE_KINDS.map(({ kind }) => kind)];
    expect([...new Set(fixtures.map(({ kind }) => kind))].toSorted()).toEqual(kinds.toSorted());
    const shown = new Set(
      fixtures.flatMap(({ plays }) => plays.flatMap((one) => [...shownBy({ rounds: one.rounds.map(verdictsOf) })])),
    );
    expect([...shown]).toEqual(
      expect.arrayContaining(
        [
          'merged unchanged superseded contested evicted',
          'conflict premise held not_owner gone bound transition schema forbidden',
          'protected invariant derived stale_base unknown_base protocol',
        ].flatMap((line) => line.split(' ')),
      ),
    );
  });
});

function verdictsOf({ entry }: { readonly entry: string }): { readonly verdicts: readonly Verdict[] } {
  const { members } = JSON.parse(entry) as { readonly members: readonly { readonly verdict?: Verdict }[] };
  return { verdicts: members.flatMap(({ verdict }) => verdict ?? []) };
}

function admitted(text: string): Parameters<typeof seal>[1]['proposals'][number] {
  const gated = admit(text, (JSON.parse(text) as { readonly agent: string }).agent);
  if (!gated.ok) throw new Error(JSON.stringify(gated.issues));
  return gated.value;
}

/** Functions do not travel: whoever reads a fixture writes them from their words, as is done here. */
const WRITTEN: { readonly [words: string]: (...given: never[]) => Json } = {
  'keep the three greatest different updates, in descending order': (state: readonly number[], update: number) =>
    [...new Set([update, ...state])].sort((a, b) => b - a).slice(0, 3),
  'append the update and keep the last three': (state: readonly string[], update: string) => [...state, update].slice(-3),
  'add the update': (state: number, update: number) => state + update,
  'stock minus reserved': ({ stock, reserved }: { readonly stock: number; readonly reserved: number }) => stock - reserved,
  'the number of lines': ({ lines }: Computed) => lines.entries.length,
  'the best score, or 0, minus the number of lines': ({ best, lines }: Computed) => (best[0]?.score ?? 0) - lines.entries.length,
  'the holder of the lock, or nobody': ({ lock }: Computed) => lock.holder ?? 'nobody',
};

type Computed = {
  readonly lines: { readonly entries: readonly string[] };
  readonly best: readonly { readonly score: number }[];
  readonly lock: { readonly holder?: string };
};

type Checks = NonNullable<ContractCode['checks']>;

/** Checks are written again too, with the sentences that the stored verdicts hold as hints. */
const CHECKED: Checks = {
  'reserved is at most stock': ({ after: { reserved, stock } }) =>
    Number(reserved) <= Number(stock) ? true : `${Number(reserved)} of ${Number(stock)} are reserved.`,
  'final does not become draft again': ({ before, after }) =>
    before['phase'] === 'final' && after['phase'] === 'draft' ? 'What is final stays so.' : true,
  'nothing is erased while the phase is final': ({ after }) => (after['phase'] === 'final' ? 'The phase is final.' : []),
  'the phase is open': ({ after }) => (after['phase'] === 'open' ? true : 'The phase is not open.'),
  'the lock is held while busy is not 0': ({ after }) =>
    after['busy'] === 0 || (after['lock'] as Computed['lock']).holder !== undefined ? true : 'Nobody is there.',
  'sum and count are below 5, told of both': ({ after: { sum, count } }) =>
    Number(sum) + Number(count) < 5
      ? true
      : [
          { path: '/sum', hint: 'Too many in all.', have: Number(sum), want: { sum: 4 } },
          { path: '/count', hint: 'So are these.' },
        ],
};

function codeOf({ functions, checks }: Fixture): ContractCode {
  const written = <T>(from: { readonly [words: string]: T }, words: { readonly [name: string]: string }): { [name: string]: T } =>
    Object.fromEntries(Object.entries(words).map(([name, said]) => [name, from[said] as T]));
  return { functions: written(WRITTEN, functions), checks: written(CHECKED, checks) };
}
