/**
 * The auditor of a simulated cluster: folds the log on its own and holds everything that anybody says against it.
 *
 * It knows nothing of rounds in flight or of who leads; it sees the stored records in order, and what is sent.
 */
import { canonical, emptyShard, foldRecord, trieAt } from '@oplus/core';
import type { Json, Shard, Space, StateSchema } from '@oplus/core';
import { readDownward } from '@oplus/protocol';

/** Something that must never happen. Its message is the story's end. */
export class Violation extends Error {
  override readonly name: string = 'Violation';
}

/** What has happened so far, to see that schedules reach what they are for. */
export type Tally = {
  readonly voids: number;
  readonly rejections: number;
  readonly repeatedVerdicts: number;
  readonly fencedSessions: number;
  readonly terms: number;
};

export type Auditor = {
  /** The shard after each record; the first is the one before any. */
  readonly prefixes: readonly Shard[];
  /** The newest state of the space. */
  space(): Space;
  /** Takes the next stored record. `writer` tells coordinators apart. */
  stored(body: string, writer: number): void;
  /** Takes a proposal that a worker sends, before anybody can answer it. */
  proposed(text: string): void;
  /** Takes a message to a worker. */
  said(body: string): void;
  /** Takes the commit that a worker was told of. */
  acknowledged(agent: string, n: number): void;
  /** Takes the end of a session that did not want to end. */
  fenced(agent: string, session: string): void;
  /** What a coordinator holds for acknowledged must be a prefix of the log. */
  held(shard: Shard): void;
  /** What only holds at the end. */
  finish(): void;
  tally(): Tally;
};

/** An auditor of one space. `birthOf` tells the order in which sessions were begun. */
export function auditor(name: string, schema: StateSchema, birthOf: (session: string) => number): Auditor {
  const prefixes: Shard[] = [emptyShard(new Map([[name, schema]]))];
  const verdicts = new Map<string, string>();
  const sessions = new Map<string, string>();
  const youngest = new Map<string, number>();
  const leaders = new Map<number, number>();
  const proposals = new Set<string>();
  const acknowledgements = new Set<string>();
  const told = new Set<string>();
  const tally = { voids: 0, rejections: 0, repeatedVerdicts: 0, fencedSessions: 0 };

  const last = (): Shard => prefixes.at(-1) as Shard;
  const space = (): Space => last().spaces.get(name) as Space;
  const demand = (holds: boolean, story: string): void => {
    if (!holds) throw new Violation(story);
  };

  return {
    prefixes,
    space,
    stored(body, writer) {
      const before = last();
      const folded = foldRecord(before, before.index + 1, body);
      prefixes.push(folded.shard);
      if (folded.kind === 'void') tally.voids += 1;
      if (folded.kind === 'void') return;
      const { term } = folded.shard;
      demand(
        (leaders.get(term) ?? writer) === writer,
        `coordinators ${leaders.get(term)} and ${writer} both wrote in term ${term}`,
      );
      leaders.set(term, writer);
      for (const { decided, events, space: after } of folded.sealed) {
        for (const { admitted, verdictText } of decided) {
          const { agent, n } = admitted.proposal;
          demand(proposals.has(admitted.text), `${agent} never said what the log holds as its proposal ${n}`);
          demand(!verdicts.has(`${agent} ${n}`), `the log decides ${agent} ${n} twice`);
          verdicts.set(`${agent} ${n}`, verdictText);
          if (verdictText.includes('"rejected"')) tally.rejections += 1;
        }
        for (const event of events) {
          if (event.kind !== 'join') continue;
          const birth = birthOf(event.session);
          demand(birth > (youngest.get(event.agent) ?? -1), `an old session of ${event.agent} took over from a younger one`);
          youngest.set(event.agent, birth);
          sessions.set(`${event.agent} ${incarnationOf(after, event.agent)}`, event.session);
        }
      }
    },
    proposed: (text) => void proposals.add(text),
    said(body) {
      const message = readDownward(body);
      if (message.kind === 'verdict') {
        const { agent, n, verdict } = message;
        const stands = verdicts.get(`${agent} ${n}`);
        demand(stands !== undefined, `${agent} ${n} is told a verdict that is not in the log`);
        demand(stands === canonical(verdict as unknown as Json), `${agent} ${n} is told another verdict than the log holds`);
        if (told.has(`${agent} ${n}`)) tally.repeatedVerdicts += 1;
        told.add(`${agent} ${n}`);
      } else if (message.kind === 'welcome') {
        const { agent, incarnation, session } = message;
        demand(
          sessions.get(`${agent} ${incarnation}`) === session,
          `${agent} is welcomed as ${incarnation} without having joined`,
        );
      } else if (message.kind === 'left') {
        const { agent, incarnation } = message;
        demand(
          incarnationOf(space(), agent) > incarnation || trieAt(space().agents, agent)?.isLive === false,
          `${agent} is told that it has left, the log does not say so`,
        );
      }
    },
    acknowledged: (agent, n) => void acknowledgements.add(`${agent} ${n}`),
    fenced(agent, session) {
      tally.fencedSessions += 1;
      const record = trieAt(space().agents, agent);
      demand(
        record !== undefined && record.session !== session && birthOf(record.session) > birthOf(session),
        `the session ${session} of ${agent} was ended for no reason`,
      );
    },
    held(shard) {
      demand(prefixes[shard.index]?.head === shard.head, `a coordinator holds another history at record ${shard.index}`);
    },
    finish() {
      for (const dot of acknowledgements)
        demand(verdicts.get(dot)?.includes('"committed"') === true, `the acknowledged commit ${dot} is not in the log`);
    },
    tally: () => ({ ...tally, terms: leaders.size }),
  };
}

function incarnationOf(space: Space, agent: string): number {
  return trieAt(space.agents, agent)?.incarnation ?? 0;
}
