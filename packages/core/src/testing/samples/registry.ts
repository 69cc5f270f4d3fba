/**
 * The one list of sample kinds, and what is made of specs through it.
 *
 * A new kind is a file beside this one and a line at the end of `LATER`.
 */
import type { Field } from '../../field-kind.ts';
import type { Json } from '../../json.ts';
import type { Choice } from '../choice.ts';
import type { SampleKind } from '../sample-kind.ts';
import type { FieldSpec } from '../spec.ts';
import { claimSample } from './claim.ts';
import { counterSample, quotaSample } from './counters.ts';
import { maxSample, minSample } from './extrema.ts';
import { growSetSample } from './grow-set.ts';
import { escrowSample } from './escrow.ts';
import { groupSample } from './group.ts';
import { latticeSample } from './lattice.ts';
import { logSample } from './log.ts';
import { machineSample } from './machine.ts';
import { mapSample } from './map.ts';
import { multiSample } from './multi.ts';
import { ownedSample } from './owned.ts';
import { recordsSample } from './records.ts';
import { reduceSample } from './reduce.ts';
import { casSample, lwwSample, prioritySample } from './registers.ts';
import { removeWinsSample } from './remove-wins.ts';
import { setSample } from './set.ts';
import { textSample } from './text.ts';
import { voteSample } from './vote.ts';
import { topKSample } from './top-k.ts';

/** The kinds of the sample states that stored histories name by number: this list never changes, nor does its order. */
export const FIRST_KINDS: readonly SampleKind[] = [
  casSample,
  lwwSample,
  counterSample,
  maxSample,
  minSample,
  quotaSample,
  claimSample,
  machineSample,
  setSample,
  logSample,
  mapSample(kindOf),
  recordsSample(kindOf),
];

/** The kinds that came after. */
export const LATER_KINDS: readonly SampleKind[] = [
  topKSample,
  growSetSample,
  removeWinsSample,
  reduceSample,
  latticeSample,
  voteSample,
  escrowSample,
  textSample,
  prioritySample,
  multiSample,
  ownedSample,
  groupSample(kindOf),
];

export const SAMPLE_KINDS: readonly SampleKind[] = [...FIRST_KINDS, ...LATER_KINDS];

const byName: ReadonlyMap<string, SampleKind> = new Map(SAMPLE_KINDS.map((sample) => [sample.kind, sample]));

/** The sample kind of a spec. */
export function kindOf(spec: FieldSpec): SampleKind {
  const found = byName.get(spec.kind);
  if (found === undefined) throw new Error(`no sample kind has the name ${spec.kind}`);
  return found;
}

/** The real kind. */
export function fieldOf(spec: FieldSpec): Field {
  return kindOf(spec).field(spec);
}

/** What a patch may ask of such a field; about one in twenty is refused by its type or range. */
export function intentFrom(spec: FieldSpec, choice: Choice): Json {
  return kindOf(spec).intent(spec, choice);
}

/** A random spec of one of the kinds. Collections are twice as likely, and stop at depth 2. */
export function specFrom(choice: Choice, depth: number, kinds: readonly SampleKind[] = SAMPLE_KINDS): FieldSpec {
  const leaves = kinds.filter((sample) => sample.isCollection !== true);
  const collections = kinds.filter((sample) => sample.isCollection === true);
  const pool = depth < 2 ? [...leaves, ...collections.flatMap((sample) => [sample, sample])] : leaves;
  return choice.of(pool as [SampleKind]).random(choice, depth, (below) => specFrom(choice, below, kinds));
}
