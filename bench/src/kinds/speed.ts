/**
 * Operations a second of each row of work, by contenders that take turns in one process.
 *
 * oplus goes the whole way from the text of a proposal to the digest of the entry; the peers change a document in memory. What
 * is not measured on either side: making the text of a proposal, sending anything, writing a log.
 */
import { invariant, loadState, stampOf, stateJson } from '@oplus/core';
import type { Attempt, FieldKind, Json, Sha256 } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import * as Y from 'yjs';

import { openDrive } from '../drive.ts';
import type { Ask, Drive } from '../drive.ts';
import { ratiosOf, spreadOf } from './spread.ts';
import type { Spread } from './spread.ts';
import type { Peer, Work } from './work.ts';

/** Agents that propose in turn. */
const AGENTS = 64;

/** Most steps of Automerge in one repetition: each costs as much as its document is long. */
const AUTOMERGE_STEPS_MAX = 200;

/** One contender on one row, once. Microseconds of oplus are a proposal each, gate and seal apart. */
export type Timing = {
  readonly perSecond: number;
  readonly gateMicros?: number;
  readonly sealMicros?: number;
  /** What it holds at the end. */
  readonly json: Json;
};

export interface Entrant {
  readonly name: string;
  readonly note: string;
  run(work: Work, steps: number): Timing;
  /** Microseconds a proposal that SHA-256 alone takes for the texts that the seals hash. */
  hashMicros?(work: Work, steps: number): number;
}

export const BASELINE = 'Yjs';

export const ENTRANTS: readonly Entrant[] = [
  { name: BASELINE, note: 'one transaction a step on its own document, nobody listens', run: runYjs },
  {
    name: 'Yjs, received',
    note: "another client's update of each step is read and applied: what a server does",
    run: runReceived,
  },
  {
    name: 'Automerge',
    note: `one change a step; ${AUTOMERGE_STEPS_MAX} steps from the middle of the row, because each costs as much as the document is long`,
    run: runAutomerge,
  },
  {
    name: 'oplus, 1 a round',
    note: 'gate and seal of rounds of one proposal with one operation',
    run: (work, steps) => driven(work, steps, 1),
    hashMicros: (work, steps) => hashed(work, steps, 1),
  },
  {
    name: 'oplus, 64 a round',
    note: 'the same in rounds of 64 proposals by 64 agents on one view',
    run: (work, steps) => driven(work, steps, AGENTS),
    hashMicros: (work, steps) => hashed(work, steps, AGENTS),
  },
  { name: 'fold only', note: 'the fold and the settling of the kind alone: no text, no checks, no digests', run: runFold },
];

export type SpeedRow = {
  readonly work: string;
  readonly state: string;
  readonly entrant: string;
  readonly perSecond: Spread;
  /** Over the baseline in the same repetition. */
  readonly ratio: Spread;
  readonly gateMicros: Spread | undefined;
  readonly sealMicros: Spread | undefined;
  /** Measured once, apart: no seal with these digests is quicker. */
  readonly hashMicros: number | undefined;
};

/** Measures every row `repeats` times, entrants forwards and backwards in turn, after one short run of each. `collect` is called before each. */
export function measureSpeed(
  works: readonly Work[],
  { steps, repeats, collect }: { readonly steps: number; readonly repeats: number; readonly collect: () => void },
): readonly SpeedRow[] {
  for (const work of works) for (const entrant of ENTRANTS) entrant.run(work, Math.ceil(steps / 5));
  return works.flatMap((work) => {
    const timings = new Map<string, Timing[]>(ENTRANTS.map(({ name }) => [name, []]));
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      for (const entrant of repeat % 2 === 0 ? ENTRANTS : ENTRANTS.toReversed()) {
        collect();
        timings.get(entrant.name)?.push(entrant.run(work, steps));
      }
    }
    return rowsOf(work, steps, timings);
  });
}

function rowsOf(work: Work, steps: number, timings: ReadonlyMap<string, readonly Timing[]>): readonly SpeedRow[] {
  const baseline = (timings.get(BASELINE) ?? []).map(({ perSecond }) => perSecond);
  return ENTRANTS.map(({ name, hashMicros }) => {
    const all = timings.get(name) ?? [];
    const perSecond = all.map((timing) => timing.perSecond);
    return {
      work: work.name,
      state: work.state,
      entrant: name,
      perSecond: spreadOf(perSecond),
      ratio: spreadOf(ratiosOf(perSecond, baseline)),
      gateMicros: spreadIfAny(all.flatMap(({ gateMicros }) => gateMicros ?? [])),
      sealMicros: spreadIfAny(all.flatMap(({ sealMicros }) => sealMicros ?? [])),
      hashMicros: hashMicros?.(work, steps),
    };
  });
}

function spreadIfAny(values: readonly number[]): Spread | undefined {
  return values.length === 0 ? undefined : spreadOf(values);
}

function runYjs(work: Work, steps: number): Timing {
  const peer = work.yjs(new Y.Doc(), steps);
  peer.open?.();
  return timed(peer, 0, steps);
}

