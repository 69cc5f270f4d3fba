import { describe, expect, test } from 'vitest';
import { canonical } from './json.ts';
import type { Json } from './json.ts';
import { admit, PROPOSAL_BYTES_MAX } from './proposal.ts';
import { counter } from './kinds/counter.ts';
import { smallTeam } from './testing/index.ts';

const good = {
  kind: 'proposal',
  v: 1,
  space: 's',
  agent: 'a',
  incarnation: 1,
  n: 1,
  schema: '0123456789abcdef',
  base: { revision: 0 },
  patch: { n: { inc: 1 } },
};

function codeOf(value: unknown, from = 'a'): string {
  const gated = admit(typeof value === 'string' ? value : JSON.stringify(value), from);
  return gated.ok ? 'ok' : (gated.issues[0]?.code ?? '');
}

describe('gate', () => {
  test('[GTE1] a message above the limit in bytes is too large, whatever its characters', () => {
    const sized = (why: string): unknown => ({ ...good, patch: { n: why } });
    const rest = canonical(sized('') as Json).length;
    expect(codeOf(canonical(sized('x'.repeat(PROPOSAL_BYTES_MAX - rest)) as Json))).toBe('ok');
    expect(codeOf(canonical(sized('x'.repeat(PROPOSAL_BYTES_MAX - rest + 1)) as Json))).toBe('too_large');
    expect(codeOf(canonical(sized('✓'.repeat(PROPOSAL_BYTES_MAX / 3)) as Json))).toBe('too_large');
  });

  test('[GTE2] what is not strict JSON is refused with its code and place', () => {
    expect(codeOf('{"a":1,"a":2}')).toBe('duplicate_key');
    expect(admit('{"n":1.0}', 'a')).toMatchObject({
      ok: false,
      issues: [{ path: '', code: 'number', rule: 'gate', recovery: 'never', hint: expect.stringContaining('(at 5)') as string }],
    });
  });

  test('[GTE3] the envelope is closed: a missing, additional or mistyped member refuses the message', () => {
    expect(codeOf(good)).toBe('ok');
    const full = {
      ...good,
      base: { revision: 3, digest: '0123456789abcdef', vector: { a: 1 } },
      premises: ['/n'],
      action: { name: 'go', args: { x: [1] } },
      why: 'because',
    };
    expect(codeOf(full)).toBe('ok');
    for (const key of Object.keys(good))
      expect(codeOf(Object.fromEntries(Object.entries(good).filter(([name]) => name !== key))), key).not.toBe('ok');
    expect(codeOf({ ...good, sudo: true })).toBe('schema');
    expect(codeOf({ ...good, v: 2 })).toBe('protocol');
    const mistyped: { readonly [key: string]: readonly unknown[] } = {
      kind: ['hello', 1],
      space: ['', 'UPPER', 'a b', 5],
      n: [0, -1, 1.5, '1', null],
      incarnation: [0, '1'],
      schema: ['short', 5],
      base: [
        0,
        {},
        { revision: -1 },
        { revision: 0, digest: 'x' },
        { revision: 0, vector: { 'Not a name': 1 } },
        { revision: 0, vector: { a: -1 } },
        { revision: 0, more: 1 },
      ],
      patch: [[], 'x', null],
      premises: ['/n', [5], Array.from({ length: 33 }, () => '/n'), ['x'.repeat(513)]],
      action: ['go', { name: '' }, { name: 'x', args: [] }],
      why: [5, 'x'.repeat(501)],
    };
    for (const [key, values] of Object.entries(mistyped))
      for (const value of values) expect(codeOf({ ...good, [key]: value }), `${key} ${JSON.stringify(value)}`).toBe('schema');
  });

  test('[GTE4] a proposal speaks for its sender only', () => {
    expect(codeOf(good, 'b')).toBe('identity');
    expect(codeOf({ ...good, agent: 'B' })).toBe('identity');
    expect(codeOf({ ...good, agent: ['a'] })).toBe('identity');
  });

  test('[GTE5] what the gate turns away is no proposal: its dot is free', () => {
    const team = smallTeam({ fields: { n: counter() } });
    expect(codeOf({ ...good, extra: 1 })).toBe('schema');
    expect(team.ask('a', { n: { inc: 1 } })).toMatchObject({ kind: 'committed' });
  });

  test('[GTE6] the text is canonical, and the proposal reads as that text does', () => {
    const gated = admit(JSON.stringify({ ...good, patch: { z: { set: 1 }, a: { set: { d: 1, c: 2 } } } }), 'a');
    expect(gated.ok && gated.value.text).toBe(canonical({ ...good, patch: { z: { set: 1 }, a: { set: { d: 1, c: 2 } } } }));
    expect(gated.ok && Object.keys(gated.value.proposal.patch)).toEqual(['a', 'z']);
  });
});
