/** Leases: what ends by itself, and when the coordinator lets that into a round. */
import { claim, loadState, map, quota, readRecord, stateJson, timersOf } from '@oplus/core';
import type { JsonObject, StateSchema, SystemEvent } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { expect, test } from 'vitest';
import { TICK_MS_MIN } from './leases.ts';
import { Desk, hello, leave } from './testing/desk.ts';
import { NOTHING_WAITING, ROUND_CHARS_MAX, takeRound, withItem } from './waiting.ts';

const LEASE_MS = 400;
const TICK_MS = LEASE_MS / 4;
const CLAIM = { x: { claim: true } };

function schemaOf(fields: Parameters<typeof loadState>[0]['fields']): StateSchema {
  const roles = { agent: { priority: 0 } };
  return loadState({ name: 'board', version: 1, roles, fields }, sha256);
}

const SCHEMA = schemaOf({
  x: claim({ leaseMs: LEASE_MS }),
  plain: claim(),
  m: map(claim({ leaseMs: 10_000 }), { cap: 8 }),
  note: quota({ lo: 0, hi: 99, start: 0 }),
});

function leading(schema = SCHEMA): Desk {
  return Desk.leading({ schema });
}

/** The value of `x`, as agents see it. */
function heldBy(desk: Desk): unknown {
  return (stateJson(desk.space)['x'] as JsonObject)['holder'];
}

function eventsOf(desk: Desk, kind: SystemEvent['kind']): readonly SystemEvent[] {
  const records = desk.log.map((body, i) => readRecord(body, i + 1));
  return records
    .flatMap(({ entries }) => entries.flatMap(({ members }) => members.flatMap((one) => ('event' in one ? [one.event] : []))))
    .filter((event) => event.kind === kind);
}

test('[CO26] ticks are asked for where something may end by itself, a quarter of the shortest time apart, and nowhere else', () => {
  expect(Desk.leading().tickAtMs).toBe(undefined);
  expect(leading(schemaOf({ plain: claim() })).tickAtMs).toBe(undefined);
  for (const [schema, tickMs] of [
    [SCHEMA, TICK_MS],
    [schemaOf({ m: map(claim({ leaseMs: 60_000 }), { cap: 8 }) }), 15_000],
    [schemaOf({ x: claim({ leaseMs: 1 }) }), TICK_MS_MIN],
  ] as const) {
    const desk = leading(schema);
    expect(desk.tickAtMs).toBe(tickMs);
    desk.pass(tickMs);
    expect(desk.tickAtMs).toBe(2 * tickMs);
  }
});

test('[CO27] a lease ends once its time has passed since it was first seen, not earlier, and by an event in the log', () => {
  const desk = leading();
  desk.join('ann').propose(1, { ...CLAIM, plain: { claim: true } });
  desk.rest();
  const { revision } = desk.space;
  desk.pass(TICK_MS + LEASE_MS - 1);
  expect([heldBy(desk), desk.space.revision]).toEqual(['ann', revision]);
  desk.pass(TICK_MS);
  expect(eventsOf(desk, 'expire')).toEqual([{ kind: 'expire', path: '/x', token: revision * 4096, cause: 'lease' }]);
  expect(stateJson(desk.space)).toMatchObject({
    x: { holder: null, last: { holder: 'ann', how: 'expired', outcome: null } },
    plain: { holder: 'ann' },
  });
  const settled = desk.space.revision;
  desk.pass(10 * LEASE_MS);
  expect(desk.space.revision).toBe(settled);
});

test.each([
  ['committed', { note: { inc: 1 } }],
  ['rejected', { note: { inc: 1000 } }],
  ['a claim of its own', CLAIM],
] as const)('[CO28] whatever its holder proposes renews a lease: %s', (_, patch) => {
  const desk = leading();
  const [ann, bob] = [desk.join('ann'), desk.join('bob')];
  ann.propose(1, CLAIM);
  desk.rest();
  for (let n = 2; n < 8; n += 1) {
    desk.pass(LEASE_MS - TICK_MS);
    ann.propose(n, patch);
    bob.propose(n - 1, { note: { inc: 1 } });
    desk.rest();
  }
  expect([heldBy(desk), eventsOf(desk, 'expire')]).toEqual(['ann', []]);
  desk.pass(LEASE_MS + 2 * TICK_MS);
  expect(heldBy(desk)).toBe(null);
});

test('[CO28] a new session of its holder renews a lease, one that it took over from does not', () => {
  const desk = leading();
  const ann = desk.join('ann');
  ann.propose(1, CLAIM);
  desk.rest();
  desk.pass(TICK_MS + LEASE_MS - TICK_MS);
  desk.join('ann', 'ann-2', 1);
  desk.pass(LEASE_MS);
  expect(heldBy(desk)).toBe('ann');
  expect(ann.propose(2)).toMatchObject([{ kind: 'refusal', issues: [{ code: 'fenced' }] }]);
  desk.pass(TICK_MS);
  expect(heldBy(desk)).toBe(null);
});

