/** A session as data: what it says, and what it makes of what it hears. */
import { canonical } from '@oplus/core';
import type { Json } from '@oplus/core';
import { encodeMessage, tagOf } from '@oplus/protocol';
import type { Issue } from '@oplus/core';
import { expect, test } from 'vitest';
import type { Effect, Input, Step, WorkerState } from './state.ts';
import { greet, step } from './step.ts';

const GIVEN = { space: 'board', agent: 'ann', role: 'agent', session: 'ann-2', schema: '0123456789abcdef' };

const welcome = (other: object = {}): string =>
  encodeMessage({
    kind: 'welcome',
    v: 1,
    space: 'board',
    agent: 'ann',
    session: 'ann-2',
    incarnation: 1,
    n: 0,
    revision: 5,
    ...other,
  });
const verdict = (n: number, revision = 6): string =>
  encodeMessage({ kind: 'verdict', v: 1, space: 'board', agent: 'ann', n, verdict: { kind: 'committed', revision } });
const refusal = (of: string, code: Issue['code'], revision?: number): string =>
  encodeMessage({
    kind: 'refusal',
    v: 1,
    of: tagOf(of),
    ...(revision === undefined ? {} : { revision }),
    issues: [{ path: '', code, rule: 'r', recovery: 'stop', hint: 'h' }],
  });

function proposing(patch: Json = { done: { inc: 1 } }): Input & { readonly kind: 'propose' } {
  return {
    kind: 'propose',
    proposal: {
      kind: 'proposal',
      v: 1,
      space: 'board',
      agent: 'ann',
      schema: GIVEN.schema,
      base: { revision: 5 },
      patch: patch as { readonly [key: string]: Json },
    },
  };
}

/** A session that is fed inputs; keeps what it said last and what came of it. */
class Life {
  state: WorkerState;
  effects: readonly Effect[] = [];

  constructor({ state, effects }: Step = greet(GIVEN)) {
    this.state = state;
    this.effects = effects;
  }

  static joined(): Life {
    return new Life().hears(welcome());
  }

  tell(input: Input): this {
    ({ state: this.state, effects: this.effects } = step(this.state, input));
    return this;
  }

  hears(body: string): this {
    return this.tell({ kind: 'message', body });
  }

  said(): string {
    const sent = this.effects.find((effect) => effect.kind === 'send');
    return sent?.kind === 'send' ? sent.body : '';
  }

  kinds(): readonly string[] {
    return this.effects.map(({ kind }) => kind);
  }
}

test('[WK1] what is pending is said again, byte for byte, ever less often, until it is answered', () => {
  const life = Life.joined().tell(proposing());
  const text = life.said();
  const delays: number[] = [];
  for (let i = 0; i < 6; i += 1) {
    for (const effect of life.effects) if (effect.kind === 'wake') delays.push(effect.delayMs);
    expect(life.said()).toBe(text);
    life.tell({ kind: 'timer', revision: 5 });
  }
  expect(delays).toEqual([250, 500, 1_000, 2_000, 2_000, 2_000]);
  expect(life.hears(verdict(1)).effects).toEqual([{ kind: 'answered', answer: { kind: 'committed', revision: 6 } }]);
  expect(life.tell({ kind: 'timer', revision: 6 }).effects).toEqual([]);
});

test('[WK1] a new leader hears at once what is pending, and nothing when nothing is', () => {
  const life = Life.joined();
  expect(life.tell({ kind: 'term' }).effects).toEqual([]);
  life.tell(proposing());
  const text = life.said();
  life.tell({ kind: 'timer', revision: 5 }).tell({ kind: 'timer', revision: 5 });
  expect(life.tell({ kind: 'term' }).effects).toEqual([
    { kind: 'send', body: text },
    { kind: 'wake', delayMs: 250 },
  ]);
});

test('[WK1] hello and leave are said again too', () => {
  const life = new Life();
  const hello = life.said();
  expect(life.tell({ kind: 'timer', revision: -1 }).said()).toBe(hello);
  life.hears(welcome()).tell({ kind: 'leave' });
  const leave = life.said();
  expect(life.tell({ kind: 'timer', revision: 5 }).said()).toBe(leave);
  const left = encodeMessage({ kind: 'left', v: 1, space: 'board', agent: 'ann', incarnation: 1 });
  expect(life.hears(left).effects).toEqual([{ kind: 'ended', error: undefined }]);
});

test('[WK2] each proposal has the next n, and none is taken while one is pending', () => {
  const life = Life.joined();
  for (const n of [1, 2, 3]) {
    expect(JSON.parse(life.tell(proposing()).said())).toMatchObject({ n, incarnation: 1 });
    expect(() => step(life.state, proposing())).toThrow('has no room');
    life.hears(verdict(n));
  }
});

test('[WK4] a welcome gives incarnation and n; it is expected once', () => {
  const life = new Life().hears(welcome({ incarnation: 3, n: 7 }));
  expect(life.effects).toEqual([{ kind: 'joined' }]);
  expect(life.state).toMatchObject({ phase: 'idle', identity: { incarnation: 3, n: 7 }, revision: 5 });
  expect(life.hears(welcome({ incarnation: 3, n: 0 })).effects).toEqual([]);
  expect(life.state.identity?.n).toBe(7);
});

