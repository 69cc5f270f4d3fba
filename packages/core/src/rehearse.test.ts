import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonical } from './json.ts';
import type { Json } from './json.ts';
import { counter, quota } from './kinds/counter.ts';
import { admit } from './proposal.ts';
import type { Admitted, Proposal } from './proposal.ts';
import { rehearse } from './rehearse.ts';
import { readEntry, replay } from './replay.ts';
import { seal } from './seal.ts';
import { encodeSpace, unbornSpace } from './space.ts';
import type { Space } from './space.ts';
import { admittedOf, histories, play, runsOf, smallTeam } from './testing/index.ts';

const dryOf = ({ proposal }: Admitted): Admitted => admittedOf({ ...proposal, dry: true });

describe('rehearsals', () => {
  test('[DRY1] a rehearsal gets the verdict that the proposal would get alone in the next round', () => {
    fc.assert(
      fc.property(histories(), (history) => {
        const played = play(history);
        for (const [revision, { proposals, events }] of played.rounds.entries()) {
          const space = played.spaces[revision - 1];
          if (space === undefined) continue;
          for (const admitted of proposals) {
            const alone = seal(space, { term: 1, events: [], proposals: [admitted] }).decided[0]?.verdict;
            expect(rehearse(space, dryOf(admitted))).toEqual(alone);
            expect(rehearse(space, admitted)).toEqual(alone);
          }
          if (proposals.length === 1 && events.length === 0)
            expect(rehearse(space, dryOf(proposals[0] as Admitted))).toEqual(played.rounds[revision]?.sealed.decided[0]?.verdict);
        }
      }),
      { numRuns: Math.min(1_000, runsOf()) },
    );
  });

  test('[DRY2] it leaves the space as it was, and its dot free', () => {
    const team = smallTeam({ fields: { n: counter(), q: quota({ lo: 0, hi: 2, start: 0 }) } });
    const before = encodeSpace(team.space);
    const one = proposalOf(team.space, { q: { inc: 2 } });
    expect(rehearse(team.space, dryOf(one))).toEqual({ kind: 'committed', revision: 1 });
    expect(rehearse(team.space, dryOf(proposalOf(team.space, { q: { inc: 3 } })))).toMatchObject({
      kind: 'rejected',
      issues: [{ code: 'bound' }],
    });
    expect(encodeSpace(team.space)).toBe(before);
    expect(team.ask('a', { n: { inc: 1 } })).toEqual({ kind: 'committed', revision: 1 });
  });

  test('[DRY3] who is not next, or not there, gets no verdict', () => {
    const team = smallTeam({ fields: { n: counter() } });
    const [{ proposal }] = [proposalOf(team.space, { n: { inc: 1 } })];
    for (const other of [{ n: 2 }, { incarnation: 2 }, { agent: 'z' }])
      expect(rehearse(team.space, dryOf(admittedOf({ ...proposal, ...other })))).toBe(undefined);
    team.events({ kind: 'leave', agent: 'a', incarnation: 1 });
    expect(rehearse(team.space, dryOf(admittedOf(proposal)))).toBe(undefined);
    expect(rehearse(unbornSpace('example', team.schema), admittedOf(proposal))).toBe(undefined);
  });

  test('[DRY4] the seal never admits one, and a log that holds one is not ours', () => {
    const team = smallTeam({ fields: { n: counter() } });
    const dry = dryOf(proposalOf(team.space, { n: { inc: 1 } }));
    const real = proposalOf(team.space, { n: { inc: 1 } });
    const round = { term: 1, events: [], proposals: [real] };
    expect(seal(team.space, { ...round, proposals: [dry, real, dry] }).text).toBe(seal(team.space, round).text);
    expect(seal(team.space, { ...round, proposals: [dry] }).decided).toEqual([]);
    const entry = readEntry(seal(team.space, round).text);
    const [member] = entry.members as unknown as readonly [Record<string, Json>];
    const forged = canonical({ ...entry, members: [{ ...member, proposal: dry.proposal }] } as unknown as Json);
    expect(() => replay(team.schema, 'example', [...team.log, forged])).toThrow(
      expect.objectContaining({ code: 'LOG_DIVERGED' }),
    );
  });

  test('[DRY4] only `true` makes one', () => {
    const { proposal } = proposalOf(smallTeam({ fields: { n: counter() } }).space, { n: { inc: 1 } });
    for (const dry of [false, 1, 'true', null]) {
      const gated = admit(JSON.stringify({ ...proposal, dry }), 'a');
      expect(gated).toMatchObject({ ok: false, issues: [{ path: '/dry', code: 'schema' }] });
    }
  });
});

function proposalOf(space: Space, patch: Proposal['patch']): Admitted {
  return admittedOf({
    kind: 'proposal',
    v: 1,
    space: space.name,
    agent: 'a',
    incarnation: 1,
    n: 1,
    schema: space.schema.id,
    base: { revision: space.revision },
    patch,
  });
}