test('[CO10][CO28][BUG 82] a stalled attempt that wakes after its successor took over neither renews, releases nor delivers', () => {
  const desk = leading();
  const stalled = desk.join('ann');
  stalled.propose(1, CLAIM);
  desk.rest();
  const heartbeat = stalled.write(2, {});
  const result = stalled.write(2, { note: { inc: 7 }, x: { release: { outcome: 'done' } } });
  const successor = desk.join('ann', 'ann-2', 1);
  successor.propose(2, { note: { inc: 1 } });
  desk.rest();
  const { revision } = desk.space;
  for (let i = 0; i < 3; i += 1) {
    desk.pass(TICK_MS);
    for (const late of [heartbeat, result, stalled.write(3, {})])
      expect(desk.hear('ann', late)).toMatchObject([{ kind: 'refusal', issues: [{ code: 'fenced' }] }]);
    expect(desk.rest()).toEqual([]);
  }
  expect([desk.space.revision, heldBy(desk), stateJson(desk.space)['note']]).toEqual([revision, 'ann', 1]);
  // The successor fell silent, and nothing that the other one said has made its lease longer.
  desk.pass(LEASE_MS - 2 * TICK_MS);
  expect(eventsOf(desk, 'expire')).toMatchObject([{ path: '/x', cause: 'lease' }]);
  expect(heldBy(desk)).toBe(null);
});

test('[CO27][BUG 82] a result that comes after its lease ended by an event of the log is refused, and who holds it now keeps it', () => {
  const desk = leading();
  const [ann, bob] = [desk.join('ann'), desk.join('bob')];
  ann.propose(1, CLAIM);
  desk.rest();
  const result = ann.write(2, { note: { inc: 7 }, x: { release: { outcome: 'done' } } });
  desk.pass(TICK_MS + LEASE_MS);
  expect(eventsOf(desk, 'expire')).toMatchObject([{ path: '/x', cause: 'lease' }]);
  bob.propose(1, CLAIM);
  desk.rest();
  desk.hear('ann', result);
  expect(desk.rest()).toMatchObject([{ kind: 'verdict', verdict: { kind: 'rejected', issues: [{ path: '/x', by: 'bob' }] } }]);
  expect([heldBy(desk), stateJson(desk.space)['note']]).toEqual(['bob', 0]);
});

test('[CO29] what its holder says while the expiry waits for the round keeps a lease', () => {
  const late = (say: (desk: Desk, propose: () => void) => void): Desk => {
    const desk = leading();
    const [ann, bob] = [desk.join('ann'), desk.join('bob')];
    ann.propose(1, CLAIM);
    desk.rest();
    desk.pass(TICK_MS + LEASE_MS - TICK_MS);
    bob.propose(1, { note: { inc: 1 } });
    desk.turn();
    say(desk, () => ann.propose(2, { note: { inc: 1 } }));
    while (desk.asked !== undefined) desk.answer();
    return desk;
  };
  expect(heldBy(late((desk) => desk.tick()))).toBe(null);
  const before = late((desk, propose) => {
    propose();
    desk.tick();
  });
  const after = late((desk, propose) => {
    desk.tick();
    propose();
  });
  for (const desk of [before, after]) expect([heldBy(desk), eventsOf(desk, 'expire')]).toEqual(['ann', []]);
});

test('[CO29] a holder whose word is in the record under way is not taken for silent', () => {
  const desk = leading();
  const ann = desk.join('ann');
  ann.propose(1, CLAIM);
  desk.rest();
  desk.pass(TICK_MS + LEASE_MS - TICK_MS);
  ann.propose(2, { note: { inc: 1 } });
  desk.turn();
  desk.tick();
  desk.rest();
  expect(heldBy(desk)).toBe('ann');
});

test('[CO30] who has left loses at once what it held, in the round after', () => {
  const desk = leading();
  const ann = desk.join('ann');
  ann.propose(1, { ...CLAIM, plain: { claim: true }, m: { at: { k: { claim: true } } } });
  desk.rest();
  ann.propose(2, { m: { at: { k: { release: { outcome: 'done' } } } } });
  desk.hear('ann', leave('ann', 1));
  desk.rest();
  expect(stateJson(desk.space)).toEqual({
    x: { holder: null, last: { holder: 'ann', how: 'left', outcome: null } },
    plain: { holder: 'ann', last: null },
    m: { k: { holder: null, last: { holder: 'ann', how: 'released', outcome: 'done' } } },
    note: 0,
  });
  const [expiry] = eventsOf(desk, 'expire');
  expect(expiry).toMatchObject({ path: '/x', cause: 'left' });
});

