/** Messages to text and back, and everything that is none. */
import { PROPOSAL_BYTES_MAX } from '@oplus/core';
import type { Json } from '@oplus/core';
import { describe, expect, test } from 'vitest';
import { encodeAnnouncement, readAnnouncement } from './announcement.ts';
import { CONTROL_BYTES_MAX, encodeMessage, encodeVerdict, readDownward, readUpward, tagOf } from './codec.ts';
import { downwardShape, upwardShape } from './message.ts';
import type { Downward, Upward } from './message.ts';

const SCHEMA = '0123456789abcdef';
const ISSUE = {
  path: '/done',
  code: 'bound',
  rule: 'quota',
  have: 1,
  want: null,
  by: 'bob',
  recovery: 'wait',
  hint: 'Later.',
} as const;

const UPWARD: readonly Upward[] = [
  { kind: 'hello', v: 1, space: 'board', agent: 'ann', role: 'agent', session: 's_1-a', schema: SCHEMA, after: 0 },
  { kind: 'pass', v: 1, space: 'board', agent: 'ann', incarnation: 1, revision: 0 },
  { kind: 'leave', v: 1, space: 'board', agent: 'ann', incarnation: 2 },
  {
    kind: 'proposal',
    v: 1,
    space: 'board',
    agent: 'ann',
    incarnation: 1,
    n: 1,
    schema: SCHEMA,
    base: { revision: 3, digest: SCHEMA },
    patch: { done: { inc: 1 } },
  },
];

const DOWNWARD: readonly Downward[] = [
  { kind: 'welcome', v: 1, space: 'board', agent: 'ann', session: 's1', incarnation: 1, n: 0, revision: 4 },
  {
    kind: 'welcome',
    v: 1,
    space: 'board',
    agent: 'ann',
    session: 's1',
    incarnation: 2,
    n: 1,
    revision: 4,
    verdict: { kind: 'rejected', revision: 3, issues: [ISSUE], retry: { after: 3 } },
  },
  { kind: 'verdict', v: 1, space: 'board', agent: 'ann', n: 1, verdict: { kind: 'committed', revision: 4 } },
  {
    kind: 'verdict',
    v: 1,
    space: 'board',
    agent: 'ann',
    n: 1,
    verdict: { kind: 'committed', revision: 4, outcomes: { '/done': { kind: 'merged', over: { agent: 'bob', n: 2 } } } },
  },
  { kind: 'rehearsal', v: 1, of: SCHEMA, verdict: { kind: 'committed', revision: 4 } },
  { kind: 'rehearsal', v: 1, of: SCHEMA, verdict: { kind: 'rejected', revision: 3, issues: [ISSUE] } },
  { kind: 'refusal', v: 1, of: SCHEMA, issues: [ISSUE] },
  { kind: 'refusal', v: 1, of: SCHEMA, revision: -1, issues: [] },
  { kind: 'left', v: 1, space: 'board', agent: 'ann', incarnation: 1 },
];

const without = (message: object, member: string): string =>
  JSON.stringify(Object.fromEntries(Object.entries(message).filter(([key]) => key !== member)));

describe('upward', () => {
  test('[MSG1] every message comes through the gate as it was sent', () => {
    for (const message of UPWARD) {
      const read = readUpward(encodeMessage(message as never), 'ann');
      expect(read.ok && ('proposal' in read.value ? read.value.proposal : read.value)).toEqual(message);
      expect(upwardShape.safeParse(message).success).toBe(true);
    }
  });

  test('[MSG1] a missing or additional member, or another spelling of a name, refuses the whole message', () => {
    for (const message of UPWARD) {
      for (const member of Object.keys(message)) expect(readUpward(without(message, member), 'ann').ok).toBe(false);
      expect(readUpward(JSON.stringify({ ...message, extra: 1 }), 'ann').ok).toBe(false);
      for (const agent of ['', 'Ann', 'ann ', 'a'.repeat(33), '../ann', 'ann>'])
        expect(readUpward(JSON.stringify({ ...message, agent }), agent).ok).toBe(false);
      for (const space of ['', 'Board', '-board', 'b'.repeat(65), 'b.c'])
        expect(readUpward(JSON.stringify({ ...message, space }), 'ann').ok).toBe(false);
    }
  });

  test('[MSG2] a message speaks for its sender only, and another version is named as such', () => {
    for (const message of UPWARD) {
      const other = readUpward(encodeMessage(message as never), 'bob');
      expect(other).toMatchObject({ ok: false, issues: [{ path: '/agent', code: 'identity' }] });
      const versioned = readUpward(JSON.stringify({ ...message, v: 2 }), 'ann');
      expect(versioned.ok ? [] : versioned.issues.map(({ path, code }) => ({ path, code }))).toContainEqual({
        path: '/v',
        code: 'protocol',
      });
    }
  });

  test('[MSG3] sizes are bounded: a control message, a proposal', () => {
    const [hello, , , proposal] = UPWARD;
    const padded = (message: Upward | undefined, length: number): string => JSON.stringify(message).padEnd(length, ' ');
    expect(readUpward(padded(hello, CONTROL_BYTES_MAX), 'ann').ok).toBe(true);
    expect(readUpward(padded(hello, CONTROL_BYTES_MAX + 1), 'ann').ok).toBe(false);
    expect(readUpward(padded(proposal, PROPOSAL_BYTES_MAX), 'ann').ok).toBe(true);
    expect(readUpward(padded(proposal, PROPOSAL_BYTES_MAX + 1), 'ann')).toMatchObject({
      ok: false,
      issues: [{ code: 'too_large' }],
    });
  });

  test('[MSG3] the strict reader stands before everything: duplicate, reserved and deep members are refused', () => {
    const [hello] = UPWARD;
    const text = JSON.stringify(hello);
    const codeOf = (body: string): unknown => {
      const read = readUpward(body, 'ann');
      return read.ok ? 'ok' : read.issues[0]?.code;
    };
    expect(codeOf(text.replace('{', '{"agent":"bob",'))).toBe('duplicate_key');
    expect(codeOf(text.replace('{', '{"__proto__":{},'))).toBe('key');
    expect(codeOf(`${'['.repeat(2_000)}`)).toBe('depth');
    expect(codeOf(text.slice(0, -1))).toBe('not_json');
    expect(codeOf('')).toBe('not_json');
  });
});

