/**
 * `npm run bench:core`: the pure core alone, one thread, on the team board.
 *
 * Rounds of 64 proposals with 1 to 4 operations each; a seal sorts, judges on a copy, checks, settles, digests and writes the
 * entry. Beside it in the same run: the plain fold of the same operations into a mutable board, which checks and keeps nothing.
 */
import { parseArgs } from 'node:util';
import { admit, canonical, invariant, loadState, seal, stateJson, unbornSpace } from '@oplus/core';
import type { Admitted, Json, JsonObject, Space } from '@oplus/core';
import { sha256 } from '@oplus/protocol';

import { fold, initialBoard, refusalOf, viewOf } from './board.ts';
import type { Patch } from './board.ts';
import { boardDefinition, boardViewOf, intentOf, openingPatches } from './contenders/oplus-board.ts';
import { createPatchStream } from './workload.ts';

const WRITERS = 64;
/** Proposals are made and admitted in chunks of so many rounds, outside the measured time. */
const CHUNK_ROUNDS = 50;

const { values } = parseArgs({ options: { proposals: { type: 'string' }, json: { type: 'boolean' } } });
const proposalCount = Number(values.proposals ?? '400000');
const schema = loadState(boardDefinition, sha256);
const names = Array.from({ length: WRITERS }, (_, i) => `w${i}`);
const counts = names.map(() => 0);

let space = openBoard();
const streams = names.map((_, writer) => createPatchStream({ seed: 1, writer }));
const board = initialBoard();
const boardView = viewOf(board);

let sealMs = 0;
let gateMs = 0;
let foldMs = 0;
let done = 0;
let committed = 0;
let operations = 0;
const heaps: number[] = [];

while (done < proposalCount) {
  for (let round = 0; round < CHUNK_ROUNDS && done < proposalCount; round += 1) {
    const patches = streams.map((stream) => stream.next(boardViewOf(space)));
    const texts = patches.map((patch, i) => proposalText(i, intentOf(patch)));
    const gateStart = performance.now();
    const admitted = texts.map(admitText);
    const sealStart = performance.now();
    const sealed = seal(space, { term: 1, events: [], proposals: admitted });
    const sealEnd = performance.now();
    gateMs += sealStart - gateStart;
    sealMs += sealEnd - sealStart;
    space = sealed.space;
    invariant(sealed.decided.length === WRITERS, 'every proposal of a round is decided');
    const accepted: Patch[] = [];
    for (const { admitted: one, verdict } of sealed.decided) {
      const writer = names.indexOf(one.proposal.agent);
      const patch = patches[writer] as Patch;
      streams[writer]?.settle(patch, verdict.kind === 'committed');
      operations += patch.operations.length;
      if (verdict.kind === 'committed') accepted.push(patch);
    }
    committed += accepted.length;
    const foldStart = performance.now();
    for (const patch of accepted) if (refusalOf(boardView, patch) === undefined) fold(board, patch.operations);
    foldMs += performance.now() - foldStart;
    done += WRITERS;
  }
  if (heaps.length === 0 || done >= (heaps.length / 10) * proposalCount) heaps.push(heapMb());
}

const perSecond = (ms: number): number => Math.round((done / ms) * 1000);
const report = {
  ok: true,
  proposals: done,
  committed,
  operationsPerProposal: Math.round((operations / done) * 100) / 100,
  stateBytes: canonical(stateJson(space) as Json).length,
  sealsPerSecond: perSecond(sealMs),
  gatePerSecond: perSecond(gateMs),
  plainFoldPerSecond: perSecond(foldMs),
  sealMicroseconds: Math.round((sealMs / done) * 100_000) / 100,
  ratioToPlainFold: Math.round((foldMs / sealMs) * 10_000) / 10_000,
  heapMb: heaps,
};
if (values.json === true) process.stdout.write(`${JSON.stringify(report)}\n`);
else
  for (const [name, value] of Object.entries(report))
    process.stdout.write(`${name.padEnd(22)} ${Array.isArray(value) ? value.join(' ') : String(value)}\n`);

function openBoard(): Space {
  const born = seal(unbornSpace('board', schema), {
    term: 1,
    events: [{ kind: 'genesis', schema: schema.digest, nonce: 'bench' }],
    proposals: [],
  }).space;
  let opened = seal(born, {
    term: 1,
    events: names.map((agent) => ({ kind: 'join', agent, role: 'agent', session: `s-${agent}` }) as const),
    proposals: [],
  }).space;
  for (const patch of openingPatches()) {
    counts[0] = (counts[0] ?? 0) + 1;
    const text = canonical(envelope(opened, 'w0', counts[0], patch));
    opened = seal(opened, { term: 1, events: [], proposals: [admitText(text, 0)] }).space;
  }
  return opened;
}

function proposalText(writer: number, patch: JsonObject): string {
  counts[writer] = (counts[writer] ?? 0) + 1;
  return canonical(envelope(space, names[writer] as string, counts[writer], patch));
}

function envelope(on: Space, agent: string, n: number, patch: JsonObject): Json {
  return {
    kind: 'proposal',
    v: 1,
    space: 'board',
    agent,
    incarnation: 1,
    n,
    schema: schema.id,
    base: { revision: on.revision, digest: on.head.slice(0, 16) },
    patch,
  };
}

function admitText(text: string, writer: number): Admitted {
  const gated = admit(text, names[writer] as string);
  invariant(gated.ok, 'the bench speaks correctly');
  return gated.value;
}

function heapMb(): number {
  (globalThis as { gc?: () => void }).gc?.();
  return Math.round(process.memoryUsage().heapUsed / 1e6);
}