test('[CO30] what is handed to somebody who has left ends with the next tick; to a stranger, with its lease', () => {
  for (const [to, ms] of [
    ['bob', TICK_MS],
    ['nobody', TICK_MS + LEASE_MS],
  ] as const) {
    const desk = leading();
    const ann = desk.join('ann');
    desk.join('bob');
    desk.hear('bob', leave('bob', 1));
    desk.rest();
    ann.propose(1, CLAIM);
    ann.propose(2, { x: { handoff: { to } } });
    desk.rest();
    desk.pass(ms - 1);
    expect(heldBy(desk)).toBe(to);
    desk.pass(1);
    expect(heldBy(desk)).toBe(null);
  }
});

test('[CO31] after a take-over leases begin anew; who had left before it loses at once', () => {
  const first = leading();
  const ann = first.join('ann');
  ann.propose(1, CLAIM);
  first.join('bob').propose(1, { m: { at: { k: { claim: true } } } });
  first.rest();
  first.pass(LEASE_MS);
  first.hear('bob', leave('bob', 1));
  first.turn();
  first.answer();
  expect(eventsOf(first, 'expire')).toEqual([]);
  const second = Desk.leading({ schema: SCHEMA, log: first.log });
  expect(eventsOf(second, 'expire')).toMatchObject([{ path: '/m/k', cause: 'left' }]);
  second.pass(LEASE_MS - 1);
  expect(heldBy(second)).toBe('ann');
  second.pass(TICK_MS);
  expect(heldBy(second)).toBe(null);
});

test('[CO32] in barrier mode no time passes, and who has left loses what it held in the next round', () => {
  const desk = Desk.leading({ schema: SCHEMA, barrier: { agents: 2 } });
  for (const name of ['ann', 'bob']) desk.hear(name, hello(name, `${name}-1`, { schema: SCHEMA.id }));
  desk.rest();
  expect(desk.tickAtMs).toBe(undefined);
  const say = (agent: string, n: number, patch: JsonObject): unknown =>
    desk.hear(
      agent,
      JSON.stringify({
        kind: 'proposal',
        v: 1,
        space: desk.space.name,
        agent,
        incarnation: 1,
        n,
        schema: SCHEMA.id,
        base: { revision: desk.space.revision },
        patch,
      }),
    );
  say('ann', 1, CLAIM);
  say('bob', 1, { note: { inc: 1 } });
  desk.rest();
  expect(timersOf(desk.space)).toHaveLength(1);
  desk.hear('ann', leave('ann', 1));
  say('bob', 2, { note: { inc: 1 } });
  desk.rest();
  expect(heldBy(desk)).toBe('ann');
  say('bob', 3, { note: { inc: 1 } });
  desk.rest();
  expect(stateJson(desk.space)).toMatchObject({ x: { holder: null, last: { how: 'left' } }, note: 3 });
});

test('[CO33] an expiry that an invariant forbids stays due until the state allows it', () => {
  const schema = loadState(
    {
      name: 'board',
      version: 1,
      fields: { x: claim({ leaseMs: LEASE_MS }), note: quota({ lo: 0, hi: 99, start: 0 }) },
      invariants: {
        oddIsHeld: {
          reads: ['x', 'note'],
          check: ({ after }) => after.note % 2 === 0 || after.x.holder !== undefined || 'an odd note has a holder',
        },
      },
    },
    sha256,
  );
  const desk = leading(schema);
  const [ann, bob] = [desk.join('ann'), desk.join('bob')];
  ann.propose(1, { ...CLAIM, note: { inc: 1 } });
  desk.rest();
  const { revision } = desk.space;
  desk.pass(10 * LEASE_MS);
  expect([heldBy(desk), desk.space.revision]).toEqual(['ann', revision]);
  bob.propose(1, { note: { inc: 1 } });
  desk.rest();
  desk.pass(TICK_MS);
  expect(heldBy(desk)).toBe(null);
});

test('[CO17] many expiries at once are spread over rounds that fit', () => {
  const path = (i: number): string => `/m/${String(i).padStart(200, '~0')}`;
  let waits = NOTHING_WAITING;
  for (let i = 0; i < 1000; i += 1)
    waits = withItem(waits, { event: { kind: 'expire', path: path(i), token: 1, cause: 'lease' }, after: 0 });
  const { events, rest } = takeRound(waits, 1);
  const charsOf = (list: readonly { readonly event: SystemEvent }[]): number =>
    list.reduce((sum, { event }) => sum + (event.kind === 'expire' ? event.path.length : 0), 0);
  expect(charsOf(events)).toBeLessThanOrEqual(ROUND_CHARS_MAX);
  expect(charsOf(events)).toBeGreaterThan(ROUND_CHARS_MAX / 2);
  expect(events.length + rest.count).toBe(1000);
});
