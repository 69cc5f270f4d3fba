/**
 * `vote`: one ballot an agent, and a decision that is taken once and stays.
 *
 * A ballot is the sender's own and its newest counts, so ballots merge in any order. The decision is taken at the seal after
 * which one option alone leads with the quorum; it is latched there, or a changed ballot would undo what others have already
 * acted on. Later ballots are still taken in, so that they do not depend on the cut into rounds, but change the decision no
 * more: who casts one that is not for it is told. Seals see a round as a whole, so nobody gains by being first inside one.
 * SPEC: VOT1-VOT8.
 */
import { z } from 'zod';
import { changed } from '../change.ts';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { affirmed, decodeMark, encodeMark } from '../dot.ts';
import type { Fault } from '../error.ts';
import { fieldFrom, refuseFaults } from '../fault.ts';
import type { Attempt, Complain, Field, FieldKind } from '../field-kind.ts';
import { checkOptions, COUNT, NAMES } from '../field-options.ts';
import { nullable, readOneVerb, strictObject, withoutNulls } from '../intent.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical, isJsonObject, sameJson, utf8Bytes } from '../json.ts';
import { malformed, outOfBounds, superseded } from '../refusal.ts';
import { isReservedKey, stringFault } from '../strict-json.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieDigest, trieEntries, trieSorted, trieWith, trieWithout } from '../trie.ts';
import type { JsonSchema } from '../value-type.ts';

/**
 * `voters` is the largest number of ballots. `quorum` is how much weight an option needs, or `majority`: more than half of
 * `voters`. `roster` names the roles that may vote, with the weight of their ballots; without it every role may, with 1.
 */
export type VoteOptions<O extends string> = {
  readonly options: readonly O[];
  readonly voters: number;
  readonly quorum: number | 'majority';
  readonly roster?: { readonly [role: string]: number };
};

/** `tally` holds the weight of every option, also of those that nobody voted for. */
export type VoteView<O extends string> = {
  readonly decision: O | null;
  readonly ballots: { readonly [agent: string]: O };
  readonly tally: { readonly [option in O]: number };
};

export type VoteIntent<O extends string> = { readonly vote: O } | { readonly abstain: true };

/** A decision by ballots. The quorum is one that the voters can make. */
export function vote<const O extends string>(given: VoteOptions<O>): Field<VoteView<O>, VoteIntent<O>> {
  return fieldFrom(() => voteOf(given));
}

function voteOf<O extends string>(given: VoteOptions<O>): FieldKind<Vote, VoteOp> {
  const rule = ruleOf(given);
  const { options, voters } = rule;
  const kind: FieldKind<Vote, VoteOp> = {
    name: 'vote',
    grade: {
      letter: 'B',
      why: `ballots do not depend on the cut (A) while no more than ${voters} vote; the decision is that of the first seal at which the rule held`,
    },
    bytesMax: bytesMaxOf(rule),
    verbs: VERBS,
    summary: `one ballot an agent for one of ${options.join(', ')}; decided once at ${rule.quorum}`,
    roles: Object.keys(given.roster ?? {}),
    empty: (born) => ({ ballots: emptyTrie(), tally: options.map(() => 0), decision: undefined, mark: born }),
    read: (intent, path, complain) => readVote(options, intent, path, complain),
    weigh: () => 1,
    erases: (op) => (op.option === undefined ? 1 : 0),
    fold: (cell, op, path, attempt) => fold(rule, cell, op, path, attempt),
    withoutEcho: (_, op) => op,
    write: (op) => (op.option === undefined ? { abstain: true } : { vote: op.option }),
    settle: (cell) => {
      const option = cell.decision === undefined ? leaderOf(rule, cell.tally) : undefined;
      return option === undefined ? cell : { ...cell, decision: { option, by: cell.mark?.agent ?? '' } };
    },
    newest: (cell) => cell.mark,
    view: (cell) => jsonOf(options, cell),
    json: (cell) => jsonOf(options, cell),
    encode: (cell) => {
      const ballots = trieSorted(cell.ballots).map(([agent, ballot]) => `${JSON.stringify(agent)}:${encodeBallot(ballot)}`);
      return `{"ballots":{${ballots.join()}},"decision":${encodeDecision(cell.decision)},"mark":${encodeMark(cell.mark)}}`;
    },
    decode: (stored) => decode(options, stored),
    digest: (cell, sha256) =>
      leafDigest(
        `["${trieDigest(cell.ballots, encodeBallot, sha256)}",${encodeDecision(cell.decision)},${encodeMark(cell.mark)}]`,
        sha256,
      ),
    valueSchema: () => valueSchemaOf(rule),
    assign: (cell, change, path, complain) => {
      const now = jsonOf(options, cell);
      const value = changed(now, change);
      if (!sameJson(now, value)) complain(path, malformed('vote', `A vote is cast, never set; use {vote: option}.`, value));
      return undefined;
    },
    samples: () => [...options.slice(0, 3).map((option) => ({ vote: option })), { abstain: true }],
    modelSchema: () => strictObject({ vote: { type: 'string', enum: options }, abstain: { type: 'boolean' } }),
    fromModel: (answer) => {
      const verbs = withoutNulls(answer);
      if (!isJsonObject(verbs) || verbs['abstain'] !== false) return verbs;
      const { abstain: _, ...rest } = verbs;
      return rest;
    },
    declaration: () => ({
      kind: 'vote',
      options,
      voters,
      quorum: rule.quorum,
      ...(given.roster === undefined ? {} : { roster: given.roster }),
    }),
  };
  return kind;
}

