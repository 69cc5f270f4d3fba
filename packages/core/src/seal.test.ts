import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { SystemEvent } from './entry.ts';
import { compareEvents } from './entry.ts';
import { counter } from './kinds/counter.ts';
import { log } from './kinds/log.ts';
import { lww } from './kinds/register.ts';
import type { Proposal } from './proposal.ts';
import { isDue, seal } from './seal.ts';
import type { Space } from './space.ts';
import { stateJson, unbornSpace, valuesDigest, vectorOf } from './space.ts';
import { admittedOf, codesOf, shuffled, smallTeam } from './testing/index.ts';
import { trieAt } from './trie.ts';

const fields = { n: counter(), l: log(z.string().max(9), { keep: 9 }), x: lww(z.string().max(9)) };

function proposalOn(space: Space, agent: string, n: number, rest: Partial<Proposal> = {}): Proposal {
  return {
    kind: 'proposal',
    v: 1,
    space: 'example',
    agent,
    incarnation: 1,
    n,
    schema: space.schema.id,
    base: { revision: space.revision },
    patch: { n: { inc: 1 } },
    ...rest,
  };
}

function sealed(space: Space, ...proposals: readonly Proposal[]): ReturnType<typeof seal> {
  return seal(space, { term: 1, events: [], proposals: proposals.map((proposal) => admittedOf(proposal)) });
}

