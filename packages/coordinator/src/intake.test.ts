/** What a coordinator answers to each message, at once or with the next round. */
import { claim, counter, loadState, timersOf } from '@oplus/core';
import type { JsonObject } from '@oplus/core';
import { encodeMessage, sha256, tagOf } from '@oplus/protocol';
import { expect, test } from 'vitest';
import { Desk, Hand, hello, leave, pass, SCHEMA } from './testing/desk.ts';

test('[CO9] a decided proposal that is sent again gets its first verdict, byte for byte, from whoever leads', () => {
  const first = Desk.leading();
  const ann = first.join('ann');
  const text = ann.write(1, { budget: { inc: 99 } });
  first.hear('ann', text);
  const [verdict] = first.rest();
  expect(verdict).toMatchObject({ kind: 'verdict', n: 1, verdict: { kind: 'rejected' } });
  const second = Desk.leading({ log: first.log });
  for (const desk of [first, first, second, second]) {
    const length = desk.log.length;
    expect(desk.hear('ann', text)).toEqual([verdict]);
    desk.rest();
    expect(desk.log.length).toBe(length);
  }
});

test('[CO9][BUG 8] a proposal that arrives three times before its round is decided once', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  for (let i = 0; i < 3; i += 1) ann.propose(1);
  expect(desk.rest()).toMatchObject([{ kind: 'verdict', n: 1 }]);
  expect(desk.space.revision).toBe(2);
});

test('[CO9] the verdict of a session that was taken over is still told to it', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  const text = ann.write(1);
  desk.hear('ann', text);
  const [verdict] = desk.rest();
  desk.join('ann', 'ann-2', 1);
  expect(desk.hear('ann', text)).toEqual([verdict]);
  expect(ann.propose(2)).toMatchObject([{ kind: 'refusal', issues: [{ code: 'fenced' }] }]);
});

test('[CO10] dots that can have no verdict are refused with their reason, and leave no mark', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  for (const n of [1, 2]) {
    ann.propose(n);
    desk.rest();
  }
  const { state } = desk;
  const codeOf = (text: string): unknown =>
    desk.hear('ann', text).map((message) => (message.kind === 'refusal' ? message.issues.map(({ code }) => code) : message));
  expect(codeOf(ann.write(1))).toEqual([['replayed']]);
  expect(codeOf(ann.write(2, { done: { inc: 5 } }))).toEqual([['equivocation']]);
  expect(codeOf(ann.write(3 + 64))).toEqual([['gap']]);
  expect(codeOf(ann.write(3, {}, { incarnation: 2 }))).toEqual([['unknown_agent']]);
  expect(desk.state).toBe(state);
  expect(ann.propose(4)).toEqual([]);
  expect(desk.rest()).toMatchObject([{ kind: 'refusal', issues: [{ code: 'gap' }] }]);
  expect(desk.space.revision).toBe(state.shard.spaces.get('board')?.revision);
});

test('[CO10] an agent that never joined is unknown, one that has left is fenced', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  const text = ann.write(1);
  desk.hear('ann', leave('ann', 1));
  desk.rest();
  expect(desk.hear('ann', text)).toMatchObject([{ issues: [{ code: 'fenced' }] }]);
  expect(desk.hear('bob', text.replace('"ann"', '"bob"'))).toMatchObject([{ revision: 2, issues: [{ code: 'unknown_agent' }] }]);
});

test('[CO10] the next proposals of one agent may share a round, in any order of arrival', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  for (const n of [3, 1, 2]) expect(ann.propose(n)).toEqual([]);
  expect(desk.rest()).toMatchObject([{ n: 1 }, { n: 2 }, { n: 3 }]);
  expect(desk.space.revision).toBe(2);
});

test('[CO10][SURPRISE 7] a view of another history is refused, one that is merely too new is rejected in the log', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  const { revision } = desk.space;
  const foreign = ann.write(1, { done: { inc: 1 } }, { base: { revision, digest: 'f'.repeat(16) } });
  expect(desk.hear('ann', foreign)).toMatchObject([
    { kind: 'refusal', revision, issues: [{ path: '/base', code: 'unknown_base', recovery: 're-read' }] },
  ]);
  desk.hear('ann', ann.write(1, { done: { inc: 1 } }, { base: { revision: 99, digest: 'f'.repeat(16) } }));
  expect(desk.rest()).toMatchObject([{ kind: 'verdict', verdict: { kind: 'rejected', issues: [{ code: 'unknown_base' }] } }]);
});

