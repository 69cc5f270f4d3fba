/** What waits is bounded, and what is sealed fits a record. */
import { counter, loadState, OplusError, stateJson } from '@oplus/core';
import type { FieldKind } from '@oplus/core';
import { LOG_BODY_BYTES_MAX, sha256 } from '@oplus/protocol';
import { expect, test } from 'vitest';
import { Desk, hello, SCHEMA } from './testing/desk.ts';
import { AHEAD_MAX, NOTHING_WAITING, ROUND_MAX, takeRound, WAITING_CHARS_MAX, WAITING_MAX, withItem } from './waiting.ts';
import type { Waiting } from './waiting.ts';

const waitingOf = (desk: Desk): Waiting => desk.state.waiting.get('board') ?? NOTHING_WAITING;

/** An action that makes a proposal of about so many bytes. */
const bulky = (bytes: number): { readonly action: { readonly name: string; readonly args: { readonly data: string } } } => ({
  action: { name: 'keep', args: { data: 'x'.repeat(bytes) } },
});

test('[CO16] repetitions of one proposal take no room from others', () => {
  const desk = Desk.leading();
  const hands = Array.from({ length: 40 }, (_, i) => desk.join(`w${i}`));
  desk.join('zoe').propose(1);
  desk.turn();
  for (let i = 0; i < WAITING_MAX + 100; i += 1) hands[0]?.propose(1);
  for (const hand of hands) hand.propose(1);
  expect(waitingOf(desk).count).toBeLessThanOrEqual(WAITING_MAX);
  const told = new Set(desk.rest().map((message) => (message.kind === 'verdict' ? message.agent : message.kind)));
  expect(told.size).toBe(41);
});

test('[CO16] an agent that floods keeps its share, and the others are heard', () => {
  const desk = Desk.leading();
  const [mallory, ...others] = ['mallory', 'ann', 'bob', 'cy'].map((name) => desk.join(name));
  mallory?.propose(1);
  desk.turn();
  // Ever new bytes under the dots that it may use.
  for (let i = 0; i < WAITING_MAX + 10; i += 1) mallory?.propose(2 + (i % AHEAD_MAX), { done: { inc: i + 1 } });
  for (const hand of others) hand.propose(1);
  const { count } = waitingOf(desk);
  expect(count).toBeLessThanOrEqual(WAITING_MAX);
  const verdicts = desk.rest().filter((message) => message.kind === 'verdict');
  expect(
    verdicts
      .filter((message) => message.agent !== 'mallory')
      .map((message) => message.agent)
      .toSorted(),
  ).toEqual(['ann', 'bob', 'cy']);
  expect(waitingOf(desk)).toBe(NOTHING_WAITING);
});

test('[CO16] a crowd beyond the room is heard when it says it again', () => {
  const desk = Desk.leading();
  let waiting = NOTHING_WAITING;
  const text = desk.join('ann').write(1);
  const admitted = (agent: string): Parameters<typeof withItem>[1] => ({
    proposal: { agent, n: 1 } as never,
    text: text + agent,
  });
  for (let i = 0; i < WAITING_MAX; i += 1) waiting = withItem(waiting, admitted(`w${i}`));
  const full = withItem(waiting, admitted('late'));
  expect([full.count, full.isPacked]).toEqual([WAITING_MAX, true]);
  expect(withItem(full, admitted('later'))).toBe(full);
  const { rest } = takeRound(full, ROUND_MAX);
  expect([rest.count < WAITING_MAX, rest.isPacked]).toEqual([true, false]);
  expect(withItem(rest, admitted('later')).count).toBe(rest.count + 1);
});

test('[CO16] what waits is bounded in size too', () => {
  let waiting = NOTHING_WAITING;
  const text = 'x'.repeat(60_000);
  for (let i = 0; i < 1000; i += 1)
    waiting = withItem(waiting, { proposal: { agent: `w${i}`, n: 1 } as never, text: `${i}${text}` });
  expect(waiting.chars).toBeLessThan(WAITING_CHARS_MAX + 61_000);
});

test('[CO16] ever new hellos of one name keep one place', () => {
  const desk = Desk.leading();
  desk.join('zoe').propose(1);
  desk.turn();
  for (let i = 0; i < WAITING_MAX * 2; i += 1) desk.hear('ann', hello('ann', `s${i}`));
  expect(waitingOf(desk).count).toBeLessThanOrEqual(WAITING_MAX);
  expect(desk.rest().filter((message) => message.kind === 'welcome')).toHaveLength(1);
});

test('[CO16] a space where nothing waits is not kept', () => {
  const desk = Desk.leading({ spaces: ['board', 'other'] });
  const ann = desk.join('ann');
  ann.propose(1);
  ann.propose(1);
  desk.rest();
  expect(desk.state.waiting.size).toBe(0);
});