describe('downward', () => {
  test('[MSG4] every message is read as it was sent, in canonical text', () => {
    for (const message of DOWNWARD) {
      expect(readDownward(encodeMessage(message))).toEqual(message);
      expect(downwardShape.safeParse(message).success).toBe(true);
    }
  });

  test('[MSG4] a verdict around its canonical text is the same message', () => {
    const verdict = { kind: 'committed', revision: 4 } as const;
    expect(encodeVerdict({ space: 'board', agent: 'ann', n: 7 }, '{"kind":"committed","revision":4}')).toBe(
      encodeMessage({ kind: 'verdict', v: 1, space: 'board', agent: 'ann', n: 7, verdict }),
    );
  });

  test('[MSG5] anything else is MESSAGE_INVALID, and another version PROTOCOL_VERSION', () => {
    const codeOf = (body: string): unknown => {
      try {
        return readDownward(body);
      } catch (error) {
        return (error as { readonly code: string }).code;
      }
    };
    for (const body of ['', 'null', '[]', '7', '"x"', '{', '{"v":1}', '{"kind":"verdict","v":1}'])
      expect(codeOf(body)).toBe('MESSAGE_INVALID');
    for (const message of DOWNWARD) {
      for (const member of Object.keys(message).filter((key) => key !== 'v' && !isOptional(message, key)))
        expect(codeOf(without(message, member))).toBe('MESSAGE_INVALID');
      expect(codeOf(JSON.stringify({ ...message, extra: 1 }))).toBe('MESSAGE_INVALID');
      expect(codeOf(JSON.stringify({ ...message, v: 2 }))).toBe('PROTOCOL_VERSION');
    }
  });

  test('[MSG5] the short way for plain verdicts lets nothing pass that a worker looks at', () => {
    const plain = DOWNWARD[2] as object;
    const values: readonly Json[] = [-1, 0.5, 2 ** 53, '1', null, {}];
    for (const value of values) {
      expect(() => readDownward(JSON.stringify({ ...plain, n: value }))).toThrow('of another shape');
      expect(() => readDownward(JSON.stringify({ ...plain, verdict: { kind: 'committed', revision: value } }))).toThrow(
        'of another shape',
      );
    }
    expect(() => readDownward(JSON.stringify({ ...plain, space: 7 }))).toThrow('of another shape');
  });
});

test('[MSG6] a tag tells messages apart', () => {
  expect(tagOf('a')).toBe('ca978112ca1bbdca');
  expect(tagOf('a ')).not.toBe(tagOf('a'));
});

test('[MSG7] announcements carry any body, and an index in one spelling', () => {
  for (const body of ['', ' ', 'x y z', '{"a":1}', '\n', '7 8'])
    expect(readAnnouncement(encodeAnnouncement(12, body))).toEqual({ index: 12, body });
  for (const text of [
    '',
    ' x',
    '12',
    '0 x',
    '-1 x',
    '1.5 x',
    '1e3 x',
    '+1 x',
    '01 x',
    ' 1 x',
    '0x1 x',
    '9007199254740992 x',
    'Infinity x',
    `${'1'.repeat(17)} x`,
  ]) {
    expect(readAnnouncement(text)).toBe(undefined);
  }
});

function isOptional(message: Downward, member: string): boolean {
  return member === 'verdict' ? message.kind === 'welcome' : member === 'revision' && message.kind === 'refusal';
}
