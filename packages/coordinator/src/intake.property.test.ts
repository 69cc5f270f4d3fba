/** Hostile bytes: whatever arrives, the coordinator stands. */
import { readUpward } from '@oplus/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Desk, hello, leave, pass } from './testing/desk.ts';

const desk = Desk.leading();
const ann = desk.join('ann');
ann.propose(1);
desk.rest();
const VALID = [
  ann.write(
    2,
    { done: { inc: 1 }, by: { at: { x: { inc: 2 } } } },
    { premises: ['/done'], why: 'because', action: { name: 'go', args: { to: [1, { a: null }] } } },
  ),
  ann.write(2, { done: { inc: 1 } }, { dry: true }),
  hello('ann', 'ann-1'),
  hello('bob', 'bob-1'),
  leave('ann', 1),
  pass('ann', 1, 1),
];

/** Pieces that matter to a reader of JSON, or to one of our messages. */
const PIECES = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ':',
  ',',
  '0',
  '-',
  '1e999',
  'null',
  'true',
  '\u0000',
  '\ud83d',
  '\u202e',
  'é',
  '__proto__',
  '"agent"',
  '"n":',
  '"v":2',
  '"kind":"hello"',
  '{"a":',
];

const mutated = fc
  .tuple(
    fc.constantFrom(...VALID),
    fc.array(
      fc.record({ at: fc.nat(600), cut: fc.nat(12), put: fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary' })) }),
      { minLength: 1, maxLength: 4 },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce(
      (current, { at, cut, put }) =>
        current.slice(0, at % (current.length + 1)) + put + current.slice((at % (current.length + 1)) + cut),
      text,
    ),
  );

const spliced = fc
  .tuple(fc.constantFrom(...VALID), fc.constantFrom(...VALID), fc.nat(600), fc.nat(600))
  .map(([a, b, i, j]) => a.slice(0, i) + b.slice(j));

const hostile = fc.oneof(
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 4, arbitrary: mutated },
  { weight: 1, arbitrary: spliced },
);

test('[CO15] any text is answered to its sender or dropped; only what passes the gate changes anything', () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom('ann', 'bob', 'zoe', 'a_b-9'), (body, from) => {
      const { state } = desk;
      const sent = desk.sent.length;
      const answers = desk.hear(from, body);
      expect(answers.length).toBeLessThanOrEqual(1);
      for (const { to } of desk.sent.slice(sent)) expect(to).toBe(from);
      if (!readUpward(body, from).ok) {
        expect(answers).toMatchObject([{ kind: 'refusal' }]);
        expect(desk.state).toBe(state);
      }
      desk.state = state;
    }),
    { numRuns: 4_000 },
  );
});

test('[CO15] a round made of whatever passed the gate is sealed, and the log folds', () => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 20 }), (bodies) => {
      const one = Desk.leading({ log: [...desk.log] });
      for (const body of bodies) one.hear('ann', body);
      one.rest();
      expect(one.ended).toBe(undefined);
      expect(new Desk({ log: one.log }).state.shard.head).toBe(one.state.shard.head);
    }),
    { numRuns: 150 },
  );
});

test('[CO15] the deepest, longest and largest that a message can be', () => {
  const { state } = desk;
  const bodies = [
    '['.repeat(700_000),
    '{"a":'.repeat(100_000),
    `"${'\\u0041'.repeat(100_000)}"`,
    `{"kind":"hello","v":1,"x":"${'y'.repeat(700_000)}"}`,
    ' '.repeat(700_000),
    '1'.repeat(700_000),
    '\ud83d'.repeat(1000),
  ];
  for (const body of bodies) expect(desk.hear('ann', body)).toMatchObject([{ kind: 'refusal' }]);
  expect(desk.state).toBe(state);
});