function runReceived(work: Work, steps: number): Timing {
  const sender = new Y.Doc();
  const peer = work.yjs(sender, steps);
  const receiver = new Y.Doc();
  const reader = work.yjs(receiver, steps);
  peer.open?.();
  Y.applyUpdate(receiver, Y.encodeStateAsUpdate(sender));
  const updates: Uint8Array[] = [];
  sender.on('update', (update: Uint8Array) => updates.push(update));
  for (let i = 0; i < steps; i += 1) peer.step(i);
  return timed({ step: (i) => Y.applyUpdate(receiver, updates[i] as Uint8Array), json: reader.json }, 0, steps);
}

function runAutomerge(work: Work, steps: number): Timing {
  const count = Math.min(steps, AUTOMERGE_STEPS_MAX);
  const from = (steps - count) >> 1;
  return timed(work.automerge(steps, from), from, count);
}

function timed(peer: Peer, from: number, count: number): Timing {
  const start = performance.now();
  for (let i = from; i < from + count; i += 1) peer.step(i);
  const ms = performance.now() - start;
  return { perSecond: (count * 1000) / ms, json: peer.json() };
}

function driven(work: Work, steps: number, roundSize: number): Timing {
  const drive = driveOf(work, steps, sha256);
  const { gateMs, sealMs } = driveAll(drive, work, steps, roundSize);
  return {
    perSecond: (steps * 1000) / (gateMs + sealMs),
    gateMicros: (gateMs * 1000) / steps,
    sealMicros: (sealMs * 1000) / steps,
    json: stateJson(drive.space)['f'] as Json,
  };
}

function hashed(work: Work, steps: number, roundSize: number): number {
  const texts: string[] = [];
  const drive = driveOf(work, steps, (text) => {
    texts.push(text);
    return sha256(text);
  });
  texts.length = 0;
  driveAll(drive, work, steps, roundSize);
  const start = performance.now();
  for (const text of texts) sha256(text);
  return ((performance.now() - start) * 1000) / steps;
}

/** A space with what stands before the first step. */
function driveOf(work: Work, steps: number, hash: Sha256): Drive {
  const schema = loadState({ name: 'row', version: 1, fields: { f: work.field(steps) } }, hash);
  const drive = openDrive(schema, AGENTS);
  for (const intent of work.opening?.(steps) ?? []) drive.round([{ agent: 0, patch: { f: intent } }]);
  return drive;
}

function driveAll(
  drive: Drive,
  work: Work,
  steps: number,
  roundSize: number,
): { readonly gateMs: number; readonly sealMs: number } {
  let [gateMs, sealMs] = [0, 0];
  for (let from = 0; from < steps; from += roundSize) {
    const asks: Ask[] = [];
    for (let i = from; i < Math.min(steps, from + roundSize); i += 1)
      asks.push({ agent: i % AGENTS, patch: { f: work.intent(i) } });
    const round = drive.round(asks);
    gateMs += round.gateMs;
    sealMs += round.sealMs;
    invariant(
      round.sealed.decided.every(({ verdict }) => verdict.kind === 'committed'),
      'steps that do not meet are committed',
    );
  }
  return { gateMs, sealMs };
}

function runFold(work: Work, steps: number): Timing {
  const kind: FieldKind = work.field(steps);
  const opening = work.opening?.(steps) ?? [];
  const intents = [...opening, ...Array.from({ length: steps }, (_, i) => work.intent(i))];
  const ops = intents.map((intent) => {
    const op = kind.read(intent, '/f', () => invariant(false, 'the bench speaks correctly'));
    invariant(op !== undefined, 'the bench speaks correctly');
    return op;
  });
  const attempts = ops.map((_, i) => attemptOf(i + 1));
  let cell = kind.empty(undefined);
  const foldAll = (from: number, to: number): void => {
    for (let i = from; i < to; i += 1) {
      cell = kind.fold(cell, ops[i], '/f', attempts[i] as Attempt);
      cell = kind.settle?.(cell, '/f', { evict: () => undefined, spill: (_, text) => sha256(text) }) ?? cell;
    }
  };
  foldAll(0, opening.length);
  const start = performance.now();
  foldAll(opening.length, ops.length);
  const ms = performance.now() - start;
  return { perSecond: (steps * 1000) / ms, json: kind.json(cell) };
}

/** An attempt that may do all and has seen all: the n-th proposal of one agent, sealed alone. */
function attemptOf(n: number): Attempt {
  return {
    agent: 'w0',
    role: 'agent',
    mark: { agent: 'w0', n, revision: n },
    stamp: stampOf({ revision: n - 1, priority: 0, agent: 'w0', n }),
    turn: 0,
    base: n - 1,
    horizon: 0,
    sees: () => true,
    sawAll: () => true,
    mayWrite: () => true,
    touch: () => undefined,
    refuse: () => invariant(false, 'nothing is refused'),
    note: () => undefined,
  };
}