test('[WK4] told who holds the name, a session asks to take over from that one, and from no older one', () => {
  const life = new Life();
  expect(JSON.parse(life.said())).toMatchObject({ after: 0 });
  life.hears(welcome({ session: 'ann-1', incarnation: 4 }));
  expect(JSON.parse(life.said())).toMatchObject({ kind: 'hello', session: 'ann-2', after: 4 });
  expect(life.hears(welcome({ session: 'ann-0', incarnation: 3 })).effects).toEqual([]);
  expect(life.hears(welcome({ session: 'ann-1', incarnation: 4 })).effects).toEqual([]);
  expect(life.hears(welcome({ incarnation: 5 })).kinds()).toEqual(['joined']);
});

test('[WK5] a session is over when a younger one is welcomed, not when it hears of an older one or of another space', () => {
  const life = Life.joined().tell(proposing());
  expect(life.hears(welcome({ session: 'ann-1', incarnation: 1 })).effects).toEqual([]);
  expect(life.hears(welcome({ session: 'ann-3', incarnation: 2, space: 'other' })).effects).toEqual([]);
  expect(life.hears(welcome({ session: 'ann-3', incarnation: 2 })).effects).toMatchObject([
    { kind: 'ended', error: { code: 'FENCED' } },
  ]);
  expect(life.hears(verdict(1)).effects).toEqual([]);
});

test('[WK6] a refusal of something else, or of the same dot with other content, is not an answer', () => {
  const life = Life.joined().tell(proposing({ done: { inc: 1 } }));
  const first = life.said();
  expect(life.hears(refusal(first, 'schema')).kinds()).toEqual(['answered']);
  life.tell(proposing({ done: { inc: 2 } }));
  expect(JSON.parse(life.said())).toMatchObject({ n: 1 });
  expect(life.hears(refusal(first, 'schema')).effects).toEqual([]); // late, of the first content
  expect(life.hears(refusal('not ours', 'not_json')).effects).toEqual([]);
  expect(life.hears(verdict(1)).kinds()).toEqual(['answered']);
});

test('[WK6] a refusal by a coordinator that is behind does not count', () => {
  const life = Life.joined().tell(proposing());
  const text = life.said();
  for (const code of ['unknown_agent', 'unknown_base', 'fenced'] as const)
    expect(life.hears(refusal(text, code, 4)).effects).toEqual([]);
  expect(life.hears(refusal(text, 'gap', 5)).effects).toEqual([]);
  expect(life.hears(refusal(text, 'unknown_agent', 5)).effects).toMatchObject([{ kind: 'ended', error: { code: 'FENCED' } }]);
});

test('[WK6] a verdict of another dot or space, or before anything was proposed, is not an answer', () => {
  const life = Life.joined();
  expect(life.hears(verdict(1)).effects).toEqual([]);
  life.tell(proposing());
  expect(life.hears(verdict(2)).effects).toEqual([]);
  expect(life.hears(verdict(1).replace('"board"', '"other"')).effects).toEqual([]);
  expect(life.hears(verdict(1)).kinds()).toEqual(['answered']);
  expect(life.hears(verdict(1)).effects).toEqual([]);
});

test('[WK6] an equivocating or replayed dot means that somebody else speaks in our name', () => {
  for (const code of ['equivocation', 'replayed', 'fenced'] as const) {
    const life = Life.joined().tell(proposing());
    expect(life.hears(refusal(life.said(), code, 5)).effects).toMatchObject([{ kind: 'ended', error: { code: 'FENCED' } }]);
  }
});

test('[WK7] a refused proposal has used no dot, and its successor takes the same n', () => {
  const life = Life.joined().tell(proposing());
  expect(life.hears(refusal(life.said(), 'schema')).effects).toMatchObject([
    { kind: 'answered', answer: { kind: 'refused', issues: [{ code: 'schema' }] } },
  ]);
  expect(JSON.parse(life.tell(proposing()).said())).toMatchObject({ n: 1 });
});

test('[WK7] a proposal that no gate would pass for its size is refused without being sent', () => {
  const life = Life.joined();
  life.tell(proposing({ note: { set: 'ä'.repeat(33_000) } }));
  expect(life.effects).toMatchObject([{ kind: 'answered', answer: { kind: 'refused', issues: [{ code: 'too_large' }] } }]);
  expect(life.state.phase).toBe('idle');
  expect(life.tell(proposing({ note: { set: 'ä'.repeat(32_000) } })).kinds()).toEqual(['send', 'wake']);
});

test('[WK10] a pass is said again until a newer revision is known', () => {
  const life = Life.joined().tell({ kind: 'pass', revision: 5 });
  const text = life.said();
  expect(JSON.parse(text)).toMatchObject({ kind: 'pass', revision: 5, incarnation: 1 });
  expect(life.tell({ kind: 'timer', revision: 5 }).said()).toBe(text);
  expect(life.tell({ kind: 'timer', revision: 6 }).effects).toEqual([]);
  expect(life.tell({ kind: 'timer', revision: 6 }).effects).toEqual([]);
});

