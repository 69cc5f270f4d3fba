/**
 * `npm run bench:core`: the pure core alone, one thread, on the team board.
 *
 * Rounds of 64 proposals with 1 to 4 operations each; a seal sorts, judges on a copy, checks, settles, digests and writes the
 * entry. Beside it in the same run: the plain fold of the same operations into a mutable board, which checks and keeps nothing.
 */
import { parseArgs } from 'node:util';
import { canonical, loadState, stateJson } from '@oplus/core';
import type { Json } from '@oplus/core';
import { sha256 } from '@oplus/protocol';

import { fold, initialBoard, refusalOf, viewOf } from './board.ts';
import type { Patch } from './board.ts';
import { boardDefinition, boardViewOf, intentOf, openingPatches } from './contenders/oplus-board.ts';
import { openDrive } from './drive.ts';
import { heapMb } from './instruments.ts';
import { createPatchStream } from './workload.ts';

const WRITERS = 64;
/** Proposals are made and admitted in chunks of so many rounds, outside the measured time. */
const CHUNK_ROUNDS = 50;

const { values } = parseArgs({ options: { proposals: { type: 'string' }, json: { type: 'boolean' } } });
const proposalCount = Number(values.proposals ?? '400000');
const schema = loadState(boardDefinition, sha256);
const drive = openDrive(schema, WRITERS);
for (const patch of openingPatches()) drive.round([{ agent: 0, patch }]);
const streams = Array.from({ length: WRITERS }, (_, writer) => createPatchStream({ seed: 1, writer }));
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
    const patches = streams.map((stream) => stream.next(boardViewOf(drive.space)));
    const driven = drive.round(patches.map((patch, agent) => ({ agent, patch: intentOf(patch) })));
    gateMs += driven.gateMs;
    sealMs += driven.sealMs;
    const accepted: Patch[] = [];
    for (const { admitted: one, verdict } of driven.sealed.decided) {
      const writer = Number(one.proposal.agent.slice(1));
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
  if (heaps.length === 0 || done >= (heaps.length / 10) * proposalCount) heaps.push(Math.round(heapMb()));
}

const perSecond = (ms: number): number => Math.round((done / ms) * 1000);
const report = {
  ok: true,
  proposals: done,
  committed,
  operationsPerProposal: Math.round((operations / done) * 100) / 100,
  stateBytes: canonical(stateJson(drive.space) as Json).length,
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
