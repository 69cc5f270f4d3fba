import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { confluenceOf } from './confluence.ts';
import { explainState, toldLine } from './explain.ts';
import { claim } from './kinds/claim.ts';
import { counter, quota } from './kinds/counter.ts';
import { derived } from './kinds/derived.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { records } from './kinds/records.ts';
import { cas, lww } from './kinds/register.ts';
import { set } from './kinds/set.ts';
import { defineState, field, loadState } from './state-schema.ts';
import type { Rule } from './state-schema.ts';
import { fieldOf, sha256, specFrom, choiceOf, numbersFrom } from './testing/index.ts';

const text = z.string().max(20);
const done = counter();
const board = defineState({
  name: 'board',
  version: 1,
  roles: { lead: { priority: 1 }, hand: { priority: 0 } },
  fields: {
    title: field(cas(text), { doc: 'What the board is about.', writers: ['lead'] }),
    mood: lww(text),
    done,
    share: derived(z.int().min(-9_999).max(9_999), {
      from: { done },
      compute: (views) => Math.max(-9_999, Math.min(views.done, 9_999)),
    }),
    tags: set(text, { cap: 4 }),
    notes: map(map(cas(text), { cap: 2 }), { cap: 3 }),
    tasks: records({ owner: claim(), points: counter() }, { cap: 5 }),
  },
});

/** Some sample kinds name a role in their options. */
const SAMPLE_ROLES = { lead: { priority: 1 }, worker: { priority: 0 } };

describe('explanations', () => {
  test('[XPL1] each field says its kind, cap, grade, why, verbs and who may write, and so does all below it', () => {
    const explained = explainState(loadState(board, sha256));
    expect(explained.map(({ path, kind, grade }) => `${path} ${kind} ${grade}`)).toEqual([
      '/done counter A',
      '/mood lww A',
      '/notes map B',
      '/notes/* map B',
      '/notes/*/* cas B',
      '/share derived A',
      '/tags set B',
      '/tasks records B',
      '/tasks/*/owner claim B',
      '/tasks/*/points counter A',
      '/title cas B',
    ]);
    for (const { why, verbs, kind, patches } of explained) {
      expect(why).not.toBe('');
      expect(verbs.length > 0 && patches.length > 0).toBe(kind !== 'derived');
    }
    expect(explained.at(-1)).toMatchObject({ writers: ['lead'], summary: 'What the board is about.', verbs: ['set', 'unset'] });
    expect(explained.find(({ path }) => path === '/tags')?.cap).toEqual({ bytes: 2 + 4 * 63, count: 4 });
  });

  test('[XPL5] a field that a rule reads is of grade B, whatever its kind: the log decides which of two patches is refused', () => {
    const check = (): true => true;
    const rules = {
      invariants: { enough: { reads: ['share' as const], check } },
      transitions: { calm: { reads: ['tags' as const], check } },
    };
    const explained = explainState(loadState({ ...board, ...rules }, sha256));
    const grades = Object.fromEntries(
      explained.map(({ path, grade, why }) => [path, `${grade} ${/refuse the second of two: (.*)$/.exec(why)?.[1] ?? ''}`]),
    );
    expect(grades).toMatchObject({ '/done': 'B enough', '/share': 'B enough', '/tags': 'B calm', '/mood': 'A ' });
  });

  test('[XPL2] what happens when two write at once is run, not told', () => {
    const examples = new Map(explainState(loadState(board, sha256)).map(({ path, example }) => [path, example]));
    const lines = (path: string): readonly string[] => (examples.get(path)?.told ?? []).map(toldLine);
    expect(lines('/title')).toEqual([
      'bo {"set":"b"} -> committed',
      'ana {"set":"a"} -> rejected, conflict: It changed after your view was made. Look at what is there now and decide again.',
    ]);
    expect(lines('/mood').some((line) => line.includes('superseded by'))).toBe(true);
    expect(lines('/done')).toHaveLength(2);
    expect(examples.get('/done')).toMatchObject({ before: 0, after: 0 });
    expect(lines('/tasks/*/owner').some((line) => line.includes('held'))).toBe(true);
    expect(examples.get('/share')).toBeUndefined();
  });

  test('[XPL2] a line says the patch, the verdict, and each outcome or issue', () => {
    const told = { agent: 'ana', patch: { set: 'a' }, verdict: 'committed' } as const;
    expect(toldLine(told)).toBe('ana {"set":"a"} -> committed');
    expect(
      toldLine({
        ...told,
        outcomes: {
          '/a': { kind: 'merged', over: { agent: 'bo', n: 1 } },
          '/b': { kind: 'merged' },
          '/c': { kind: 'superseded', by: 'cy', value: 7 },
          '/d': { kind: 'unchanged' },
        },
      }),
    ).toBe('ana {"set":"a"} -> committed, merged over bo; merged; superseded by cy, 7 stands; unchanged');
  });

  test('[XPL3] every kind can be explained, alone and nested', () => {
    for (let seed = 0; seed < 300; seed += 1) {
      const spec = specFrom(choiceOf(numbersFrom(seed)()), 0);
      const schema = loadState({ name: 'one', version: 1, fields: { f: fieldOf(spec) }, roles: SAMPLE_ROLES }, sha256);
      for (const { patches, example, kind } of explainState(schema)) {
        if (kind === 'derived') continue;
        expect(patches.length, `${kind} of ${JSON.stringify(spec)}`).toBeGreaterThan(0);
        expect(example?.told, `${kind} of ${JSON.stringify(spec)}`).toHaveLength(2);
      }
    }
  });

  test('[XPL4] the samples of every kind are read by it', () => {
    for (let seed = 0; seed < 300; seed += 1) {
      const kind = fieldOf(specFrom(choiceOf(numbersFrom(seed)()), 0));
      const complaints: string[] = [];
      for (const sample of kind.samples()) {
        const op = kind.read(sample, '', (path, { hint }) => complaints.push(`${kind.name} ${path} ${hint}`));
        expect(op).toBeDefined();
        if (op !== undefined) expect(kind.read(kind.write(op), '', () => undefined)).toEqual(op);
      }
      expect(complaints).toEqual([]);
    }
  });
});