test('[WK10] a proposal takes the place of a pass', () => {
  const life = Life.joined().tell({ kind: 'pass', revision: 5 }).tell(proposing());
  const text = life.said();
  expect(life.tell({ kind: 'timer', revision: 9 }).said()).toBe(text);
});

test('[WK11] a farewell to another incarnation or in another space is not ours', () => {
  const life = Life.joined().tell({ kind: 'leave' });
  const left = { kind: 'left', v: 1, space: 'board', agent: 'ann', incarnation: 1 } as const;
  expect(life.hears(encodeMessage({ ...left, incarnation: 2 })).effects).toEqual([]);
  expect(life.hears(encodeMessage({ ...left, space: 'other' })).effects).toEqual([]);
  expect(life.hears(encodeMessage(left)).kinds()).toEqual(['ended']);
});

test('[WK13] a hello that is refused ends the session with the reason, a refusal of another hello does not', () => {
  const reasons = [
    [{ path: '/v', code: 'protocol', rule: 'envelope' }, 'PROTOCOL_VERSION'],
    [{ path: '', code: 'protocol', rule: 'schema digest' }, 'SCHEMA_INVALID'],
    [{ path: '', code: 'protocol', rule: 'space' }, 'USAGE'],
    [{ path: '', code: 'forbidden', rule: 'role' }, 'USAGE'],
    [{ path: '', code: 'full', rule: 'agentsMax' }, 'USAGE'],
    [{ path: '', code: 'fenced', rule: 'session' }, 'FENCED'],
  ] as const;
  for (const [reason, code] of reasons) {
    const life = new Life();
    const refused = {
      kind: 'refusal',
      v: 1,
      of: tagOf(life.said()),
      issues: [{ ...reason, recovery: 'stop', hint: 'why' }],
    } as const;
    expect(life.hears(encodeMessage({ ...refused, of: tagOf('other') })).effects).toEqual([]);
    expect(life.hears(encodeMessage(refused)).effects).toMatchObject([{ kind: 'ended', error: { code, hint: 'why' } }]);
  }
});

test('[WK16] bytes that are none of ours end the session, whatever it is doing', () => {
  for (const life of [new Life(), Life.joined(), Life.joined().tell(proposing())]) {
    const { state } = life;
    expect(life.hears('nonsense').effects).toMatchObject([{ kind: 'ended', error: { code: 'MESSAGE_INVALID' } }]);
    expect(step(state, { kind: 'message', body: canonical({ kind: 'verdict', v: 2 }) }).effects).toMatchObject([
      { kind: 'ended', error: { code: 'PROTOCOL_VERSION' } },
    ]);
    expect(life.hears(welcome()).effects).toEqual([]);
  }
});

const rehearsing = (): Input => ({ ...proposing(), kind: 'rehearse' });

const rehearsal = (of: string, revision = 6): string =>
  encodeMessage({ kind: 'rehearsal', v: 1, of: tagOf(of), verdict: { kind: 'committed', revision } });

test('[WK17] a rehearsal is the proposal with its next dot, and uses none', () => {
  const life = Life.joined().tell(rehearsing());
  const text = life.said();
  expect(JSON.parse(text)).toMatchObject({ n: 1, dry: true, patch: { done: { inc: 1 } } });
  expect(life.tell({ kind: 'timer', revision: 5 }).said()).toBe(text);
  expect(life.hears(rehearsal(text)).effects).toEqual([{ kind: 'answered', answer: { kind: 'committed', revision: 6 } }]);
  expect(life.state).toMatchObject({ phase: 'idle', identity: { n: 0 }, revision: 5 });
  life.tell(proposing());
  expect(JSON.parse(life.said())).toMatchObject({ n: 1 });
  expect(life.said()).not.toContain('dry');
});

test('[WK17] it is refused as a proposal is', () => {
  const life = Life.joined().tell(rehearsing());
  expect(life.hears(refusal(life.said(), 'gap')).effects).toEqual([]);
  life.tell({ kind: 'timer', revision: 5 });
  expect(life.hears(refusal(life.said(), 'unknown_base')).effects).toMatchObject([{ answer: { kind: 'refused' } }]);
  expect(life.tell(rehearsing()).hears(refusal(life.said(), 'fenced')).kinds()).toEqual(['ended']);
});

test('[WK18] an answer to a rehearsal counts only if it names what is pending and is not of an older state', () => {
  const life = Life.joined().tell(rehearsing());
  const text = life.said();
  for (const body of [rehearsal('another'), rehearsal(text, 5), verdict(1)]) expect(life.hears(body).effects).toEqual([]);
  expect(life.hears(rehearsal(text, 6)).kinds()).toEqual(['answered']);
  expect(life.hears(rehearsal(text, 6)).effects).toEqual([]);
  life.tell(proposing());
  for (const body of [rehearsal(text), rehearsal(life.said())]) expect(life.hears(body).effects).toEqual([]);
  expect(life.hears(verdict(1)).kinds()).toEqual(['answered']);
});
