import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { claim } from './kinds/claim.ts';
import { counter, quota } from './kinds/counter.ts';
import { cas, lww } from './kinds/register.ts';
import { seal } from './seal.ts';
import { stateJson, unbornSpace } from './space.ts';
import type { Fields, StateDefinition, StateSchema } from './state-schema.ts';
import { loadState } from './state-schema.ts';
import { admittedOf, codesOf, histories, play, runsOf, sampleState, SAMPLE_STATES, sha256, smallTeam } from './testing/index.ts';
import type { SmallTeam } from './testing/index.ts';
import { fieldsApart, whatIf } from './what-if.ts';
import type { Courses, Difference } from './what-if.ts';

const text = z.string().max(20);
const FIELDS = { status: cas(text), notes: lww(text), budget: quota({ lo: 0, hi: 2, start: 0 }) };

function schemaOf(given: Partial<StateDefinition> & { readonly fields: Fields }): StateSchema {
  return loadState({ name: 'example', version: 1, ...given }, sha256);
}

function compared(team: SmallTeam, altered: StateSchema): { readonly differences: readonly Difference[]; readonly end: Courses } {
  const run = whatIf(team.schema, altered, team.log);
  const differences: Difference[] = [];
  for (;;) {
    const { done, value } = run.next();
    if (done === true) return { differences, end: value };
    differences.push(value);
  }
}

/** Two who write the status at once, and two who spend at once. */
function quarrel(): SmallTeam {
  const team = smallTeam({ fields: FIELDS });
  team.round(
    { agent: 'a', patch: { status: { set: 'red' } } },
    { agent: 'b', patch: { status: { set: 'blue' }, notes: { set: 'b' } } },
  );
  team.round({ agent: 'a', patch: { budget: { inc: 2 } } }, { agent: 'c', patch: { budget: { inc: 1 } } });
  return team;
}