test('[CO10] another definition, space or protocol version is refused or rejected by name', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  expect(desk.hear('ann', ann.write(1, {}, { space: 'other' }))).toMatchObject([
    { issues: [{ code: 'protocol', rule: 'space', recovery: 'stop' }] },
  ]);
  expect(desk.hear('ann', ann.write(1, {}, { v: 2 }))).toMatchObject([{ issues: [{ path: '/v', code: 'protocol' }] }]);
  desk.hear('ann', ann.write(1, { done: { inc: 1 } }, { schema: 'f'.repeat(16) }));
  expect(desk.rest()).toMatchObject([
    { kind: 'verdict', verdict: { kind: 'rejected', issues: [{ path: '/schema', code: 'protocol' }] } },
  ]);
});

test('[CO11] a refusal carries the tag of its message, and the revision where a newer one may think otherwise', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  const stateless = ['not json', ann.write(1, {}, { v: 2 }), hello('bob', 'bob-1')];
  for (const body of stateless) {
    const [refusal] = desk.hear('ann', body);
    expect(refusal).toMatchObject({ kind: 'refusal', of: tagOf(body) });
    expect(refusal).not.toHaveProperty('revision');
  }
  const body = ann.write(9, {}, { incarnation: 9 });
  expect(desk.hear('ann', body)).toMatchObject([{ kind: 'refusal', of: tagOf(body), revision: desk.space.revision }]);
});

test('[CO12] hello is answered once the join has landed; the same session again has the same identity', () => {
  const desk = Desk.leading();
  expect(desk.hear('ann', hello('ann', 'ann-1'))).toEqual([]);
  const welcome = { kind: 'welcome', session: 'ann-1', incarnation: 1, n: 0, revision: 1 };
  expect(desk.rest()).toMatchObject([welcome]);
  expect(desk.hear('ann', hello('ann', 'ann-1'))).toMatchObject([welcome]);
  expect(desk.rest()).toEqual([]);
});

test('[CO12] whoever comes after names the incarnation that it takes over from, and hears of the newest decided proposal', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  ann.propose(1);
  desk.rest();
  expect(desk.hear('ann', hello('ann', 'ann-2'))).toMatchObject([{ kind: 'welcome', session: 'ann-1', incarnation: 1 }]);
  expect(desk.rest()).toEqual([]);
  desk.hear('ann', hello('ann', 'ann-2', { after: 1 }));
  expect(desk.rest()).toMatchObject([
    { kind: 'welcome', session: 'ann-2', incarnation: 2, n: 1, verdict: { kind: 'committed' } },
  ]);
  expect(ann.propose(2)).toMatchObject([{ issues: [{ code: 'fenced' }] }]);
});

test('[CO12][BUG 82] a hello that arrives late, or in the round of its successor, takes nothing over', () => {
  const desk = Desk.leading();
  desk.hear('ann', hello('ann', 'ann-1'));
  desk.turn();
  desk.hear('ann', hello('ann', 'ann-0')); // waits while the join of ann-1 is under way
  expect(desk.rest()).toMatchObject([{ session: 'ann-1', incarnation: 1 }]);
  expect(desk.hear('ann', hello('ann', 'ann-0'))).toMatchObject([{ session: 'ann-1' }]);
  expect(desk.hear('ann', hello('ann', 'ann-0', { after: 7 }))).toEqual([]);
  expect(desk.rest()).toEqual([]);
});

test('[CO13] a hello that can never succeed is refused with its reason', () => {
  const small = loadState({ name: 'board', version: 1, agentsMax: 1, fields: { done: counter() } }, sha256);
  const desk = Desk.leading({ schema: small });
  const { id: schema } = small;
  desk.join('ann');
  const codeOf = (agent: string, other: object): unknown =>
    desk
      .hear(agent, hello(agent, `${agent}-9`, { schema, ...other }))
      .map((one) => (one.kind === 'refusal' ? one.issues[0]?.code : one.kind));
  expect(codeOf('bob', {})).toEqual(['full']);
  expect(codeOf('ann', { role: 'boss', after: 1 })).toEqual(['forbidden']);
  expect(codeOf('bob', { schema: SCHEMA.id })).toEqual(['protocol']);
  expect(codeOf('bob', { space: 'none' })).toEqual(['protocol']);
  expect(codeOf('bob', { session: 'Ä' })).toEqual(['schema']);
  desk.hear('ann', leave('ann', 1));
  desk.rest();
  expect(desk.hear('ann', hello('ann', 'ann-1', { schema }))).toMatchObject([{ issues: [{ code: 'fenced', rule: 'session' }] }]);
});

test('[CO14] leave is answered once it has landed, and again whenever it is repeated', () => {
  const desk = Desk.leading();
  desk.join('ann');
  const left = { kind: 'left', agent: 'ann', incarnation: 1 };
  expect(desk.hear('ann', leave('ann', 1))).toEqual([]);
  expect(desk.rest()).toMatchObject([left]);
  for (let i = 0; i < 3; i += 1) expect(desk.hear('ann', leave('ann', 1))).toMatchObject([left]);
  expect(desk.space.revision).toBe(2);
  desk.join('ann', 'ann-2', 1);
  expect(desk.hear('ann', leave('ann', 1))).toMatchObject([left]);
  expect(desk.rest()).toEqual([]);
});