describe('invariant confluence', () => {
  const fields = {
    left: counter({ start: 2 }),
    phase: machine({ start: 'open', moves: { open: ['closed'], closed: ['open'] } }),
    goal: cas(text, { start: 'x' }),
  };

  test('[CFL1] an invariant that two patches break together is shown with the smallest such pair', () => {
    const schema = loadState(
      {
        name: 'stock',
        version: 1,
        fields,
        invariants: { notNegative: { reads: ['left'], check: ({ after }) => after.left >= 0 || 'Nothing is left.' } },
      },
      sha256,
    );
    expect(confluenceOf(schema)).toMatchObject([
      {
        invariant: 'notNegative',
        verdict: 'not confluent',
        counterexample: {
          state: { left: 1 },
          one: { left: { inc: -1 } },
          other: { left: { inc: -1 } },
          hint: 'Nothing is left.',
        },
      },
    ]);
  });

  test('[CFL2] one that ties two fields is found by writes to both', () => {
    const schema = loadState(
      {
        name: 'goal',
        version: 1,
        fields,
        invariants: {
          closedHasGoal: {
            reads: ['phase', 'goal'],
            check: ({ after }) => after.phase === 'open' || after.goal !== undefined || 'Closed without a goal.',
          },
        },
      },
      sha256,
    );
    expect(confluenceOf(schema)).toMatchObject([
      {
        verdict: 'not confluent',
        counterexample: {
          state: { phase: 'open', goal: 'x' },
          one: { phase: { to: 'closed' } },
          other: { goal: { unset: true } },
        },
      },
    ]);
  });

  test('[CFL3] one that no pair breaks is said to be confluent, with how much was tried', () => {
    const quick = { spent: quota({ lo: 0, hi: 3, start: 0 }), tags: set(z.enum(['a', 'b']), { cap: 2 }) };
    const schema = loadState(
      {
        name: 'fine',
        version: 1,
        fields: quick,
        invariants: { small: { reads: ['tags'], check: ({ after }) => after.tags.size <= 2 || 'Too many.' } },
      },
      sha256,
    );
    const [found] = confluenceOf(schema);
    expect(found).toMatchObject({ invariant: 'small', verdict: 'confluent' });
    expect(found?.pairs).toBeGreaterThan(5);
    expect(found?.states).toBeGreaterThan(2);
  });

  test('[CFL5] where no two patches are fine on one state it says so, and nothing else', () => {
    const schema = loadState(
      {
        name: 'stuck',
        version: 1,
        fields: { n: counter() },
        invariants: { still: { reads: ['n'], check: ({ after }) => after.n === 0 || 'It moved.' } },
      },
      sha256,
    );
    expect(confluenceOf(schema)).toEqual([{ invariant: 'still', states: 1, pairs: 0, verdict: 'not measured' }]);
  });

  test('[CFL2] a bound that is hundreds of patches away is found, alone and over two fields', () => {
    const two = { a: counter(), b: counter() };
    const below: Rule<typeof two> = { reads: ['a', 'b'], check: ({ after }) => after.a + after.b <= 1000 || 'Too much.' };
    const alone: Rule<typeof two> = { reads: ['a'], check: ({ after }) => after.a <= 150 || 'Too much.' };
    const found = confluenceOf(loadState({ name: 'far', version: 1, fields: two, invariants: { alone, below } }, sha256), 20);
    expect(found.map(({ invariant, verdict }) => [invariant, verdict])).toEqual([
      ['alone', 'not confluent'],
      ['below', 'not confluent'],
    ]);
  });

  test('[CFL2] one value under two keys is found, where a key alone may not be made', () => {
    const fields2 = {
      shelves: map(cas(text), {
        cap: 9,
        keys: z
          .string()
          .regex(/^S\d{3}$/)
          .max(4)
          .refine((key) => key !== 'S000'),
      }),
      received: counter(),
    };
    const schema = loadState(
      {
        name: 'shelves',
        version: 1,
        fields: fields2,
        invariants: {
          'an item stands once': {
            reads: ['shelves'],
            check: ({ after }) => new Set([...after.shelves].map(([, item]) => item)).size === after.shelves.size || 'Twice.',
          },
          'as much as was received': {
            reads: ['shelves', 'received'],
            check: ({ after }) => after.shelves.size === after.received || 'Not as much.',
          },
        },
      },
      sha256,
    );
    expect(confluenceOf(schema)[0]).toMatchObject({ invariant: 'an item stands once', verdict: 'not confluent' });
  });

  test('[CFL4] the search is bounded and says the same each time', () => {
    const schema = loadState(
      {
        name: 'wide',
        version: 1,
        fields: { n: counter(), m: map(counter(), { cap: 9 }) },
        invariants: { ok: { reads: ['n', 'm'], check: () => true } },
      },
      sha256,
    );
    const first = confluenceOf(schema, 20);
    expect(first).toMatchObject([{ verdict: 'confluent' }]);
    expect(confluenceOf(schema, 20)).toEqual(first);
  });
});
