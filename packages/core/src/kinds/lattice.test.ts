import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { codesOf, loading, outcomesOf, runsOf, smallTeam } from '../testing/index.ts';
import { lattice } from './lattice.ts';

const status = lattice({
  start: 'open',
  edges: { open: ['doing'], doing: ['done', 'failed'], done: ['disputed'], failed: ['disputed'], disputed: [] },
});

describe('lattice', () => {
  test('[LAT1] the value is the join of all states advanced to, in any order and however often', () => {
    const agents = ['a', 'b', 'c'];
    const states = fc.array(fc.constantFrom('open', 'doing', 'done', 'failed', 'disputed'), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(states, (wanted) => {
        const end = (list: readonly string[]): unknown => {
          const team = smallTeam({ fields: { x: status } });
          for (const [i, advance] of list.entries()) team.ask(agents[i % 3] as string, { x: { advance } }, 0);
          return team.state['x'];
        };
        expect(end(wanted.toReversed())).toBe(end([...wanted, ...wanted]));
      }),
      { numRuns: Math.min(200, runsOf()) },
    );
    const team = smallTeam({ fields: { x: status } });
    team.round({ agent: 'a', patch: { x: { advance: 'done' } } }, { agent: 'b', patch: { x: { advance: 'failed' } } });
    expect(team.state).toEqual({ x: 'disputed' });
  });

  test('[LAT2] an advance to what stands already, or to a state below it, is unchanged', () => {
    const team = smallTeam({ fields: { x: status } });
    expect(outcomesOf(team.ask('a', { x: { advance: 'open' } }))).toEqual({ '/x': 'unchanged' });
    expect(outcomesOf(team.ask('a', { x: { advance: 'done' } }))).toEqual({});
    expect(outcomesOf(team.ask('b', { x: { advance: 'doing' } }, 0))).toEqual({ '/x': 'unchanged' });
    expect(team.state).toEqual({ x: 'done' });
  });

  test('[LAT3] who asked for a state that gave way to a higher one is told which, and whose change it met', () => {
    const team = smallTeam({ fields: { x: status } });
    team.ask('a', { x: { advance: 'failed' } });
    expect(team.ask('b', { x: { advance: 'done' } })).toMatchObject({
      kind: 'committed',
      outcomes: { '/x': { kind: 'superseded', by: 'a', value: 'disputed' } },
    });
    expect(team.state).toEqual({ x: 'disputed' });
  });

  test('[XPL4] its samples begin with the ways from the start, then come other states, the start last', () => {
    const short = lattice({ start: 'open', edges: { open: ['doing'], doing: ['done'], done: [] } });
    expect(short.samples()).toEqual([{ advance: 'doing' }, { advance: 'done' }, { advance: 'open' }]);
    expect(status.samples()).toHaveLength(4);
  });

  test('[LAT4] edges that go round, an unknown state, and a start that is not below all do not load', () => {
    const bad = (start: string, edges: { readonly [state: string]: readonly string[] }) => loading(lattice({ start, edges }));
    expect(bad('a', { a: ['b'], b: ['c'], c: ['b'] })).toThrow('lattice: b leads to c, and c back to b');
    expect(bad('a', { a: ['a'] })).toThrow('a leads to itself');
    expect(bad('a', { a: ['b'] })).toThrow('a leads to b, which is no state');
    expect(bad('z', { a: [] })).toThrow('the start z is no state');
    expect(bad('a', { a: ['t'], b: ['t'], t: [] })).toThrow('the start a is not below b');
    expect(bad('a', {})).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    const chain = Array.from({ length: 65 }, (_, i): [string, string[]] => [`s${i}`, i === 64 ? [] : [`s${i + 1}`]]);
    expect(bad('s0', Object.fromEntries(chain))).toThrow('65 states');
    expect(bad('s1', Object.fromEntries(chain.slice(1)))).not.toThrow();
  });

  test('[LAT5] two states without exactly one least upper bound do not load, and are named with what is missing', () => {
    const none = loading(lattice({ start: 'open', edges: { open: ['done', 'failed'], done: [], failed: [] } }));
    expect(none).toThrow('lattice: done and failed have no least upper bound');
    expect(none).toThrow(expect.objectContaining({ hint: expect.stringContaining('Add a state above both, such as disputed') }));
    const two = loading(
      lattice({ start: 'o', edges: { o: ['a', 'b'], a: ['p', 'q'], b: ['p', 'q'], p: ['t'], q: ['t'], t: [] } }),
    );
    expect(two).toThrow('a and b have no least upper bound: p and q stand above both, neither below the other');
    expect(two).toThrow(
      expect.objectContaining({ code: 'SCHEMA_INVALID', hint: expect.stringContaining('above a and b, below p and q') }),
    );
  });

  test('[LAT5] a table loads iff each two states have one least upper bound, and that is their join', () => {
    // States 0 to 5; 0 leads to all, a bit decides each further upward edge.
    const upward = [1, 2, 3, 4].flatMap((low) => [2, 3, 4, 5].filter((high) => high > low).map((high) => [low, high] as const));
    let [loaded, refused] = [0, 0];
    fc.assert(
      fc.property(fc.nat(2 ** upward.length - 1), (bits) => {
        const isEdge = (low: number, high: number): boolean =>
          low === 0 ? high > 0 : upward.some(([a, b], i) => a === low && b === high && (bits >> i) % 2 === 1);
        const all = [0, 1, 2, 3, 4, 5];
        const isBelow = (low: number, high: number): boolean =>
          low === high || all.some((next) => isEdge(low, next) && isBelow(next, high));
        const boundsOf = (a: number, b: number): readonly number[] => {
          const common = all.filter((state) => isBelow(a, state) && isBelow(b, state));
          return common.filter((state) => common.every((other) => isBelow(state, other)));
        };
        const isSound = all.every((a) => all.every((b) => boundsOf(a, b).length === 1));
        const edges = Object.fromEntries(
          all.map((low) => [`s${low}`, all.filter((high) => isEdge(low, high)).map((high) => `s${high}`)]),
        );
        if (!isSound) {
          refused += 1;
          expect(loading(lattice({ start: 's0', edges }))).toThrow('no least upper bound');
          return;
        }
        loaded += 1;
        const kind = lattice({ start: 's0', edges });
        for (const a of all)
          for (const b of all)
            expect(
              kind.assign({ value: `s${a}`, mark: undefined }, { kind: 'set', value: `s${b}` }, '', () => undefined),
            ).toEqual(a !== b && boundsOf(a, b)[0] === b ? { advance: `s${b}` } : undefined);
        for (const [a, b] of upward) {
          const team = smallTeam({ fields: { x: kind } });
          for (const state of [a, b]) team.ask('a', { x: { advance: `s${state}` } });
          expect(team.state).toEqual({ x: `s${boundsOf(a, b)[0]}` });
        }
      }),
      { numRuns: Math.min(300, runsOf()), seed: 7 },
    );
    expect(Math.min(loaded, refused)).toBeGreaterThan(10);
  });

  test('[LAT6] advance to a declared state is the only verb, and a lattice is not set back', () => {
    const team = smallTeam({ fields: { x: status } });
    for (const patch of [{ advance: 'nowhere' }, { advance: 1 }, { to: 'done' }, { advance: 'toString' }, {}])
      expect(codesOf(team.ask('a', { x: patch }))).toEqual(['schema']);
    const cell = { value: 'done', mark: undefined };
    const said: string[] = [];
    const assign = (value: string): unknown =>
      status.assign(cell, { kind: 'set', value }, '/x', (_, refusal) => said.push(refusal.hint));
    expect(assign('disputed')).toEqual({ advance: 'disputed' });
    expect(assign('done')).toBeUndefined();
    expect(said).toEqual([]);
    expect(assign('open')).toBeUndefined();
    expect(said).toEqual(['A lattice never goes back; above done stand disputed.']);
  });
});
