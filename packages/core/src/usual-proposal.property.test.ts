import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { canonical, JSON_DEPTH_MAX } from './json.ts';
import type { Json } from './json.ts';
import { PROPOSAL_BYTES_MAX, proposalShape, readMessage } from './proposal.ts';
import { readUsualProposal } from './usual-proposal.ts';

const GOOD: { readonly [member: string]: Json } = {
  kind: 'proposal',
  v: 1,
  space: 's-1',
  agent: 'ann',
  incarnation: 1,
  n: 7,
  schema: '0123456789abcdef',
  base: { revision: 12, digest: '0123456789abcdef' },
  patch: { f: { set: 'x' } },
};

const nested = (depth: number): Json => (depth === 0 ? 1 : { a: nested(depth - 1) });
const texts = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom(
    '<|im_start|>',
    '-----BEGIN RSA PRIVATE KEY-----',
    'é',
    '\t',
    '"},"schema":"0123456789abcdef","space":"s","v":1}',
  ),
);
const keys = fc.oneof(texts, fc.constantFrom('__proto__', 'constructor', '10', '9', 'k'.repeat(129), 'schema'));
const values = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    texts,
    fc.constantFrom<Json>(0, -1, 2 ** 53, 1.5, true, null, nested(JSON_DEPTH_MAX - 1), nested(JSON_DEPTH_MAX), []),
    fc.dictionary(keys, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const member = (name: string, value: fc.Arbitrary<Json>): fc.Arbitrary<readonly [string, Json]> =>
  value.map((one) => [name, one] as const);
const patches = member('patch', fc.oneof(values, fc.dictionary(keys, values, { maxKeys: 2, noNullPrototype: true })));
/** One member of the envelope in another value, often one that is refused. */
const members = fc.oneof(
  patches,
  member('kind', fc.constantFrom('proposal', 'hello')),
  member('v', fc.constantFrom(1, 2)),
  member('space', fc.constantFrom('s', '-s', 'S', 's'.repeat(64), 's'.repeat(65))),
  member('agent', fc.constantFrom('bob', 'constructor', 'constructor-2', 'a'.repeat(32), 'a'.repeat(33))),
  member('incarnation', fc.constantFrom<Json[]>(1, 0, 2 ** 53, 999_999_999_999_999, 9_007_199_254_740_991, '1')),
  member('n', fc.constantFrom(1, 0, -1, 1.5, 1e21)),
  member('schema', fc.constantFrom('fedcba9876543210', '0123456789ABCDEF', '')),
  member(
    'base',
    fc.constantFrom<Json[]>({ revision: 0 }, { revision: -1 }, { revision: 3, digest: 'x' }, { revision: 1, vector: {} }),
  ),
  member('why', fc.constantFrom<Json[]>('because', 5)),
  member('premises', fc.constantFrom<Json[]>([], ['/f'])),
  member('dry', fc.constant(true)),
  member('constructor', fc.constant(1)),
);
const edits = fc.array(
  fc.tuple(fc.nat(), fc.constantFrom('"', '{', '}', ',', ':', '0', '-', '\\', ' ', '\n', '"a":1,', 'A', '')),
  { maxLength: 2 },
);

/** Generated texts take their time on a busy machine. */
vi.setConfig({ testTimeout: 300_000 });

const damaged = (text: string, changes: readonly (readonly [number, string])[]): string =>
  changes.reduce((whole, [at, piece]) => {
    const place = at % (whole.length + 1);
    return whole.slice(0, place) + piece + whole.slice(place + (at % 2));
  }, text);

test('[GTE6] what the gate knows by its spelling is what the general way reads', () => {
  let usualCount = 0;
  fc.assert(
    fc.property(fc.array(members, { maxLength: 2 }), patches, edits, (changed, patch, changes) => {
      const proposal: { [name: string]: Json } = { ...GOOD, ...Object.fromEntries([patch, ...changed]) };
      const text = damaged(canonical(proposal), changes);
      const agent = String(proposal['agent']);
      const usual = readUsualProposal(text, agent);
      if (usual === undefined) return;
      usualCount += 1;
      const general = readMessage(text, PROPOSAL_BYTES_MAX, proposalShape);
      expect(general).toStrictEqual({ ok: true, value: { message: usual.proposal, text: usual.text } });
      expect(JSON.stringify(usual.proposal)).toBe(text);
    }),
    { numRuns: Number(process.env['OPLUS_HISTORIES'] ?? 5_000) * 4 },
  );
  expect(usualCount).toBeGreaterThan(100);
});

test('[GTE6] a proposal as workers write it is known by its spelling, that of another sender is not', () => {
  const text = canonical(GOOD);
  expect(readUsualProposal(text, 'ann')?.proposal).toStrictEqual(JSON.parse(text));
  expect(readUsualProposal(text, 'bob')).toBeUndefined();
  expect(readUsualProposal(canonical({ ...GOOD, base: { revision: 0 } }), 'ann')?.proposal.base).toStrictEqual({ revision: 0 });
});
