/** Hostile bytes at a session: it ends or goes on, it never throws. */
import { OplusError } from '@oplus/core';
import { encodeMessage, tagOf } from '@oplus/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Input, WorkerState } from './state.ts';
import { greet, step } from './step.ts';

const GIVEN = { space: 'board', agent: 'ann', role: 'agent', session: 'ann-1', schema: '0123456789abcdef' };
const welcome = encodeMessage({
  kind: 'welcome',
  v: 1,
  space: 'board',
  agent: 'ann',
  session: 'ann-1',
  incarnation: 1,
  n: 0,
  revision: 0,
});
const propose: Input & { readonly kind: 'propose' } = {
  kind: 'propose',
  proposal: {
    kind: 'proposal',
    v: 1,
    space: 'board',
    agent: 'ann',
    schema: GIVEN.schema,
    base: { revision: 0 },
    patch: { x: {} },
  },
};

const joining = greet(GIVEN).state;
const idle = step(joining, { kind: 'message', body: welcome }).state;
const STATES: readonly WorkerState[] = [
  joining,
  idle,
  step(idle, propose).state,
  step(idle, { ...propose, kind: 'rehearse' }).state,
  step(idle, { kind: 'pass', revision: 0 }).state,
  step(idle, { kind: 'leave' }).state,
];
const VALID = [
  welcome,
  encodeMessage({ kind: 'verdict', v: 1, space: 'board', agent: 'ann', n: 1, verdict: { kind: 'committed', revision: 1 } }),
  encodeMessage({ kind: 'left', v: 1, space: 'board', agent: 'ann', incarnation: 1 }),
  ...STATES.map(({ pending }) =>
    encodeMessage({ kind: 'rehearsal', v: 1, of: tagOf(pending?.text ?? ''), verdict: { kind: 'committed', revision: 1 } }),
  ),
  ...STATES.map(({ pending }) =>
    encodeMessage({
      kind: 'refusal',
      v: 1,
      of: tagOf(pending?.text ?? ''),
      issues: [{ path: '', code: 'gap', rule: 'r', recovery: 'wait', hint: '' }],
    }),
  ),
];

const edited = fc
  .tuple(
    fc.constantFrom(...VALID),
    fc.nat(300),
    fc.nat(8),
    fc.constantFrom('', '"', '}', '0', '-1', '9e99', 'null', '[]', '"v":2', '\ud83d'),
  )
  .map(([text, at, cut, put]) => text.slice(0, at % text.length) + put + text.slice((at % text.length) + cut));

test('[WK16] whatever a session hears, it goes on or ends with a reason', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...STATES),
      fc.oneof(edited, fc.constantFrom(...VALID), fc.json(), fc.string({ unit: 'binary' })),
      (state, body) => {
        const { state: after, effects } = step(state, { kind: 'message', body });
        for (const effect of effects)
          if (effect.kind === 'ended' && effect.error !== undefined) expect(effect.error).toBeInstanceOf(OplusError);
        expect(effects.some(({ kind }) => kind === 'ended')).toBe(after.phase === 'ended');
        if (after.phase === 'ended') expect(step(after, { kind: 'message', body: welcome }).effects).toEqual([]);
      },
    ),
    { numRuns: 3_000 },
  );
});
