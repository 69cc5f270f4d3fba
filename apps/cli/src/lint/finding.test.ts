import { END, MemorySaver, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as langgraph from '../testing/langgraph-state.ts';
import { findingOf } from './finding.ts';
import type { LintFinding } from './finding.ts';
import { reducersIn } from './found-reducer.ts';

const findings = new Map(reducersIn(langgraph).map((found) => [found.name, findingOf(found)]));

/** Laws that fail: required ones, and notes in brackets. */
function failuresOf(finding: LintFinding | undefined): readonly string[] {
  if (finding === undefined || finding.verdict === 'not measured') return [`not measured: ${finding?.why ?? 'not found'}`];
  return finding.laws.filter(({ holds }) => !holds).map(({ law, isRequired }) => (isRequired ? law : `(${law})`));
}

function linesOf(finding: LintFinding | undefined, law: string): readonly string[] | undefined {
  if (finding === undefined || finding.verdict === 'not measured') return undefined;
  return finding.laws.find((one) => one.law === law)?.counterexample?.lines;
}

function only(exports: { readonly [name: string]: unknown }): LintFinding {
  const [found] = reducersIn(exports);
  if (found === undefined) throw new Error('no reducer was found');
  return findingOf(found);
}

describe('states of LangGraph', () => {
  test('[LNT1] every reducer of the real package is found by its shape, and what is exported twice is told once', () => {
    expect([...findings.values()].map(({ name, shape }) => `${name} ${shape}`)).toEqual([
      'Root.steps Annotation',
      'Root.files Annotation',
      'Root.notes Annotation',
      'Root.named Annotation',
      'Root.unnamed Annotation',
      'State.messages ReducedValue',
      'State.total ReducedValue',
      'State.greatest ReducedValue',
      'State.tags ReducedValue',
      'State.pushed ReducedValue',
      'State.seen ReducedValue',
      'State.stamped ReducedValue',
      'State.history DeltaValue',
      'State.hasty DeltaValue',
      'channel DeltaChannel',
    ]);
  });

  test('[LNT2] updates come from the schema, from examples by name, or from the type of a default', () => {
    const sourceOf = (name: string): string | undefined => {
      const finding = findings.get(name);
      return finding === undefined || finding.verdict === 'not measured' ? undefined : finding.values;
    };
    expect(['State.tags', 'Root.notes', 'Root.named', 'Root.steps'].map(sourceOf)).toEqual([
      'schema',
      'examples',
      'examples',
      'default',
    ]);
  });

  test('[LNT3] a list without schema and examples, and a schema that allows anything, are not measured', () => {
    expect(failuresOf(findings.get('Root.files'))).toEqual([
      'not measured: it has no schema and no examples; give export const examples = { files: [update, update] }',
    ]);
    expect(failuresOf(findings.get('State.messages'))).toEqual([
      expect.stringMatching(/^not measured: its schema has no JSON Schema/),
    ]);
  });

  test('[LNT4] an in-place push fails, and so do messages that get an id when they are folded', () => {
    expect(failuresOf(findings.get('State.pushed'))).toEqual(['purity', '(order)']);
    expect(linesOf(findings.get('State.pushed'), 'purity')).toEqual(['state before: []', 'state after: ["a"]']);
    expect(failuresOf(findings.get('Root.unnamed'))[0]).toBe('purity');
    expect(failuresOf(findings.get('Root.named'))).toEqual(['(order)', '(json)']);
  });

  test('[LNT5] a batch reducer that looks at the last write alone fails, the others hold', () => {
    expect(failuresOf(findings.get('State.hasty'))).toEqual(['batching', '(order)']);
    expect(linesOf(findings.get('State.hasty'), 'batching')).toEqual(['one by one: ["a","a"]', 'at once: ["a"]']);
    expect(failuresOf(findings.get('State.history'))).toEqual(['(order)']);
    expect(failuresOf(findings.get('channel'))).toEqual(['(order)', '(json)']);
  });

  test('[LNT5] what fails here comes apart in LangGraph itself: the state that is read back is not the one that was live', async () => {
    const run = async (field: typeof langgraph.history): Promise<readonly unknown[]> => {
      const graph = new StateGraph(new StateSchema({ items: field }))
        .addNode('one', () => ({ items: 'a' }))
        .addNode('two', () => ({ items: 'b' }))
        .addEdge(START, 'one')
        .addEdge('one', 'two')
        .addEdge('two', END)
        .compile({ checkpointer: new MemorySaver() });
      const config = { configurable: { thread_id: 't' } };
      const live = (await graph.invoke({}, config)) as { readonly items: unknown };
      return [live.items, ((await graph.getState(config)).values as { readonly items: unknown }).items];
    };
    expect(await run(langgraph.history)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(await run(langgraph.State.fields.hasty)).toEqual([['a', 'b'], ['b']]);
  });

  test('[LNT6] a date fails the reload; a set is kept by checkpoints, and a note says that JSON loses it', () => {
    expect(failuresOf(findings.get('State.stamped'))).toEqual(['reload', '(order)']);
    expect(failuresOf(findings.get('State.seen'))).toEqual(['(json)']);
    expect(linesOf(findings.get('State.seen'), 'json')).toEqual(['live: Set {}', 'after reload: {}']);
  });

  test('[LNT7] where order decides it is a note, and the verdict is ok', () => {
    expect(findings.get('State.tags')).toMatchObject({ verdict: 'ok' });
    expect(linesOf(findings.get('State.tags'), 'order')).toEqual(['"a" then "b": ["a","b"]', '"b" then "a": ["b","a"]']);
    expect(failuresOf(findings.get('State.total'))).toEqual([]);
  });

  test('[LNT11] a channel without a default begins with its first update, a delta channel with an empty list', () => {
    expect(findings.get('State.greatest')).toMatchObject({ verdict: 'ok' });
    const starts: unknown[] = [];
    const reducer = (state: unknown, writes: readonly unknown[]): readonly unknown[] => {
      starts.push(state);
      return [...(state as readonly unknown[]), ...writes];
    };
    const bare = { lc_graph_name: 'DeltaChannel', reducer };
    expect(only({ bare, examples: { bare: ['a', 'b'] } })).toMatchObject({ verdict: 'ok' });
    expect(starts[0]).toEqual([]);
    const first: unknown[] = [];
    const operator = (state: unknown, update: unknown): unknown => {
      first.push(state);
      return update;
    };
    only({ field: { lc_graph_name: 'BinaryOperatorAggregate', operator }, examples: { field: [7, 8] } });
    expect(first[0]).toBe(7);
  });
});

describe('declarations', () => {
  const sum = (state: number, update: number): number => state + update;

  test('[LNT1] types in place of examples, a batch form in place of a reducer, a start that is made', () => {
    const typed = { reduce: sum, start: 0, state: z.int(), update: z.int().min(0).max(9) };
    expect(only({ typed })).toMatchObject({ shape: 'declaration', verdict: 'ok', values: 'schema' });
    const batch = (state: readonly number[], updates: readonly number[]): readonly number[] => [...state, ...updates];
    const made = only({ made: { batch, start: () => [], updates: [1, 2] } });
    expect(made).toMatchObject({ verdict: 'ok', values: 'examples' });
    expect(made.verdict === 'ok' ? made.laws.map(({ law }) => law) : []).toEqual(['purity', 'batching', 'reload', 'order']);
  });

  test('[LNT2] the samples of a schema are those that it accepts, as it reads them', () => {
    const given = new Set<unknown>();
    const reduce = (state: number, update: number): number => {
      given.add(update);
      return state + update;
    };
    const even = z
      .int()
      .min(0)
      .max(20)
      .refine((value) => value % 2 === 0);
    only({ typed: { reduce, start: 0, update: even } });
    expect([...given].every((update) => (update as number) % 2 === 0)).toBe(true);
    expect(given.size).toBeGreaterThan(3);
  });

  test('[LNT3] what cannot be tried is not measured, and says why', () => {
    const fail = (): never => {
      throw new Error('always');
    };
    const whyOf = (exports: { readonly [name: string]: unknown }): string => failuresOf(only(exports)).join();
    expect(whyOf({ x: { reduce: sum, start: 0 } })).toContain('it has no updates');
    expect(whyOf({ x: { reduce: sum, start: 0, updates: [1, 1] } })).toContain('fewer than 2 different examples');
    expect(whyOf({ x: { reduce: fail, start: 0, updates: [1, 2] } })).toContain('it throws, for every update');
    expect(whyOf({ x: { reduce: () => Promise.reject(new Error('late')), start: 0, updates: [1, 2] } })).toContain(
      'it gives a promise',
    );
    expect(whyOf({ x: { reduce: sum, start: fail, updates: [1, 2] } })).toContain('its default cannot be made');
    expect(whyOf({ x: { reduce: sum, start: 0, update: z.literal(1) } })).toContain('fewer than 2 updates could be made');
    expect(whyOf({ x: { reduce: sum, start: 0, update: z.date() } })).toContain('its schema has no JSON Schema');
    expect(whyOf({ x: sum })).toContain('a function alone has no start');
    // The default is a number, and what the reducer makes of numbers is none.
    const nested = (state: number, update: { readonly by: number }): number => state + update.by;
    expect(whyOf({ x: { lc_graph_name: 'BinaryOperatorAggregate', operator: nested, initialValueFactory: () => 0 } })).toContain(
      'it has no schema and no examples',
    );
  });

  test('[LNT7] a reducer that throws for some updates is measured on the others, with a note', () => {
    const picky = (state: number, update: number): number => {
      if (update === 2) throw new Error('not two');
      return state + update;
    };
    expect(failuresOf(only({ x: { reduce: picky, start: 0, updates: [1, 2, 3] } }))).toEqual(['(total)']);
  });

  test('[LNT6] states that are maps or instances of classes fail, and so does what JSON has no word for', () => {
    class Tally {
      readonly count: number;
      constructor(count: number) {
        this.count = count;
      }
      plus(by: number): Tally {
        return new Tally(this.count + by);
      }
    }
    const tally = only({ x: { reduce: (state: Tally, by: number) => state.plus(by), start: new Tally(0), updates: [3, 4] } });
    expect(linesOf(tally, 'reload')).toEqual(['live: Tally {"count":0}', 'after reload: {"count":0}']);
    const put = (state: ReadonlyMap<string, number>, [key, value]: readonly [string, number]): unknown =>
      new Map(state).set(key, value);
    const map = only({
      x: {
        reduce: put,
        start: new Map(),
        updates: [
          ['a', 1],
          ['b', 2],
        ],
      },
    });
    expect(failuresOf(map)).toEqual(['reload']);
    expect(
      failuresOf(only({ x: { reduce: (state: bigint, by: number) => state + BigInt(by), start: 0n, updates: [1, 2] } })),
    ).toEqual(['reload']);
    const late = only({ x: { reduce: (state: number, by: number) => state / by, start: 0, updates: [0, 1] } });
    expect(linesOf(late, 'reload')).toEqual(['live: NaN', 'after reload: null']);
  });

  test('[LNT1] other exports are no reducers, whatever they are', () => {
    class Thing {}
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const trap = new Proxy(
      {},
      {
        get: () => {
          throw new Error('a trap');
        },
      },
    );
    expect(
      reducersIn({ a: 1, b: null, c: Thing, d: proxy, e: trap, f: { reduce: 1, start: 0 }, g: (one: unknown) => one, h: [] }),
    ).toEqual([]);
    const shared = { reduce: sum, start: 0, updates: [1, 2] };
    expect(reducersIn({ a: shared, b: shared, sum }).map(({ name }) => name)).toEqual(['a']);
  });
});
