import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import * as Y from 'yjs';
import { text } from '@oplus/core';
import { codesOf, outcomesOf, runsOf, smallTeam } from '@oplus/core/testing';
import type { SmallTeam } from '@oplus/core/testing';

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 3_600_000 });

/** One edit: whose, whether its view is brought up to date first, and what it does where. */
type Step = {
  readonly who: number;
  readonly isFresh: boolean;
  readonly verb: number;
  readonly at: number;
  readonly length: number;
};
type History = { readonly size: number; readonly hasAppends: boolean; readonly rounds: readonly (readonly Step[])[] };

const AGENTS = ['ada', 'bob', 'cy'];
const SIZES = [0, 3, 12, 40, 3_000];

const steps: fc.Arbitrary<Step> = fc.record(
  { who: fc.nat(2), isFresh: fc.boolean(), verb: fc.nat(4), at: fc.nat(0xffff), length: fc.integer({ min: 1, max: 6 }) },
  { noNullPrototype: true },
);
const histories: fc.Arbitrary<History> = fc.record(
  {
    size: fc.constantFrom(...SIZES),
    hasAppends: fc.boolean(),
    rounds: fc.array(fc.uniqueArray(steps, { minLength: 1, maxLength: 3, selector: ({ who }) => who }), {
      minLength: 1,
      maxLength: 6,
    }),
  },
  { noNullPrototype: true },
);

/** No character comes twice in a history, so each quote stands once and each character tells where it came from. Some take two units. */
function charactersFrom(first: number, count: number): string {
  return Array.from({ length: count }, (_, i) =>
    String.fromCodePoint((first + i) % 5 === 0 ? 0x20000 + first + i : 0x4e00 + first + i),
  ).join('');
}

/** A replica of the text as one agent has it: all up to its view, and its own. */
class Replica {
  readonly document: Y.Doc = new Y.Doc({ guid: 'text' });
  readonly client: number;
  view = 0;

  constructor(client: number, start: Uint8Array) {
    this.client = client;
    Y.applyUpdate(this.document, start);
  }

  get text(): Y.Text {
    return this.document.getText('t');
  }

  /** The update of an edit made on a copy: it may be refused. The text goes in behind what it replaces, as it does here. */
  edit(from: number, to: number, put: string): Uint8Array {
    const copy = new Replica(this.client, Y.encodeStateAsUpdate(this.document));
    copy.document.clientID = this.client;
    const before = Y.encodeStateVector(copy.document);
    copy.document.transact(() => {
      if (put !== '') copy.text.insert(to, put);
      if (to > from) copy.text.delete(from, to - from);
    });
    return Y.encodeStateAsUpdate(copy.document, before);
  }
}

type Edit = {
  readonly agent: number;
  readonly find: string;
  readonly put: string;
  readonly base: number;
  readonly update: Uint8Array;
  readonly isAtEnd: boolean;
};
type Sealed = Edit & { readonly revision: number };

/** What a history came to in both, and whether two edits that had not seen each other put text in at the end. */
type Played = { readonly ours: string; readonly theirs: string; readonly meets: boolean; readonly refused: number };

function play({ size, hasAppends, rounds }: History): Played {
  const start = charactersFrom(0, size);
  const team: SmallTeam = smallTeam({ fields: { t: text({ charsMax: 100_000, start }) } }, AGENTS);
  const seed = new Y.Doc();
  seed.clientID = 9;
  seed.getText('t').insert(0, start);
  const first = Y.encodeStateAsUpdate(seed);
  const server = new Replica(99, first);
  const replicas = AGENTS.map((_, i) => new Replica(i + 1, first));
  const log: Sealed[] = [];
  let [used, refused] = [size, 0];
  for (const round of rounds) {
    const edits: Edit[] = [];
    for (const { who, isFresh, verb, at, length } of round) {
      const replica = replicas[who] as Replica;
      if (isFresh) {
        for (const { revision, update } of log) if (revision > replica.view) Y.applyUpdate(replica.document, update);
        replica.view = team.revision;
      }
      const seen = Array.from(replica.text.toString());
      const isAppend = hasAppends && verb === 0;
      if (!isAppend && seen.length === 0) continue;
      const from = isAppend ? seen.length : at % seen.length;
      const span = isAppend ? [] : seen.slice(from, from + length);
      const put = charactersFrom(used, verb === 1 ? 0 : length);
      used += length;
      const units = seen.slice(0, from).join('').length;
      const find = span.join('');
      const isAtEnd = from + span.length === seen.length;
      edits.push({ agent: who, find, put, base: replica.view, update: replica.edit(units, units + find.length, put), isAtEnd });
    }
    if (edits.length === 0) continue;
    const verdicts = team.round(
      ...edits.map(({ agent, find, put, base }) => ({
        agent: AGENTS[agent] as string,
        base,
        patch: { t: find === '' ? { append: put } : { replace: { find, with: put } } },
      })),
    );
    const order = team.log.at(-1) as string;
    const place = ({ agent }: Edit): number => order.indexOf(`"agent":"${AGENTS[agent] as string}"`);
    for (const edit of edits.toSorted((a, b) => place(a) - place(b))) {
      const verdict = verdicts[edits.indexOf(edit)];
      const isFree = server.text.toString().includes(edit.find);
      const isAgreed = log.some(({ find, put }) => find === edit.find && put === edit.put);
      // A span that stands whole is taken; one that does not is refused, unless the same was done to it.
      if (!hasMet(log)) {
        expect(codesOf(verdict)).toEqual([isFree || isAgreed ? 'committed' : 'conflict']);
        expect(outcomesOf(verdict)).toEqual(!isFree && isAgreed ? { '/t': 'unchanged' } : {});
      }
      if (verdict?.kind === 'committed') {
        Y.applyUpdate(server.document, edit.update);
        // Who agreed with a change that it had not seen has that change in its next view, not before.
        if (verdict.outcomes === undefined) Y.applyUpdate((replicas[edit.agent] as Replica).document, edit.update);
        log.push({ ...edit, revision: team.revision });
      } else refused += 1;
    }
  }
  return { ours: team.state['t'] as string, theirs: server.text.toString(), meets: hasMet(log), refused };
}

/** True when two edits that had not seen each other put text in at the end, one of them by an append. */
function hasMet(log: readonly Sealed[]): boolean {
  const atEnd = log.filter(({ isAtEnd }) => isAtEnd);
  return atEnd.some((a) =>
    atEnd.some((b) => a.agent !== b.agent && (a.find === '' || b.find === '') && a.revision > b.base && b.revision > a.base),
  );
}

describe('text beside Yjs', () => {
  test('[TXT1] [TXT3] it comes to the same text as Yjs, which takes what is taken here and nothing that is refused', () => {
    const runs = runsOf();
    let [exact, refused] = [0, 0];
    fc.assert(
      fc.property(histories, (history) => {
        const played = play(history);
        refused += played.refused;
        if (!played.meets) {
          exact += 1;
          expect(played.ours).toBe(played.theirs);
        } else expect(Array.from(played.ours).sort()).toEqual(Array.from(played.theirs).sort());
      }),
      { numRuns: runs },
    );
    // Where two put text in at the end, Yjs orders by client and here the stamps do: those are compared as sets of characters.
    expect(exact).toBeGreaterThan(runs * 0.6);
    expect(refused).toBeGreaterThan(runs / 10);
  });
});
