/**
 * What the tests know of `vote`.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { vote } from '../../kinds/vote.ts';
import type { SampleKind } from '../sample-kind.ts';

type VoteSpec = {
  readonly kind: 'vote';
  readonly options: readonly string[];
  readonly voters: number;
  readonly quorum: number | 'majority';
  readonly roster?: { readonly [role: string]: number };
};
type Ballots = { [agent: string]: { readonly option: string; readonly weight: number } };

export const voteSample: SampleKind<VoteSpec, { ballots: Ballots; decision: string | null }> = {
  kind: 'vote',
  simple: [
    { kind: 'vote', options: ['x', 'y'], voters: 4, quorum: 1 },
    { kind: 'vote', options: ['x', 'y'], voters: 3, quorum: 'majority' },
  ],
  random: (choice) => {
    const options = choice.of([
      ['x', 'y'],
      ['x', 'y', '10'],
    ]);
    const voters = 2 + choice.upTo(3);
    const roster = choice.of([undefined, { lead: 2, worker: 1 }, { lead: 1 }]);
    const quorum = roster?.lead === 2 ? 2 + choice.upTo(2) : choice.of<number | 'majority'>(['majority', 1, 2]);
    return { kind: 'vote', options, voters, quorum, ...(roster === undefined ? {} : { roster }) };
  },
  field: (spec) => vote(spec) as Field,
  intent: (spec, choice) =>
    choice.upTo(5) === 4
      ? { abstain: true }
      : { vote: choice.upTo(20) === 19 ? 'nobody' : choice.of(spec.options as readonly [string, ...string[]]) },
  own: () => ({ ballots: {}, decision: null }),
  fold: (trial, spec, cell, verbs, path) => {
    const { own } = cell;
    if (spec.roster !== undefined && !Object.hasOwn(spec.roster, trial.role)) return trial.refuse();
    const option = verbs['vote'] as string | undefined;
    if (option !== undefined && !spec.options.includes(option)) return trial.refuse();
    const before = own.ballots[trial.agent];
    // Roles do not change in a play, so neither does the weight of an agent.
    if (before?.option === option) return trial.note(path, 'unchanged');
    if (before === undefined && Object.keys(own.ballots).length >= spec.voters) return trial.refuse();
    if (option === undefined) delete own.ballots[trial.agent];
    else own.ballots[trial.agent] = { option, weight: spec.roster?.[trial.role] ?? 1 };
    if (own.decision !== null && own.decision !== option) trial.note(path, 'superseded');
    trial.change(cell);
  },
  settle: (spec, { own }) => {
    if (own.decision !== null) return;
    const quorum = spec.quorum === 'majority' ? spec.voters / 2 + 0.5 : spec.quorum;
    const enough = spec.options.filter((option) => weightOf(own.ballots, option) >= quorum);
    const winner = enough.find((option) =>
      spec.options.every((other) => other === option || weightOf(own.ballots, other) < weightOf(own.ballots, option)),
    );
    own.decision = winner ?? null;
  },
  json: (spec, { own }) => ({
    decision: own.decision,
    ballots: Object.fromEntries(Object.entries(own.ballots).map(([agent, { option }]) => [agent, option])),
    tally: Object.fromEntries(spec.options.map((option) => [option, weightOf(own.ballots, option)])),
  }),
  outside: (spec, json) => {
    const { decision, ballots, tally } = json as { decision: Json; ballots: JsonObject; tally: JsonObject };
    const cast = Object.values(ballots);
    if (cast.length > spec.voters) return `holds ${cast.length} ballots`;
    if (Object.keys(tally).toSorted().join() !== spec.options.toSorted().join()) return `tallies ${Object.keys(tally).join()}`;
    const isOption = (value: Json): boolean => spec.options.includes(value as string);
    return cast.every(isOption) && (decision === null || isOption(decision)) ? undefined : 'holds what is no option';
  },
  invisible: (_, leaf, rivals, json) => {
    const { agent } = leaf.proposal;
    if (rivals.some((rival) => rival.proposal.agent === agent)) return undefined;
    const { ballots } = json as { readonly ballots: JsonObject };
    return ballots[agent] === leaf.intent['vote'] ? undefined : 'the ballot is not there';
  },
};

function weightOf(ballots: Ballots, option: string): number {
  return Object.values(ballots).reduce((sum, ballot) => sum + (ballot.option === option ? ballot.weight : 0), 0);
}
