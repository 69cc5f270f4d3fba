/**
 * The promises T1, T4, T7 and T8 as checks of a play. Each gives back what is broken in words, or `undefined`.
 *
 * `sealWith` is the seal under test; tests of the tests pass faulty ones.
 */
import type { Json } from '../json.ts';
import { canonical, utf8Bytes } from '../json.ts';
import type { Admitted } from '../proposal.ts';
import { fold, replay } from '../replay.ts';
import { seal } from '../seal.ts';
import type { Space } from '../space.ts';
import { decodeSpace, encodeSpace, stateJson } from '../space.ts';
import { shuffled } from './choice.ts';
import { admittedOf } from './histories.ts';
import type { Play } from './histories.ts';
import { gaugeIsInRange, gaugeStepsAreSmall } from './sample-state.ts';
import { kindOf } from './samples/registry.ts';

/** T1: each round again, in other orders, with duplicates, and with a second text under some dots. */
export function brokenConfluence(played: Play, seed: number, sealWith: typeof seal = seal): string | undefined {
  for (const [revision, round] of played.rounds.entries()) {
    const space = played.spaces[revision - 1];
    if (space === undefined) continue;
    const members = [...round.proposals, ...round.proposals.slice(0, seed % 3)];
    const again = sealWith(space, {
      term: 1,
      events: shuffled([...round.events, ...round.events], seed),
      proposals: shuffled(members, seed),
    });
    if (again.text !== round.sealed.text) return `round ${revision}: another order gives other bytes`;
    if ((seed + revision) % 4 !== 0) continue;
    const twofold = [...members, ...round.proposals.map(({ proposal }) => admittedOf({ ...proposal, why: 'another text' }))];
    const one = sealWith(space, { term: 1, events: round.events, proposals: shuffled(twofold, seed) });
    const other = sealWith(space, { term: 1, events: round.events, proposals: shuffled(twofold, seed + 1) });
    if (one.text !== other.text) return `round ${revision}: of two texts under one dot, arrival decides`;
  }
  return undefined;
}

/** T4: the log folds to the live state; a snapshot and the tail, read in any batches, fold to it too. */
export function brokenReplay(played: Play, seed: number): string | undefined {
  const { schema } = played.state;
  const texts = played.rounds.map((round) => round.sealed.text);
  const live = played.spaces.at(-1) as Space;
  const whole = replay(schema, live.name, texts);
  if (whole.head !== live.head || whole.state !== live.state) return 'the log folds to another state than the live one';
  const at = seed % played.spaces.length;
  let space = reread(played.spaces[at] as Space);
  for (const [i, text] of texts.slice(at + 1).entries()) {
    space = fold(space, text).space;
    if ((seed >> (i % 16)) % 2 === 1) space = reread(space);
  }
  if (space.head !== live.head || space.state !== live.state) return `a snapshot at ${at} and the tail fold to another state`;
  return canonical(stateJson(space)) === canonical(stateJson(live))
    ? undefined
    : `a snapshot at ${at} and the tail show other values`;
}

/** T7: bounds and rules hold at every revision; a refused proposal leaves no mark but its own record. */
export function brokenBounds(played: Play, sealWith: typeof seal = seal): string | undefined {
  for (const [revision, space] of played.spaces.entries()) {
    const json = stateJson(space);
    for (const [name, spec] of Object.entries(played.state.specs)) {
      const wrong = kindOf(spec).outside(spec, json[name] as Json);
      if (wrong !== undefined) return `revision ${revision}: ${name} ${wrong}`;
    }
    if (utf8Bytes(canonical(json)) > played.state.schema.bytesMax)
      return `revision ${revision}: the state is larger than its schema says`;
    if (played.state.hasGauge && !gaugeIsInRange(json)) return `revision ${revision}: an invariant does not hold`;
    const before = played.spaces[revision - 1];
    if (before === undefined) continue;
    const { decided } = (played.rounds[revision] as Play['rounds'][number]).sealed;
    if (played.state.hasGauge && decided.length === 1 && !gaugeStepsAreSmall(stateJson(before), json))
      return `revision ${revision}: a transition does not hold`;
    const wrong = marksOfRefused(played, revision, before, sealWith);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** T8: every dot has one verdict, however often and in whatever rounds it is sent again; re-sending changes no byte. */
export function brokenDedupe(played: Play, seed: number, sealWith: typeof seal = seal): string | undefined {
  const verdicts = new Map<string, string>();
  const earlier: Admitted[] = [];
  let space = played.spaces[0] as Space;
  for (const [revision, round] of played.rounds.entries()) {
    if (revision === 0) continue;
    earlier.push(...round.proposals);
    const resent = earlier.filter((_, i) => (seed >> (i % 24)) % 2 === 1);
    const sealed = sealWith(space, { term: 1, events: round.events, proposals: shuffled([...round.proposals, ...resent], seed) });
    if (sealed.text !== round.sealed.text) return `round ${revision}: re-sent proposals change the entry`;
    for (const { admitted, verdictText } of sealed.decided) {
      const dot = `${admitted.proposal.agent} ${admitted.proposal.n}`;
      if (verdicts.has(dot)) return `${dot} has two verdicts`;
      verdicts.set(dot, verdictText);
    }
    space = sealed.space;
  }
  return verdicts.size === earlier.length ? undefined : 'a proposal has no verdict';
}

function reread(space: Space): Space {
  return decodeSpace(space.schema, JSON.parse(encodeSpace(space)) as Json);
}

/** The same round with every refused proposal replaced by one that asks for nothing must leave the same cells. */
function marksOfRefused(played: Play, revision: number, before: Space, sealWith: typeof seal): string | undefined {
  const { sealed, events } = played.rounds[revision] as Play['rounds'][number];
  if (sealed.decided.every(({ verdict }) => verdict.kind === 'committed')) return undefined;
  const proposals = sealed.decided.map(({ admitted, verdict }) =>
    verdict.kind === 'committed' ? admitted : admittedOf({ ...admitted.proposal, patch: { nothing: { of: 'ours' } } }),
  );
  const again = sealWith(before, { term: 1, events, proposals });
  const isSame = again.space.digests.every((digest, i) => digest === sealed.space.digests[i]);
  return isSame ? undefined : `revision ${revision}: a refused proposal left a mark`;
}
