import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { sees } from './causal-context.ts';
import type { Mark } from './dot.ts';
import { decodeMark, encodeMark, summed } from './dot.ts';
import { canonical } from './json.ts';
import type { Json } from './json.ts';
import { counter } from './kinds/counter.ts';
import { cas } from './kinds/register.ts';
import { compareAdmit, compareWin, decodeStamp, encodeStamp, spin, stampOf } from './stamp.ts';
import type { Stamp } from './stamp.ts';
import { AGENTS, codesOf, histories, play, smallTeam } from './testing/index.ts';
import { records } from './kinds/records.ts';
import { areConcurrent, includes, isWithin, join, newestOf } from './version-vector.ts';
import type { VersionVector } from './version-vector.ts';

const vectors: fc.Arbitrary<VersionVector> = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 4 })), { maxLength: 4 })
  .map((entries) => new Map(entries));
const plain = (vector: VersionVector): Json => Object.fromEntries(vector);

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 300_000 });

describe('version vectors', () => {
  test('[VV1] join is commutative', () => {
    fc.assert(
      fc.property(vectors, vectors, (a, b) => canonical(plain(join(a, b))) === canonical(plain(join(b, a)))),
      { numRuns: 3000 },
    );
  });

  test('[VV2] join is associative', () => {
    fc.assert(
      fc.property(
        vectors,
        vectors,
        vectors,
        (a, b, c) => canonical(plain(join(join(a, b), c))) === canonical(plain(join(a, join(b, c)))),
      ),
      { numRuns: 3000 },
    );
  });

  test('[VV3] join is idempotent, and changes neither argument', () => {
    fc.assert(
      fc.property(vectors, vectors, (a, b) => {
        const [beforeA, beforeB] = [plain(a), plain(b)];
        expect(plain(join(a, a))).toEqual(plain(a));
        join(a, b);
        expect([plain(a), plain(b)]).toEqual([beforeA, beforeB]);
      }),
      { numRuns: 3000 },
    );
  });

  test('[VV4] the join is the least vector that holds both, and concurrent means that neither holds the other', () => {
    fc.assert(
      fc.property(vectors, vectors, (a, b) => {
        const both = join(a, b);
        expect(isWithin(a, both) && isWithin(b, both)).toBe(true);
        for (const [agent, n] of both) expect(Math.max(newestOf(a, agent), newestOf(b, agent))).toBe(n);
        expect(areConcurrent(a, b)).toBe(!isWithin(a, b) && !isWithin(b, a));
        for (const [agent, n] of b) expect(includes(a, { agent, n })).toBe(newestOf(a, agent) >= n);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('causal context', () => {
  test('[CC1] the vector form and the revision form of the conflict test agree, on vectors computed from the log', () => {
    fc.assert(
      fc.property(histories(), fc.constantFrom(...AGENTS), (history, agent) => {
        const played = play(history);
        const vectorAt: VersionVector[] = [];
        const marks: Mark[] = [];
        for (const [revision, { sealed }] of played.rounds.entries()) {
          const vector = new Map(vectorAt[revision - 1]);
          for (const { admitted } of sealed.decided) {
            const { agent: author, n } = admitted.proposal;
            vector.set(author, Math.max(n, vector.get(author) ?? 0));
            marks.push({ agent: author, n, revision });
          }
          vectorAt.push(vector);
        }
        for (const [revision, vector] of vectorAt.entries()) {
          const n = newestOf(vectorAt.at(-1) as VersionVector, agent) + 1;
          const past = join(vector, new Map([[agent, n - 1]]));
          for (const mark of marks) {
            const byRevision = sees({ agent, n, revision }, mark);
            const byVector = includes(past, mark);
            const byBoth = sees({ agent, n, revision: 0, vector }, mark);
            if (byVector !== byRevision || byBoth !== byRevision)
              throw new Error(`${agent} at ${revision} on ${encodeMark(mark)}: ${byRevision}, ${byVector}, ${byBoth}`);
          }
        }
      }),
      { numRuns: 3000 },
    );
  });

  test('[CC2] an agent has seen its own earlier proposals, whatever view it proposes on', () => {
    const mark: Mark = { agent: 'a', n: 3, revision: 9 };
    expect(sees({ agent: 'a', n: 4, revision: 0 }, mark)).toBe(true);
    expect(sees({ agent: 'a', n: 3, revision: 0 }, mark)).toBe(false);
    expect(sees({ agent: 'b', n: 4, revision: 8 }, mark)).toBe(false);
    expect(sees({ agent: 'b', n: 4, revision: 9 }, mark)).toBe(true);
    expect(sees({ agent: 'b', n: 1, revision: 0 }, undefined)).toBe(true);
  });

  test('[CC3] a vector adds dots to what the revision holds, and may not name what the log does not hold', () => {
    const team = smallTeam({ fields: { t: records({ n: counter() }, { cap: 4 }) } });
    team.ask('a', { t: { put: { x: {} } } });
    team.ask('a', { t: { patch: { x: { n: { inc: 1 } } } } });
    const patch = { t: { patch: { x: { n: { inc: 1 } } } } };
    expect(codesOf(team.ask('b', patch, 0))).toEqual(['gone']);
    expect(codesOf(team.round({ agent: 'b', patch, base: { revision: 0, vector: { a: 1 } } })[0])).toEqual(['committed']);
    const ahead = team.round({ agent: 'b', patch, base: { revision: 2, vector: { a: 7, c: 1 } } })[0];
    expect(ahead).toMatchObject({
      issues: [{ path: '/base/vector', code: 'unknown_base', want: 'a 7, c 1', recovery: 're-read' }],
    });
    expect(codesOf(team.round({ agent: 'b', patch, base: { revision: 2, vector: { b: 9 } } })[0])).toEqual(['unknown_base']);
  });

  test('[CC3] a vector adds its dots and no others: what its revision does not hold stays unseen', () => {
    const team = smallTeam({ fields: { x: cas(z.string().max(9)) } });
    team.ask('a', { x: { set: 'one' } });
    team.ask('a', { x: { set: 'two' } });
    const [verdict] = team.round({ agent: 'b', patch: { x: { set: 'three' } }, base: { revision: 1, vector: { a: 1 } } });
    expect(codesOf(verdict)).toEqual(['conflict']);
    const [seen] = team.round({ agent: 'b', patch: { x: { set: 'three' } }, base: { revision: 1, vector: { a: 2 } } });
    expect(codesOf(seen)).toEqual(['committed']);
  });

  test('[CC4] the dots of a vector never stand for what came before them: a drop needs the whole row in the view', () => {
    const team = smallTeam({ fields: { t: records({ n: counter() }, { cap: 4 }) } });
    team.ask('a', { t: { put: { x: {} } } });
    team.ask('c', { t: { patch: { x: { n: { inc: 1 } } } } });
    team.ask('a', { t: { patch: { x: { n: { inc: 1 } } } } });
    expect(
      codesOf(team.round({ agent: 'b', patch: { t: { drop: ['x'] } }, base: { revision: 1, vector: { a: 2 } } })[0]),
    ).toEqual(['conflict']);
  });

  test('[CC5] marks survive being written down, with the newest change by another agent', () => {
    const dot = { agent: fc.constantFrom('a', 'b', 'c'), n: fc.nat(9) };
    const dots = fc.record({ ...dot, trust: fc.nat(99) }, { requiredKeys: ['agent', 'n'], noNullPrototype: true });
    fc.assert(
      fc.property(fc.array(dots, { minLength: 1, maxLength: 6 }), (list) => {
        let mark: Mark | undefined;
        const seen: Mark[] = [];
        for (const [i, dot] of list.entries()) {
          const change = { ...dot, revision: i + 1 };
          mark = summed(mark, change);
          seen.push(change);
        }
        expect(decodeMark(JSON.parse(encodeMark(mark)) as Json)).toEqual(mark);
        const other = seen.findLast((one) => one.agent !== mark?.agent);
        expect(mark?.foreign).toEqual(other === undefined ? undefined : { agent: other.agent, revision: other.revision });
      }),
      { numRuns: 3000 },
    );
    expect(() => decodeMark(['a', 'b', 1])).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
    expect(() => decodeStamp([1, 2, 3])).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
  });
});

describe('stamps', () => {
  const stamps = fc
    .record(
      { revision: fc.nat(3), priority: fc.nat(1), agent: fc.constantFrom('a', 'b', 'c'), n: fc.integer({ min: 1, max: 3 }) },
      { noNullPrototype: true },
    )
    .map((given): Stamp => stampOf(given));

  test('[STP1][SURPRISE 33] both orders are total: only one dot on one view ties with itself', () => {
    fc.assert(
      fc.property(stamps, stamps, stamps, (a, b, c) => {
        for (const order of [compareWin, compareAdmit]) {
          const there = order(a, b);
          if (Math.sign(there) + Math.sign(order(b, a)) !== 0) throw new Error('not antisymmetric');
          if (there < 0 && order(b, c) < 0 && order(a, c) >= 0) throw new Error('not transitive');
          if (there === 0) expect(a).toEqual(b);
        }
        expect(decodeStamp(JSON.parse(encodeStamp(a)) as Json)).toEqual(a);
      }),
      { numRuns: 3000 },
    );
  });

  test('[STP2] who read a later revision wins, and is admitted later: the order extends causality', () => {
    fc.assert(
      fc.property(stamps, stamps, (a, b) => {
        if (a.depth >= b.depth) return;
        expect(compareWin(a, b)).toBeLessThan(0);
        expect(compareAdmit(a, b)).toBeLessThan(0);
      }),
      { numRuns: 3000 },
    );
    const lead = stampOf({ revision: 1, priority: 5, agent: 'z', n: 1 });
    const other = stampOf({ revision: 1, priority: 0, agent: 'a', n: 1 });
    expect(compareWin(lead, other)).toBeGreaterThan(0);
    expect(compareAdmit(lead, other)).toBeLessThan(0);
  });

  test('[STP3] no agent wins ties by its name: over many revisions each wins about as often as the others', () => {
    const groups = [
      ['a', 'b', 'c', 'd', 'e'],
      ['agent-1', 'agent-2', 'agent-3', 'agent-10', 'agent-11'],
      ['w0', 'w1', 'w2', 'w3', 'worker-with-a-long-name'],
      ['aa', 'ab', 'ba', 'bb', 'b'],
    ];
    for (const names of groups) {
      const wins = new Map(names.map((name) => [name, 0]));
      const rounds = 20_000;
      for (let depth = 1; depth <= rounds; depth += 1) {
        const [first] = names.toSorted((a, b) => spin(depth, a) - spin(depth, b) || (a < b ? -1 : 1));
        wins.set(first as string, (wins.get(first as string) ?? 0) + 1);
      }
      for (const count of wins.values()) expect(Math.abs(count - rounds / 5)).toBeLessThan(5 * Math.sqrt((rounds / 5) * 0.8));
    }
  });
});