test('[CO14] whoever has not seen an incarnation does not bid it farewell', () => {
  const desk = Desk.leading();
  expect(desk.hear('ann', leave('ann', 1))).toMatchObject([
    { kind: 'refusal', revision: 0, issues: [{ code: 'unknown_agent' }] },
  ]);
  desk.join('ann');
  expect(desk.hear('ann', leave('ann', 2))).toMatchObject([
    { kind: 'refusal', revision: 1, issues: [{ code: 'unknown_agent' }] },
  ]);
});

test('[CO15] a message speaks for its sender alone', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  const { state } = desk;
  for (const body of [ann.write(1), hello('ann', 'ann-2', { after: 1 }), leave('ann', 1), pass('ann', 1, 1)]) {
    expect(desk.hear('bob', body)).toMatchObject([{ kind: 'refusal', issues: [{ code: 'identity' }] }]);
    expect(desk.sent.at(-1)?.to).toBe('bob');
  }
  expect(desk.state).toBe(state);
});

test('[CO15] outside barrier mode a pass changes nothing, and before its birth a space is silent', () => {
  const desk = Desk.leading();
  desk.join('ann');
  const { state } = desk;
  expect(desk.hear('ann', pass('ann', 1, 1))).toEqual([]);
  expect(desk.state).toBe(state);
  const unborn = new Desk();
  const before = unborn.state;
  expect([
    ...unborn.hear('ann', hello('ann', 'ann-1')),
    ...unborn.hear('ann', encodeMessage({ kind: 'leave', v: 1, space: 'board', agent: 'ann', incarnation: 1 })),
  ]).toEqual([]);
  expect(unborn.state).toBe(before);
});

test('[CO34] a rehearsal is answered at once from the state in the log, and leaves no trace', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  const { state } = desk;
  const texts = [ann.write(1, { budget: { inc: 2 } }, { dry: true }), ann.write(1, { budget: { inc: 99 } }, { dry: true })];
  for (const text of [...texts, ...texts]) {
    expect(desk.hear('ann', text)).toMatchObject([
      {
        kind: 'rehearsal',
        of: tagOf(text),
        verdict: text === texts[0] ? { kind: 'committed', revision: 2 } : { kind: 'rejected', issues: [{ code: 'bound' }] },
      },
    ]);
  }
  expect(desk.state).toBe(state);
  expect(desk.rest()).toEqual([]);
  ann.propose(1, { budget: { inc: 3 } });
  expect(desk.hear('ann', texts[0] as string)).toMatchObject([{ kind: 'rehearsal', verdict: { kind: 'committed' } }]);
  expect(desk.rest()).toMatchObject([{ kind: 'verdict', n: 1, verdict: { kind: 'committed' } }]);
});

test('[CO34] a rehearsal that could have no verdict, or is on another history, is refused with its reason', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  ann.propose(1);
  desk.rest();
  const codeOf = (n: number, other: JsonObject = {}): unknown =>
    desk
      .hear('ann', ann.write(n, undefined, { dry: true, ...other }))
      .map((message) => ('issues' in message ? message.issues[0]?.code : message));
  expect(codeOf(1)).toEqual(['equivocation']);
  expect(codeOf(3)).toEqual(['gap']);
  expect(codeOf(2, { incarnation: 2 })).toEqual(['unknown_agent']);
  expect(codeOf(2, { base: { revision: 1, digest: '0123456789abcdef' } })).toEqual(['unknown_base']);
});

test('[CO34] a rehearsal does not speak for its agent in barrier mode, nor for a holder whose lease runs out', () => {
  const desk = Desk.leading({ barrier: { agents: 1 } });
  desk.hear('ann', hello('ann', 'ann-1'));
  desk.rest();
  desk.join('bob');
  const ann = new Hand(desk, 'ann', 1);
  const bob = new Hand(desk, 'bob', 1);
  const { revision } = desk.space;
  bob.propose(1);
  ann.propose(1, undefined, { dry: true });
  desk.rest();
  expect(desk.space.revision).toBe(revision);
  ann.propose(1);
  desk.rest();
  expect(desk.space.revision).toBe(revision + 1);

  const schema = loadState({ name: 'board', version: 1, fields: { x: claim({ leaseMs: 400 }), done: counter() } }, sha256);
  const leased = Desk.leading({ schema });
  const holder = leased.join('ann');
  holder.propose(1, { x: { claim: true } });
  leased.rest();
  for (let i = 0; i < 4; i += 1) {
    leased.pass(200);
    holder.propose(2, { done: { inc: 1 } }, { dry: true });
  }
  expect(timersOf(leased.space)).toEqual([]);
});