describe('seal', () => {
  test('[SEAL1] an older reader comes before a fresher one, then priority, then spin', () => {
    const team = smallTeam({ fields, roles: { lead: { priority: 1 }, agent: { priority: 0 } } }, ['a', 'b', 'boss:lead']);
    team.ask('a', { n: { inc: 1 } });
    const { decided } = sealed(
      team.space,
      proposalOn(team.space, 'boss', 1),
      proposalOn(team.space, 'b', 1),
      proposalOn(team.space, 'a', 2, { base: { revision: 0 } }),
    );
    expect(decided.map(({ admitted }) => admitted.proposal.agent)).toEqual(['a', 'boss', 'b']);
  });

  test('[SEAL2] the proposals of one agent keep their order, whatever views they name, and in whatever order they come', () => {
    const team = smallTeam({ fields });
    for (let i = 0; i < 4; i += 1) team.ask('b', { n: { inc: 1 } });
    const mine = [4, 2, 0, 3].map((revision, i) =>
      admittedOf(
        proposalOn(team.space, 'a', i + 1, {
          base: { revision },
          patch: { l: { append: [String(i + 1)] }, x: { set: String(i + 1) } },
        }),
      ),
    );
    for (let seed = 0; seed < 6; seed += 1) {
      const { decided, space } = seal(team.space, { term: 1, events: [], proposals: shuffled(mine, seed) });
      expect(decided.map(({ admitted }) => admitted.proposal.n)).toEqual([1, 2, 3, 4]);
      expect(stateJson(space)).toMatchObject({ l: ['1', '2', '3', '4'], x: '4' });
    }
  });

  test('[SEAL3] what is not due is left out of the entry: strangers, gaps, answered dots, other incarnations', () => {
    const team = smallTeam({ fields });
    team.ask('a', { n: { inc: 1 } });
    const before = team.space;
    const stale = [
      proposalOn(before, 'stranger', 1),
      proposalOn(before, 'a', 1),
      proposalOn(before, 'a', 3),
      proposalOn(before, 'b', 1, { incarnation: 2 }),
    ];
    const { decided, space } = sealed(before, ...stale, proposalOn(before, 'c', 1));
    expect(decided.map(({ admitted }) => admitted.proposal.agent)).toEqual(['c']);
    expect(Object.fromEntries(vectorOf(space))).toEqual({ a: 1, c: 1 });
  });

  test('[SEAL4] of two texts under one dot in one round the smaller text stands, and one under another incarnation does not count', () => {
    const team = smallTeam({ fields });
    const texts = ['b', 'a', 'c'].map((why) => admittedOf(proposalOn(team.space, 'a', 1, { why })));
    const foreign = admittedOf(proposalOn(team.space, 'a', 1, { incarnation: 7, action: { name: 'a', args: {} } }));
    for (let seed = 0; seed < 6; seed += 1) {
      const { decided } = seal(team.space, { term: 1, events: [], proposals: shuffled([...texts, foreign], seed) });
      expect(decided.map(({ admitted }) => admitted.proposal.why)).toEqual(['a']);
    }
  });

  test('[SEAL5] joins count before the proposals of their round and leaves after them; a leave of an older incarnation does nothing', () => {
    const team = smallTeam({ fields });
    const join: SystemEvent = { kind: 'join', agent: 'new', role: 'agent', session: 's' };
    const leave: SystemEvent = { kind: 'leave', agent: 'a', incarnation: 1 };
    const round = seal(team.space, {
      term: 1,
      events: [leave, join, join],
      proposals: [admittedOf(proposalOn(team.space, 'new', 1)), admittedOf(proposalOn(team.space, 'a', 1))],
    });
    expect(round.decided.map(({ verdict }) => verdict.kind)).toEqual(['committed', 'committed']);
    expect(round.events).toEqual([join, leave]);
    expect(sealed(round.space, proposalOn(round.space, 'a', 2)).decided).toEqual([]);
    expect(isDue(round.space, leave)).toBe(false);
    const again = seal(round.space, {
      term: 1,
      events: [leave, { kind: 'join', agent: 'a', role: 'agent', session: 'second' }],
      proposals: [],
    });
    expect(trieAt(again.space.agents, 'a')).toMatchObject({ incarnation: 2, isLive: true, n: 1 });
  });

  test('[SEAL5] events of one round have one order, whatever they say and however they come', () => {
    const team = smallTeam({ fields, roles: { agent: { priority: 0 }, lead: { priority: 1 } } });
    const events: SystemEvent[] = [
      { kind: 'join', agent: 'n', role: 'agent', session: 's' },
      { kind: 'join', agent: 'n', role: 'lead', session: 's' },
      { kind: 'join', agent: 'n', role: 'agent', session: 't' },
      { kind: 'leave', agent: 'a', incarnation: 1 },
      { kind: 'leave', agent: 'b', incarnation: 1 },
    ];
    const texts = new Set(
      Array.from({ length: 20 }, (_, seed) => seal(team.space, { term: 1, events: shuffled(events, seed), proposals: [] }).text),
    );
    expect(texts.size).toBe(1);
    const born = new Set(
      Array.from({ length: 6 }, (_, seed) => {
        const births = ['x', 'y', 'z'].map((nonce): SystemEvent => ({ kind: 'genesis', schema: team.schema.digest, nonce }));
        return seal(unbornSpace('example', team.schema), { term: 1, events: shuffled(births, seed), proposals: [] }).text;
      }),
    );
    expect(born.size).toBe(1);
    expect([...born][0]?.match(/genesis/g)).toHaveLength(1);
  });

  test('[SEAL12] a round decides at most 4,096 proposals, the first in canonical order; the others stay due', () => {
    const team = smallTeam({ fields });
    const proposals = Array.from({ length: 4_100 }, (_, i) => {
      const agent = i < 10 ? 'b' : 'a';
      const n = i < 10 ? i + 1 : i - 9;
      const head = { kind: 'proposal', v: 1, space: 'example', agent, incarnation: 1, n, schema: team.schema.id } as const;
      return admittedOf({ ...head, base: { revision: 0 }, patch: {} });
    });
    const first = seal(team.space, { term: 1, events: [], proposals });
    expect(first.decided).toHaveLength(4_096);
    const second = seal(first.space, { term: 1, events: [], proposals });
    expect(second.decided).toHaveLength(4);
    const dots = [...first.decided, ...second.decided].map(({ admitted: { proposal } }) => `${proposal.agent} ${proposal.n}`);
    expect(new Set(dots).size).toBe(4_100);
    const shuffledRound = seal(team.space, { term: 1, events: [], proposals: shuffled(proposals, 7) });
    expect(shuffledRound.digest).toBe(first.digest);
  });

  test('[SEAL5] the order of events is total: none is before itself, and of two one is before the other', () => {
    const events: readonly SystemEvent[] = [
      { kind: 'genesis', schema: 's', nonce: 'n' },
      { kind: 'join', agent: 'a', role: 'agent', session: 's' },
      { kind: 'join', agent: 'a', role: 'lead', session: 's' },
      { kind: 'join', agent: 'b', role: 'agent', session: 'r' },
      { kind: 'expire', path: '/x', token: 1, cause: 'lease' },
      { kind: 'expire', path: '/x', token: 1, cause: 'left' },
      { kind: 'leave', agent: 'a', incarnation: 1 },
      { kind: 'leave', agent: 'a', incarnation: 2 },
    ];
    for (const [i, one] of events.entries())
      for (const [j, other] of events.entries()) expect(compareEvents(one, other)).toBe(Math.sign(i - j));
  });

  test('[SEAL6] a space begins with its genesis, once', () => {
    const team = smallTeam({ fields });
    expect(() => seal(unbornSpace('example', team.schema), { term: 1, events: [], proposals: [] })).toThrow(
      expect.objectContaining({ code: 'INVARIANT' }),
    );
    expect(isDue(team.space, { kind: 'genesis', schema: team.schema.digest, nonce: 'again' })).toBe(false);
    expect(isDue(unbornSpace('example', team.schema), { kind: 'genesis', schema: '0'.repeat(64), nonce: '' })).toBe(false);
  });

  test('[SEAL7] joins beyond agentsMax, in unknown roles or under odd names or sessions do nothing; a known name may always come back', () => {
    const team = smallTeam({ fields, agentsMax: 3 });
    const join = (agent: string, session = 's', role = 'agent'): SystemEvent => ({ kind: 'join', agent, role, session });
    expect(isDue(team.space, join('d'))).toBe(false);
    expect(isDue(team.space, join('a'))).toBe(true);
    expect(isDue(team.space, join('a', 'first'))).toBe(false);
    expect(isDue(team.space, join('a', 's', 'boss'))).toBe(false);
    expect(isDue(team.space, join('a', 'bad"session'))).toBe(false);
    for (const odd of ['Bad"Name', 'constructor', 'prototype']) expect(isDue(smallTeam({ fields }).space, join(odd))).toBe(false);
    expect(isDue(smallTeam({ fields }).space, join('constructors'))).toBe(true);
    const left = seal(team.space, { term: 1, events: [{ kind: 'leave', agent: 'a', incarnation: 1 }], proposals: [] });
    expect(isDue(left.space, join('d'))).toBe(false);
    expect(isDue(left.space, join('a'))).toBe(true);
  });

  test('[SEAL8] a re-join gives a new incarnation and keeps the count: no dot is ever used twice', () => {
    const team = smallTeam({ fields });
    team.ask('a', { n: { inc: 1 } });
    team.events({ kind: 'join', agent: 'a', role: 'agent', session: 'second' });
    const old = sealed(team.space, proposalOn(team.space, 'a', 2));
    expect(old.decided).toEqual([]);
    expect(sealed(team.space, proposalOn(team.space, 'a', 1, { incarnation: 2 })).decided).toEqual([]);
    expect(codesOf(team.ask('a', { n: { inc: 1 } }))).toEqual(['committed']);
    expect(trieAt(team.space.agents, 'a')).toMatchObject({ incarnation: 2, n: 2 });
  });

  test('[SEAL10] the digest of values does not tell what was refused on the way', () => {
    const [one, other] = [smallTeam({ fields }), smallTeam({ fields })];
    one.round({ agent: 'a', patch: { n: { inc: 1 } } }, { agent: 'b', patch: { nothing: 1 } });
    other.round({ agent: 'a', patch: { n: { inc: 1 } } });
    expect(valuesDigest(one.space)).toBe(valuesDigest(other.space));
    expect(one.space.state).not.toBe(other.space.state);
  });
});

test('[SEAL11] a base from the future is refused and wins nothing later, for no incarnation', () => {
  const team = smallTeam({ fields }, ['evil', 'good']);
  const claimed = sealed(team.space, proposalOn(team.space, 'evil', 1, { base: { revision: Number.MAX_SAFE_INTEGER } }));
  expect(claimed.decided.map(({ verdict }) => verdict.kind)).toEqual(['rejected']);
  const own = sealed(claimed.space, proposalOn(claimed.space, 'evil', 2, { patch: { x: { set: 'evil' } } }));
  const rejoin: SystemEvent = { kind: 'join', agent: 'evil', role: 'agent', session: 'again' };
  const { space } = seal(own.space, { term: 1, events: [rejoin], proposals: [] });
  const later = sealed(space, proposalOn(space, 'good', 1, { patch: { x: { set: 'good' } } }));
  expect(stateJson(later.space)['x']).toBe('good');
});
