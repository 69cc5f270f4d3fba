/**
 * Conformance fixtures: for every field kind a few plays as plain data, from which a worker or a coordinator in any language
 * can be proved against this one.
 *
 * As a program it writes them: `npm run conformance`. The plays are made from fixed seeds; of many, those are kept that show
 * something no earlier one shows.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractOf, stateJson } from '@oplus/core';
import type { JsonObject, SystemEvent, Verdict } from '@oplus/core';
import { AGENTS, numbersFrom, play, SAMPLE_KINDS } from '@oplus/core/testing';
import type { FieldSpec, History, Play } from '@oplus/core/testing';
import { ROOT } from '../house/source.ts';
import { playIdea } from './hand-play.ts';
import type { Idea } from './hand-play.ts';
import { IDEAS } from './ideas.ts';

/** Texts are canonical JSON (RFC 8785); an entry is the text that a log holds. */
export type Fixture = {
  readonly kind: string;
  readonly contract: JsonObject;
  /** What no contract holds: in words, what the function of a field does, and what the check of a rule says. */
  readonly functions: { readonly [path: string]: string };
  readonly checks: { readonly [rule: string]: string };
  readonly space: string;
  readonly plays: readonly FixturePlay[];
};

/** `rounds[0]` is the genesis. `state` is the value of every field after the last round. */
export type FixturePlay = { readonly rounds: readonly FixtureRound[]; readonly state: JsonObject };

export type FixtureRound = {
  readonly term: number;
  readonly events: readonly SystemEvent[];
  readonly proposals: readonly string[];
  readonly entry: string;
};

/** Where the fixtures stand. */
export const FIXTURES = join(ROOT, 'conformance');

/** Every fixture file, by name. */
export function fixtureFiles(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const sample of SAMPLE_KINDS) {
    for (const [i, spec] of sample.simple.entries()) {
      const name = `${sample.kind}${i === 0 ? '' : `-${i + 1}`}.json`;
      files.set(name, textOf(fixtureOf(sample.kind, spec)));
    }
  }
  for (const idea of IDEAS) files.set(`${idea.name}.json`, textOf(handFixture(idea)));
  return files;
}

/** What a play shows, as labels: outcomes by kind, refusals by code. */
export function shownBy(played: { readonly rounds: readonly { readonly verdicts: readonly Verdict[] }[] }): ReadonlySet<string> {
  const labels = played.rounds.flatMap(({ verdicts }) =>
    verdicts.flatMap((verdict) =>
      verdict.kind === 'rejected'
        ? verdict.issues.map(({ code }) => code)
        : ['merged', ...Object.values(verdict.outcomes ?? {}).map(({ kind }) => kind)],
    ),
  );
  return new Set(labels);
}

const SEEDS = 120;
const PLAYS_MAX = 4;
const ROUNDS = 4;

function fixtureOf(kind: string, spec: FieldSpec): Fixture {
  const plays: FixturePlay[] = [];
  const shown = new Set<string>();
  let contract: JsonObject = {};
  let space = '';
  for (let seed = 1; seed <= SEEDS && plays.length < PLAYS_MAX; seed += 1) {
    const played = play(historyOf(spec, seed));
    const labels = shownBy({
      rounds: played.rounds.map(({ sealed }) => ({ verdicts: sealed.decided.map(({ verdict }) => verdict) })),
    });
    if ([...labels].every((label) => shown.has(label))) continue;
    for (const label of labels) shown.add(label);
    contract = contractOf(played.state.schema);
    space = played.spaces[0]?.name ?? '';
    plays.push(fixturePlay(played));
  }
  const does = spec.kind === 'reduce' ? REDUCERS[spec['by'] as string] : undefined;
  return { kind, contract, functions: does === undefined ? {} : { f: does }, checks: {}, space, plays };
}

function handFixture(idea: Idea): Fixture {
  const { space, rounds } = playIdea(idea);
  const plays = [{ rounds: rounds.map(({ sealed, ...given }) => ({ ...given, entry: sealed.text })), state: stateJson(space) }];
  const code = { functions: idea.functions ?? {}, checks: idea.checks ?? {} };
  return { kind: idea.name, contract: contractOf(space.schema), ...code, space: space.name, plays };
}

function textOf(fixture: Fixture): string {
  return `${JSON.stringify(fixture, null, 1)}\n`;
}

/** What the sample reducers do. */
const REDUCERS: { readonly [by: string]: string } = {
  top: 'keep the three greatest different updates, in descending order',
  tail: 'append the update and keep the last three',
  sum: 'add the update',
};

function historyOf(spec: FieldSpec, seed: number): History {
  const next = numbersFrom(seed);
  const step = (): readonly [number, number, number] => [next() % AGENTS.length, next() % 3, next()];
  const rounds = Array.from({ length: ROUNDS }, () => Array.from({ length: 1 + (next() % 3) }, step));
  return { state: { f: spec }, rounds };
}

function fixturePlay(played: Play): FixturePlay {
  const rounds = played.rounds.map(({ events, proposals, sealed }) => ({
    term: 1,
    events,
    proposals: proposals.map(({ text }) => text),
    entry: sealed.text,
  }));
  return { rounds, state: stateJson(played.spaces.at(-1) as Play['spaces'][number]) };
}

if (import.meta.main) {
  mkdirSync(FIXTURES, { recursive: true });
  for (const name of readdirSync(FIXTURES)) if (name.endsWith('.json')) rmSync(join(FIXTURES, name));
  for (const [name, text] of fixtureFiles()) writeFileSync(join(FIXTURES, name), text);
}