test('[CO17] many large proposals are cut into several rounds, and all are answered', () => {
  const desk = Desk.leading();
  const hands = Array.from({ length: 30 }, (_, i) => desk.join(`w${i}`));
  const before = desk.log.length;
  for (const hand of hands) hand.propose(1, { done: { inc: 1 } }, bulky(60_000));
  const verdicts = desk.rest();
  expect(verdicts).toHaveLength(30);
  expect(desk.log.length - before).toBeGreaterThan(4);
  for (const body of desk.log) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(LOG_BODY_BYTES_MAX);
  expect(new Desk({ log: desk.log }).state.shard.head).toBe(desk.state.shard.head);
});

test('[CO17] text that takes three bytes a character, and verdicts of many long issues, still fit', () => {
  const schema = loadState(
    {
      name: 'board',
      version: 1,
      fields: { done: counter() },
      invariants: {
        none: {
          reads: ['done'],
          check: ({ after }) =>
            after['done'] === 0 ||
            Array.from({ length: 40 }, (_, i) => ({ path: `/done/${i}`, hint: '長'.repeat(2000), have: '長'.repeat(2000) })),
        },
      },
    },
    sha256,
  );
  const desk = Desk.leading({ schema });
  const hands = Array.from({ length: 48 }, (_, i) => desk.join(`w${i}`));
  for (const hand of hands) hand.propose(1, { done: { inc: 1 } }, { why: '長'.repeat(160) });
  const verdicts = desk.rest();
  expect(verdicts.map((message) => message.kind === 'verdict' && message.verdict.kind)).toEqual(
    Array.from({ length: 48 }, () => 'rejected'),
  );
  expect(new Desk({ log: desk.log, schema }).state.shard.head).toBe(desk.state.shard.head);
});

test('[CO17] what does not fit even alone is refused, and nobody waits behind it', () => {
  const kind = counter();
  // A kind whose verdicts are larger than a record.
  const loud: FieldKind = {
    ...kind,
    fold(cell, op, path, attempt) {
      attempt.note(path, { kind: 'superseded', by: 'x', value: 'y'.repeat(LOG_BODY_BYTES_MAX) });
      return kind.fold(cell, op, path, attempt);
    },
  };
  const schema = loadState({ name: 'board', version: 1, fields: { done: counter(), loud } }, sha256);
  const desk = Desk.leading({ schema });
  const [ann, bob] = [desk.join('ann'), desk.join('bob')];
  ann.propose(1, { loud: { inc: 1 } });
  bob.propose(1);
  desk.hear('cy', hello('cy', 'cy-1', { schema: schema.id }));
  const told = desk.rest();
  expect(told.map(({ kind: one }) => one).toSorted()).toEqual(['refusal', 'verdict', 'welcome']);
  expect(told.find((message) => message.kind === 'refusal')).toMatchObject({ issues: [{ code: 'too_large', rule: 'record' }] });
  expect(stateJson(desk.space)).toEqual({ done: 1, loud: 0 });
});

test('[CO17] spaces share a record while there is room, and take turns when there is not', () => {
  const spaces = Array.from({ length: 6 }, (_, i) => `s${i}`);
  const desk = Desk.leading({ spaces });
  const propose = (space: string, n: number): void => {
    const { id: schema } = SCHEMA;
    for (let i = 0; i < 4; i += 1) {
      const base = { revision: 1 };
      desk.hear(
        `w${i}`,
        JSON.stringify({
          kind: 'proposal',
          v: 1,
          space,
          agent: `w${i}`,
          incarnation: 1,
          n,
          schema,
          base,
          patch: { done: { inc: 1 } },
          ...bulky(40_000),
        }),
      );
    }
  };
  for (const space of spaces) for (let i = 0; i < 4; i += 1) desk.hear(`w${i}`, hello(`w${i}`, `w${i}-1`, { space }));
  desk.rest();
  expect([...desk.state.shard.spaces.values()].map(({ revision }) => revision)).toEqual([1, 1, 1, 1, 1, 1]);
  // The busy ones never stop; the last one speaks once.
  for (const space of spaces) propose(space, 1);
  const served: string[] = [];
  desk.turn();
  for (let n = 2; n < 9; n += 1) {
    for (const message of desk.answer()) if (message.kind === 'verdict') served.push(message.space);
    for (const space of spaces.slice(0, 5)) propose(space, n);
  }
  expect(new Set(served.slice(0, 6 * 4)).has('s5')).toBe(true);
});

test('[CO25] a mistake in a field kind fails the step as a whole', () => {
  const broken: FieldKind = {
    ...counter(),
    fold() {
      throw new OplusError('INVARIANT', 'broken');
    },
  };
  const schema = loadState({ name: 'board', version: 1, fields: { broken } }, sha256);
  const desk = Desk.leading({ schema });
  const ann = desk.join('ann');
  ann.propose(1, { broken: { inc: 1 } });
  const { state } = desk;
  expect(() => desk.rest()).toThrow('broken');
  expect(desk.state).toBe(state);
});