describe('what if', () => {
  test('[WIF1] under its own definition a log gives what it gave', () => {
    fc.assert(
      fc.property(histories(), (history) => {
        const played = play(history);
        const { schema } = played.state;
        const run = whatIf(
          schema,
          schema,
          played.rounds.map(({ sealed }) => sealed.text),
        );
        const { done, value } = run.next();
        expect(done).toBe(true);
        const { was, would } = value as Courses;
        expect([was.state, would.state, would.head]).toEqual([played.spaces.at(-1)?.state, was.state, was.head]);
        expect(fieldsApart({ was, would })).toEqual([]);
      }),
      { numRuns: Math.min(500, runsOf()) },
    );
  });

  test('[WIF2] verdicts are those of the same rounds sealed under the other definition, whatever it is', () => {
    fc.assert(
      fc.property(histories(), fc.nat(SAMPLE_STATES - 1), (history, number) => {
        const played = play(history);
        const other = sampleState(number);
        const names = played.state.schema.names;
        const fields = Object.fromEntries(
          names.map((name, i) => [name, other.schema.kinds[i % other.schema.kinds.length] as never]),
        );
        const roles = { lead: { priority: 1 }, worker: { priority: 0 } };
        const altered = loadState({ name: 'altered', version: 1, fields, roles }, sha256);
        const texts = played.rounds.map(({ sealed }) => sealed.text);
        const differences = [...whatIf(played.state.schema, altered, texts)];
        let space = unbornSpace('space', altered);
        const expected: unknown[] = [];
        for (const [revision, { sealed, proposals, events }] of played.rounds.entries()) {
          if (revision === 0) {
            space = seal(space, {
              term: 1,
              events: sealed.events.map((event) => (event.kind === 'genesis' ? { ...event, schema: altered.digest } : event)),
              proposals: [],
            }).space;
            continue;
          }
          const again = seal(space, {
            term: 1,
            events,
            proposals: proposals.map(({ proposal }) => admittedOf({ ...proposal, schema: altered.id })),
          });
          space = again.space;
          for (const one of sealed.decided) {
            const { agent, n } = one.admitted.proposal;
            const would = again.decided.find(
              ({ admitted: { proposal } }) => proposal.agent === agent && proposal.n === n,
            )?.verdict;
            if (JSON.stringify(would) !== JSON.stringify(one.verdict)) expected.push({ revision, agent, n, would });
          }
        }
        expect(differences.map(({ revision, agent, n, would }) => ({ revision, agent, n, would }))).toEqual(expected);
      }),
      { numRuns: Math.min(300, runsOf()) },
    );
  });

  test('[WIF2] each proposal that would fare otherwise is told, with both verdicts and both states', () => {
    const team = quarrel();
    const { differences, end } = compared(team, schemaOf({ fields: { ...FIELDS, status: lww(text) } }));
    const loser = differences[0]?.agent as string;
    expect(differences).toMatchObject([
      { revision: 1, n: 1, was: { kind: 'rejected', issues: [{ code: 'conflict' }] }, would: { kind: 'committed' } },
    ]);
    expect(differences[0]?.proposal).toMatchObject({ agent: loser, schema: team.schema.id });
    expect(fieldsApart(end)).toEqual(loser === 'b' ? ['notes', 'status'] : ['status']);
    expect(stateJson(end.was)).toEqual(team.state);
    expect(stateJson(end.would)).toMatchObject({ status: loser === 'a' ? 'red' : 'blue', budget: team.state['budget'] });
  });

  test('[WIF2] caps and rules may be altered too', () => {
    const team = quarrel();
    const wider = compared(team, schemaOf({ fields: { ...FIELDS, budget: quota({ lo: 0, hi: 3, start: 0 }) } }));
    expect(wider.differences.map(({ was, would }) => [...codesOf(was), ...codesOf(would)])).toEqual([['bound', 'committed']]);
    expect(stateJson(wider.end.would)).toMatchObject({ budget: 3 });
    const frozen = schemaOf({
      fields: FIELDS,
      invariants: { quiet: { reads: ['status'], check: ({ after }) => after['status'] === undefined || 'nobody speaks' } },
    });
    const quiet = compared(team, frozen).differences;
    expect(quiet.map(({ would }) => codesOf(would))).toEqual([['invariant'], ['invariant']]);
    const other = compared(team, schemaOf({ fields: { ...FIELDS, status: counter(), more: counter() } }));
    expect(other.differences.every(({ would }) => codesOf(would).includes('schema'))).toBe(true);
  });

  test('[WIF3] a definition that lacks a field, or has no place for an agent, is USAGE', () => {
    const team = quarrel();
    const { status: _, ...rest } = FIELDS;
    expect(() => compared(team, schemaOf({ fields: rest }))).toThrow(
      expect.objectContaining({ code: 'USAGE', path: '/fields/status' }),
    );
    for (const less of [{ agentsMax: 1 }, { roles: { boss: { priority: 0 } } }])
      expect(() => compared(team, schemaOf({ fields: FIELDS, ...less }))).toThrow(
        expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('cannot join') as string }),
      );
  });

  test('[WIF4] a log that is damaged, or that folds to something else, is refused as by a replay', () => {
    const team = quarrel();
    const altered = schemaOf({ fields: { ...FIELDS, status: lww(text) } });
    const [first = '', second = ''] = team.log;
    const forged = second.replace(/"(?:red|blue)"/, '"teal"');
    expect(() => [...whatIf(team.schema, altered, [first, forged])]).toThrow(expect.objectContaining({ code: 'LOG_DIVERGED' }));
    expect(() => [...whatIf(team.schema, altered, [first, second.slice(1)])]).toThrow(
      expect.objectContaining({ code: 'LOG_DAMAGED' }),
    );
    expect([...whatIf(team.schema, altered, [])]).toEqual([]);
  });

  test('[WIF5] what the log says has run out ends where it still stands, and nothing else ends by time', () => {
    const team = smallTeam({ fields: { x: claim({ leaseMs: 100 }) } });
    team.ask('a', { x: { claim: true } });
    team.events({ kind: 'expire', path: '/x', token: 4096, cause: 'lease' });
    const longer = compared(team, schemaOf({ fields: { x: claim({ leaseMs: 999 }) } }));
    expect(stateJson(longer.end.would)).toEqual(team.state);
    const endless = compared(team, schemaOf({ fields: { x: claim() } }));
    expect(stateJson(endless.end.would)).toEqual({ x: { holder: 'a', last: null } });
    expect(fieldsApart(endless.end)).toEqual(['x']);
  });
});
