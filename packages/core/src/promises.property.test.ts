import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { FieldKind } from './field-kind.ts';
import { canonical } from './json.ts';
import type { Json } from './json.ts';
import { stateJson } from './space.ts';
import type { Space } from './space.ts';
import { proposeAtOnce } from './stage.ts';
import {
  brokenBounds,
  brokenConfluence,
  brokenDedupe,
  brokenReplay,
  histories,
  lostUpdate,
  naivePlay,
  play,
  resurrected,
  runsOf,
  SAMPLE_KINDS,
  SAMPLE_STATES,
  sampleState,
  stateOf,
  storedHistories,
} from './testing/index.ts';
import type { History, Play } from './testing/index.ts';

/** Generated histories per promise. */
const HISTORIES = runsOf();

const corpus = storedHistories(new URL('../../../test/race/corpus/', import.meta.url));
const stored: [History, number][] = corpus.map(({ history, seed }) => [history, seed]);

function holds(broken: (played: Play, seed: number) => string | undefined): void {
  fc.assert(
    fc.property(histories(), fc.nat(0xffffff), (history, seed) => {
      const found = broken(play(history), seed);
      if (found !== undefined) throw new Error(found);
    }),
    { numRuns: HISTORIES, examples: stored },
  );
}

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 3_600_000 });

describe('promises', () => {
  test('[T1] any order and any duplicates of a round give the same entry bytes', () => {
    holds((played, seed) => brokenConfluence(played, seed));
  });

  test('[T4][SURPRISE 17][SURPRISE 21] the log folds to the live state, from the start or from a snapshot, in any batches', () => {
    holds(brokenReplay);
  });

  test('[T5] every accepted operation is visible, or replaced by one that saw it, or reported', () => {
    holds(lostUpdate);
  });

  test('[T6] what was dropped or removed comes back only by rule, and no operation reaches another incarnation', () => {
    holds((played) => resurrected(played));
  });

  test('[T9] who reads again and tries again gets through, or is told that this will not help, in as many rounds as there are agents', () => {
    holds(standstill);
  });

  test('[T7] bounds and rules hold at every revision, and a refused proposal leaves no mark', () => {
    holds((played) => brokenBounds(played));
  });

  test('[T8] every dot has exactly one verdict, however often it is sent', () => {
    holds((played, seed) => brokenDedupe(played, seed));
  });

  test('[SEAL9][SURPRISE 35] every kind does what the naive model does', () => {
    holds(differsFromModel);
  });

  test('[EXP3] the histories end what stands, and try to end what does not', () => {
    const seen = new Set<string>();
    const state = stateOf({ f: { kind: 'claim', leaseMs: 100 } });
    for (const history of fc.sample(histories(), { numRuns: 200, seed: 7 })) {
      for (const { events, sealed } of play(history, state).rounds)
        for (const event of events) {
          if (event.kind === 'expire') seen.add(`${event.cause} ${String(sealed.events.includes(event))}`);
        }
    }
    expect([...seen].toSorted()).toEqual(['deadline false', 'lease false', 'lease true', 'left false', 'left true']);
  });

  test('[SEAL9] the sample states hold every kind, alone and below map and records', () => {
    const names = new Set<string>();
    const name = (kind: FieldKind, above: string): void => {
      names.add(above + kind.name);
      for (const part of Object.values(kind.parts ?? {})) name(part, `${above}${kind.name}/`);
    };
    for (let number = 0; number < SAMPLE_STATES; number += 1) for (const kind of sampleState(number).schema.kinds) name(kind, '');
    expect([...names]).toEqual(
      expect.arrayContaining([
        ...SAMPLE_KINDS.map((sample) => sample.kind),
        'map/map',
        'map/records',
        'records/map',
        'records/counter',
        'map/records/counter',
        'map/map/records/counter',
        'map/map/records/claim',
        ...['set', 'log', 'multi', 'text'].map((cell) => `records/${cell}`),
      ]),
    );
    expect([...names].filter((one) => /^map\/[^/]+$/.test(one)).length).toBeGreaterThanOrEqual(8);
    expect([...names].filter((one) => /^records\/[^/]+$/.test(one)).length).toBeGreaterThanOrEqual(8);
  });
});

/** Each round of a play again, by agents that read and send anew until they commit or are told that reading will not help. */
function standstill(played: Play): string | undefined {
  for (const [revision, { proposals }] of played.rounds.entries()) {
    let space = played.spaces[Math.max(0, revision - 1)] as Space;
    let waiting = [...new Map(proposals.map(({ proposal }) => [proposal.agent, proposal.patch]))];
    for (let rounds = waiting.length; rounds >= 0; rounds -= 1) {
      const sealed = proposeAtOnce(space, waiting);
      const again = sealed.decided.filter(
        ({ verdict }) => verdict.kind === 'rejected' && verdict.issues.every(({ recovery }) => recovery === 're-read'),
      );
      waiting = again.map(({ admitted }) => [admitted.proposal.agent, admitted.proposal.patch]);
      space = sealed.space;
    }
    const [starved] = waiting;
    if (starved !== undefined) return `round ${revision}: ${starved[0]} reads again and again, and never gets through`;
  }
  return undefined;
}

function differsFromModel(played: Play): string | undefined {
  for (const [at, round] of naivePlay(played).entries()) {
    const real = played.rounds[at + 1]?.sealed.decided.map(({ admitted, verdict }) => {
      const outcomes = verdict.kind === 'committed' ? Object.entries(verdict.outcomes ?? {}) : [];
      const { agent, n } = admitted.proposal;
      return {
        agent,
        n,
        kind: verdict.kind,
        outcomes: Object.fromEntries(outcomes.map(([path, outcome]) => [path, outcome.kind])),
      };
    });
    const [realText, modelText] = [canonical(real as unknown as Json), canonical(round.verdicts as unknown as Json)];
    if (realText !== modelText) return `round ${at + 1}: verdicts\n${realText}\nmodel\n${modelText}`;
    const [state, model] = [canonical(stateJson(played.spaces[at + 1] as Space)), canonical(round.json)];
    if (state !== model) return `round ${at + 1}: state\n${state}\nmodel\n${model}`;
  }
  return undefined;
}
