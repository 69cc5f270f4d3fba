import { describe, expect, test } from 'vitest';
import { codesOf, loading, outcomesOf, smallTeam } from '../testing/index.ts';
import { map } from './map.ts';
import { vote } from './vote.ts';

const plain = vote({ options: ['red', 'blue'], voters: 3, quorum: 'majority' });

describe('vote', () => {
  test('[VOT1] an agent has one ballot, its own, and the newest counts', () => {
    const team = smallTeam({ fields: { x: vote({ options: ['red', 'blue'], voters: 3, quorum: 3 }) } });
    team.round(
      { agent: 'a', patch: { x: { vote: 'red' } } },
      { agent: 'b', patch: { x: { vote: 'red' } } },
      { agent: 'a', patch: { x: { vote: 'blue' } } },
    );
    expect(team.state).toEqual({ x: { decision: null, ballots: { a: 'blue', b: 'red' }, tally: { red: 1, blue: 1 } } });
    expect(outcomesOf(team.ask('a', { x: { vote: 'blue' } }))).toEqual({ '/x': 'unchanged' });
    for (const patch of [{ vote: 'green' }, { vote: ['red'] }, { abstain: false }, { vote: 'red', abstain: true }, { for: 'b' }])
      expect(codesOf(team.ask('a', { x: patch }))).toEqual(['schema']);
  });

  test('[VOT2] to abstain takes the own ballot back', () => {
    const team = smallTeam({ fields: { x: plain } });
    team.ask('a', { x: { vote: 'red' } });
    expect(outcomesOf(team.ask('b', { x: { abstain: true } }))).toEqual({ '/x': 'unchanged' });
    expect(outcomesOf(team.ask('a', { x: { abstain: true } }))).toEqual({});
    expect(team.state).toEqual({ x: { decision: null, ballots: {}, tally: { red: 0, blue: 0 } } });
  });

  test('[VOT3] the decision is taken at the seal after which one option alone leads with the quorum', () => {
    const team = smallTeam({ fields: { x: vote({ options: ['red', 'blue'], voters: 4, quorum: 1 }) } });
    // Both have the quorum and neither leads: it stays open, whoever came first inside the round.
    team.round({ agent: 'a', patch: { x: { vote: 'red' } } }, { agent: 'b', patch: { x: { vote: 'blue' } } });
    expect(team.state).toMatchObject({ x: { decision: null, tally: { red: 1, blue: 1 } } });
    team.ask('c', { x: { vote: 'blue' } });
    expect(team.state).toMatchObject({ x: { decision: 'blue', tally: { red: 1, blue: 2 } } });
  });

  test('[VOT3] a majority is more than half of the voters, not of those who voted', () => {
    const team = smallTeam({ fields: { x: plain, y: vote({ options: ['red', 'blue'], voters: 4, quorum: 'majority' }) } });
    for (const agent of ['a', 'b']) team.ask(agent, { x: { vote: 'red' }, y: { vote: 'red' } });
    expect(team.state).toMatchObject({ x: { decision: 'red' }, y: { decision: null } });
    team.ask('c', { y: { vote: 'red' } });
    expect(team.state).toMatchObject({ y: { decision: 'red' } });
  });

  test('[VOT4] the decision stays; later ballots are taken in, and who is not for it is told', () => {
    const team = smallTeam({ fields: { x: plain } });
    team.round({ agent: 'a', patch: { x: { vote: 'red' } } }, { agent: 'b', patch: { x: { vote: 'red' } } });
    const told = {
      kind: 'committed',
      outcomes: { '/x': { kind: 'superseded', by: expect.stringMatching(/^[ab]$/), value: 'red' } },
    };
    expect(team.ask('a', { x: { vote: 'blue' } })).toMatchObject(told);
    expect(team.ask('b', { x: { abstain: true } })).toMatchObject(told);
    expect(team.ask('c', { x: { vote: 'blue' } }, 0)).toMatchObject(told);
    expect(team.state).toEqual({ x: { decision: 'red', ballots: { a: 'blue', c: 'blue' }, tally: { red: 0, blue: 2 } } });
    expect(outcomesOf(team.ask('b', { x: { vote: 'red' } }))).toEqual({});
  });

  test('[VOT5] ballots beyond the voters are refused; one that is taken back makes room', () => {
    const team = smallTeam({ fields: { x: vote({ options: ['red'], voters: 2, quorum: 2 }) } });
    expect(codesOf(team.ask('a', { x: { vote: 'red' } }))).toEqual(['committed']);
    team.ask('b', { x: { vote: 'red' } });
    expect(team.ask('c', { x: { vote: 'red' } })).toMatchObject({ issues: [{ code: 'bound', rule: 'vote', have: 2 }] });
    team.ask('b', { x: { abstain: true } });
    expect(codesOf(team.ask('c', { x: { vote: 'red' } }))).toEqual(['committed']);
  });

  test('[VOT6] a roster says who votes and with what weight, the weight of the role at the time', () => {
    const fields = { x: vote({ options: ['red', 'blue'], voters: 3, quorum: 3, roster: { lead: 2, worker: 1 } }) };
    const roles = { lead: { priority: 1 }, worker: { priority: 0 }, guest: { priority: 0 } };
    const team = smallTeam({ fields, roles }, ['a:lead', 'b:worker', 'c:guest']);
    expect(team.ask('c', { x: { vote: 'red' } })).toMatchObject({ issues: [{ code: 'forbidden', want: 'lead, worker' }] });
    team.ask('a', { x: { vote: 'red' } });
    team.events({ kind: 'join', agent: 'a', role: 'worker', session: 'second' });
    expect(team.state).toMatchObject({ x: { decision: null, tally: { red: 2, blue: 0 } } });
    team.ask('b', { x: { vote: 'red' } });
    expect(team.state).toMatchObject({ x: { decision: 'red', tally: { red: 3, blue: 0 } } });
    expect(outcomesOf(team.ask('a', { x: { vote: 'red' } }))).toEqual({});
    expect(team.state).toMatchObject({ x: { decision: 'red', tally: { red: 2, blue: 0 } } });
  });

  test('[VOT6][SCH6] the order of a roster is in no refusal, as it is in no digest', () => {
    const roles = { lead: { priority: 1 }, worker: { priority: 0 }, guest: { priority: 0 } };
    const said = [
      { worker: 1, lead: 2 },
      { lead: 2, worker: 1 },
    ].map((roster) => {
      const fields = { x: vote({ options: ['red', 'blue'], voters: 3, quorum: 3, roster }) };
      const team = smallTeam({ fields, roles }, ['c:guest']);
      return [team.space.schema.digest, team.ask('c', { x: { vote: 'red' } })];
    });
    expect(said[1]).toEqual(said[0]);
    expect(said[0]).toMatchObject([{}, { issues: [{ want: 'lead, worker' }] }]);
  });

  test('[VOT7] a quorum that the voters cannot make, odd options and odd weights do not load', () => {
    const bad = (change: object) => loading(vote({ options: ['x', 'y'], voters: 3, quorum: 2, ...change }));
    expect(bad({})).not.toThrow();
    expect(bad({ quorum: 4 })).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID', hint: '3 ballots make 1 to 3.' }));
    expect(bad({ quorum: 6, roster: { agent: 2 } })).not.toThrow();
    for (const change of [
      { quorum: 0 },
      { quorum: 1.5 },
      { quorum: 7, roster: { agent: 2 } },
      { quorum: 'majority', roster: { agent: 2 } },
      { quorum: 1, roster: {} },
      { roster: { agent: 0 } },
      { voters: 0 },
      { voters: 2 ** 53 },
      { options: [] },
      { options: ['x', 'x'] },
      { options: ['__proto__'] },
      { options: [''] },
      { options: ['a\u0000'] },
      { options: Array.from({ length: 65 }, (_, i) => `o${i}`) },
    ])
      expect(bad(change), JSON.stringify(change)).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    const fields = { m: map(vote({ options: ['x'], voters: 3, quorum: 2, roster: { boss: 1 } }), { cap: 2 }) };
    expect(() => smallTeam({ fields })).toThrow('no role is called boss');
  });

  test('[VOT8] a vote is not set by a patch without verbs', () => {
    const said: string[] = [];
    const cell = plain.empty(undefined);
    const assign = (value: object): unknown =>
      plain.assign(cell, { kind: 'set', value: value as never }, '/x', (_, refusal) => said.push(refusal.hint));
    expect(assign({ decision: null, ballots: {}, tally: { red: 0, blue: 0 } })).toBeUndefined();
    expect(said).toEqual([]);
    expect(assign({ decision: 'red', ballots: {}, tally: { red: 0, blue: 0 } })).toBeUndefined();
    expect(said).toEqual(['A vote is cast, never set; use {vote: option}.']);
  });
});