/** `weight` is that of the role in which the ballot was cast; `tally` is by index of the option, and a memo of the ballots. */
type Ballot = { readonly option: string; readonly weight: number };
type Vote = {
  readonly ballots: Trie<Ballot>;
  readonly tally: readonly number[];
  readonly decision: Decision | undefined;
  readonly mark: Mark | undefined;
};
/** `by` is the agent whose change was the newest at the seal that decided. */
type Decision = { readonly option: string; readonly by: string };
/** No option: the ballot is taken back. */
type VoteOp = { readonly option: string | undefined };

type VoteRule = {
  readonly options: readonly string[];
  readonly voters: number;
  readonly quorum: number;
  readonly roster: ReadonlyMap<string, number> | undefined;
};

const VERBS = ['vote', 'abstain'];
const OPTIONS_MAX = 64;

function ruleOf(given: VoteOptions<string>): VoteRule {
  checkOptions(
    'vote',
    "Use vote({ options: ['yes', 'no'], voters: 5, quorum: 'majority' }), with a roster if needed.",
    SHAPE,
    given,
  );
  const { options, voters, quorum, roster } = given;
  // In ascending order: refusals name the roles, and the digest of a definition does not cover the order of its keys.
  const weights = Object.entries(roster ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const heaviest = roster === undefined ? 1 : Math.max(0, ...weights.map(([, weight]) => weight));
  const needed = quorum === 'majority' ? Math.floor(voters / 2) + 1 : quorum;
  const isMade = Number.isSafeInteger(needed) && needed >= 1 && needed <= voters * heaviest;
  const isWeighted = weights.some(([, weight]) => weight !== 1);
  const odd = options.filter((option) => option === '' || isReservedKey(option) || stringFault(option) !== undefined);
  refuseFaults([
    ...(options.length <= OPTIONS_MAX && new Set(options).size === options.length
      ? []
      : [broken(`${options.length} options`, `Give 1 to ${OPTIONS_MAX} different options.`)]),
    ...odd.map((option) =>
      broken(`the option ${canonical(option)}`, 'An option is plain text that a message may hold as a key.'),
    ),
    ...(quorum === 'majority' && isWeighted
      ? [broken('a majority of weighted ballots', 'A majority counts heads; give the weight that decides: { quorum: 4 }.')]
      : []),
    ...(isMade && Number.isSafeInteger(voters * heaviest)
      ? []
      : [broken(`a quorum of ${needed}`, `${voters} ballots make 1 to ${voters * heaviest}.`)]),
  ]);
  return { options, voters, quorum: needed, roster: roster === undefined ? undefined : new Map(weights) };
}

const SHAPE = z.object({
  options: NAMES,
  voters: COUNT,
  quorum: z.union([z.literal('majority'), z.number()]),
  roster: z.record(z.string(), COUNT).optional(),
});

function broken(what: string, hint: string): Fault {
  return { path: '', rule: `vote: ${what}`, hint };
}

function readVote(options: readonly string[], intent: Json, path: string, complain: Complain): VoteOp | undefined {
  const read = readOneVerb(intent, 'vote', VERBS, path, complain);
  if (read === undefined) return undefined;
  if (read.verb === 'abstain' && read.value === true) return { option: undefined };
  if (read.verb === 'vote' && typeof read.value === 'string' && options.includes(read.value)) return { option: read.value };
  complain(path, malformed('vote', `The options are ${options.join(', ')}; abstain takes true.`, read.value));
  return undefined;
}

function fold(rule: VoteRule, cell: Vote, op: VoteOp, path: string, attempt: Attempt): Vote {
  const { agent, role } = attempt;
  if (rule.roster !== undefined && !attempt.mayWrite(path, { writers: [...rule.roster.keys()] })) return cell;
  const before = trieAt(cell.ballots, agent);
  const after = op.option === undefined ? undefined : { option: op.option, weight: rule.roster?.get(role) ?? 1 };
  if (before?.option === after?.option && before?.weight === after?.weight) {
    attempt.note(path, { kind: 'unchanged' });
    return cell;
  }
  if (before === undefined && cell.ballots.size >= rule.voters) {
    const hint = `All ${rule.voters} ballots are cast; one is free when somebody abstains.`;
    attempt.refuse(path, outOfBounds('vote', cell.ballots.size, { vote: op.option ?? null }, hint));
    return cell;
  }
  if (cell.decision !== undefined && cell.decision.option !== op.option)
    attempt.note(path, superseded(cell.decision.by, cell.decision.option));
  const tally = cell.tally.map((weight, i) => {
    const option = rule.options[i];
    return (
      weight - (before?.option === option ? (before?.weight ?? 0) : 0) + (after?.option === option ? (after?.weight ?? 0) : 0)
    );
  });
  const ballots = after === undefined ? trieWithout(cell.ballots, agent) : trieWith(cell.ballots, agent, after);
  return { ballots, tally, decision: cell.decision, mark: affirmed(cell.mark, attempt.mark) };
}

/** The option that alone has most weight, if that is enough. */
function leaderOf({ options, quorum }: VoteRule, tally: readonly number[]): string | undefined {
  const most = Math.max(...tally);
  const leaders = options.filter((_, i) => tally[i] === most);
  return most >= quorum && leaders.length === 1 ? leaders[0] : undefined;
}

function jsonOf(options: readonly string[], cell: Vote): JsonObject {
  return {
    decision: cell.decision?.option ?? null,
    ballots: Object.fromEntries(trieSorted(cell.ballots).map(([agent, { option }]) => [agent, option])),
    tally: Object.fromEntries(options.map((option, i) => [option, cell.tally[i] as number])),
  };
}

function valueSchemaOf({ options, voters }: VoteRule): JsonSchema {
  const option = { type: 'string', enum: options };
  return {
    type: 'object',
    properties: {
      decision: nullable(option),
      ballots: { type: 'object', additionalProperties: option, maxProperties: voters },
      tally: {
        type: 'object',
        properties: Object.fromEntries(options.map((one) => [one, { type: 'integer', minimum: 0 }])),
        required: options,
        additionalProperties: false,
      },
    },
    required: ['decision', 'ballots', 'tally'],
    additionalProperties: false,
  };
}

/** An agent's name has at most 32 characters, a weight at most 16. */
function bytesMaxOf({ options, voters }: VoteRule): number {
  const texts = options.map((option) => utf8Bytes(canonical(option)));
  const longest = Math.max(4, ...texts);
  const tally = texts.reduce((sum, text) => sum + text + 18, 0);
  return '{"ballots":{},"decision":,"tally":{}}'.length + voters * (36 + longest) + longest + tally;
}

/** `["yes",2]`: the option and its weight. */
function encodeBallot(ballot: Ballot): string {
  return `[${canonical(ballot.option)},${ballot.weight}]`;
}

/** `["yes","w1"]`, or null. */
function encodeDecision(decision: Decision | undefined): string {
  return decision === undefined ? 'null' : canonical([decision.option, decision.by]);
}

function decode(options: readonly string[], stored: Json): Vote {
  const cell = stored as JsonObject;
  let ballots = emptyTrie<Ballot>();
  for (const [agent, ballot] of Object.entries(cell['ballots'] as JsonObject)) {
    const [option, weight] = ballot as readonly [string, number];
    ballots = trieWith(ballots, agent, { option, weight });
  }
  const all = [...trieEntries(ballots)].map(([, ballot]) => ballot);
  const tally = options.map((option) => all.reduce((sum, ballot) => sum + (ballot.option === option ? ballot.weight : 0), 0));
  const [option, by] = (cell['decision'] ?? []) as readonly string[];
  const decision = option === undefined || by === undefined ? undefined : { option, by };
  return { ballots, tally, decision, mark: decodeMark(cell['mark']) };
}
