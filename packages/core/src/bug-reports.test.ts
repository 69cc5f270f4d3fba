import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { withoutEchoes } from './echo.ts';
import type { SystemEvent } from './entry.ts';
import { cas } from './kinds/register.ts';
import { counter, quota } from './kinds/counter.ts';
import { log } from './kinds/log.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { max } from './kinds/extremum.ts';
import { records } from './kinds/records.ts';
import { set } from './kinds/set.ts';
import { replay } from './replay.ts';
import { seal } from './seal.ts';
import { composeRecord, emptyShard, foldRecord } from './shard.ts';
import { stateJson } from './space.ts';
import { loadState } from './state-schema.ts';
import { admittedOf, codesOf, outcomesOf, sha256, smallTeam } from './testing/index.ts';
import { trieAt } from './trie.ts';

/** Public reports of shared agent state, restated as tiny trials. Numbers are those of the collection. */
const text = z.string().max(40);
const small = z.int().min(0).max(99);

describe('public reports', () => {
  test('[BUG 1] two branches add one to the same number: the sum, or a conflict by name, and nobody crashes', () => {
    const summed = smallTeam({ fields: { count: counter() } });
    summed.round({ agent: 'a', patch: { count: { inc: 1 } } }, { agent: 'b', patch: { count: { inc: 1 } } });
    expect(summed.state).toEqual({ count: 2 });
    const single = smallTeam({ fields: { count: cas(small, { start: 0 }) } });
    const verdicts = single.round({ agent: 'a', patch: { count: { set: 1 } } }, { agent: 'b', patch: { count: { set: 2 } } });
    expect(verdicts.flatMap(codesOf).sort()).toEqual(['committed', 'conflict']);
    expect(verdicts.find(({ kind }) => kind === 'rejected')).toMatchObject({ issues: [{ path: '/count' }] });
    // Both set 1: to a register, equal values agree (design: "concurrent equal values agree"), and the second is told `unchanged`.
    // A sum that is written as a value is therefore a mistake of the schema, which is what the kind `counter` is for.
    const agreeing = smallTeam({ fields: { count: cas(small, { start: 0 }) } });
    const same = agreeing.round({ agent: 'a', patch: { count: { set: 1 } } }, { agent: 'b', patch: { count: { set: 1 } } });
    expect(same.flatMap(codesOf)).toEqual(['committed', 'committed']);
    expect(same.map(outcomesOf)).toContainEqual({ '/count': 'unchanged' });
    expect(agreeing.state).toEqual({ count: 1 });
  });

  test('[BUG 2] two files saved in one step are both kept', () => {
    const team = smallTeam({ fields: { files: map(cas(text), { cap: 9 }) } });
    const verdicts = team.round(
      { agent: 'a', patch: { files: { at: { a: { set: '1' } } } } },
      { agent: 'b', patch: { files: { at: { b: { set: '2' } } } } },
    );
    expect(verdicts.flatMap(codesOf)).toEqual(['committed', 'committed']);
    expect(team.state).toEqual({ files: { a: '1', b: '2' } });
  });

  test('[BUG 4] a done flag set by two branches is done, and nothing takes it back: max over 0 and 1', () => {
    const team = smallTeam({ fields: { done: max({ lo: 0, hi: 1 }) } });
    team.round({ agent: 'a', patch: { done: { raise: 1 } } }, { agent: 'b', patch: { done: { raise: 1 } } });
    expect(team.state).toEqual({ done: 1 });
    const variant = smallTeam({ fields: { done: max({ lo: 0, hi: 1 }) } });
    const verdicts = variant.round({ agent: 'a', patch: { done: { raise: 1 } } }, { agent: 'b', patch: { done: { raise: 0 } } });
    expect(verdicts.flatMap(codesOf)).toEqual(['committed', 'committed']);
    expect(outcomesOf(variant.ask('b', { done: { raise: 0 } }))).toEqual({ '/done': 'unchanged' });
    expect(variant.state).toEqual({ done: 1 });
  });

  test('[BUG 4] the same as a machine with one final state', () => {
    const team = smallTeam({ fields: { done: machine({ start: 'open', moves: { open: ['done'], done: [] } }) } });
    const verdicts = team.round({ agent: 'a', patch: { done: { to: 'done' } } }, { agent: 'b', patch: { done: { to: 'done' } } });
    expect(verdicts.flatMap(codesOf)).toEqual(['committed', 'committed']);
    expect(codesOf(team.ask('b', { done: { to: 'open' } }))).toEqual(['transition']);
    expect(team.state).toEqual({ done: 'done' });
  });

  test('[BUG 5] branches that echo untouched keys do not collide on them', () => {
    const team = smallTeam({ fields: { a: cas(small, { start: 1 }), b: cas(small, { start: 2 }) } });
    const view = team.space;
    const verdicts = team.round(
      { agent: 'a', patch: withoutEchoes(view, { a: { set: 5 }, b: { set: 2 } }) },
      { agent: 'b', patch: withoutEchoes(view, { a: { set: 1 }, b: { set: 7 } }) },
    );
    expect(verdicts.flatMap(codesOf)).toEqual(['committed', 'committed']);
    expect(team.state).toEqual({ a: 5, b: 7 });
  });

  test('[SHD2][BUG 7][SURPRISE 31] of two coordinators that append after one revision one stands, the other is void, and history is one line', () => {
    const schema = loadState({ name: 'x', version: 1, fields: { n: counter() } }, sha256);
    const start = emptyShard(new Map([['s', schema]]));
    const space = start.spaces.get('s');
    if (space === undefined) throw new Error('no space');
    const join: SystemEvent = { kind: 'join', agent: 'a', role: 'agent', session: 's' };
    const born = composeRecord(start, 1, [
      seal(space, { term: 1, events: [{ kind: 'genesis', schema: schema.digest, nonce: '' }, join], proposals: [] }),
    ]);
    const head = born.shard.spaces.get('s') ?? space;
    const by = (term: number, inc: number): string => {
      const proposal = admittedOf({
        kind: 'proposal',
        v: 1,
        space: 's',
        agent: 'a',
        incarnation: 1,
        n: 1,
        schema: schema.id,
        base: { revision: 0 },
        patch: { n: { inc } },
      });
      return composeRecord(born.shard, term, [seal(head, { term, events: [], proposals: [proposal] })]).body;
    };
    let reader = foldRecord(start, 1, born.body).shard;
    const first = foldRecord(reader, 2, by(2, 1));
    reader = first.shard;
    const second = foldRecord(reader, 3, by(1, 10));
    expect([first.kind, second.kind]).toEqual(['folded', 'void']);
    expect(stateJson(second.shard.spaces.get('s') ?? space)).toEqual({ n: 1 });
  });

  test('[BUG 8] a proposal delivered three times is one change, and its first verdict is kept for the repeats', () => {
    const team = smallTeam({ fields: { n: counter() } });
    const proposal = admittedOf({
      kind: 'proposal',
      v: 1,
      space: 'example',
      agent: 'a',
      incarnation: 1,
      n: 1,
      schema: team.schema.id,
      base: { revision: 0 },
      patch: { n: { inc: 1 } },
    });
    const once = seal(team.space, { term: 1, events: [], proposals: [proposal, proposal] });
    const again = seal(once.space, { term: 1, events: [], proposals: [proposal] });
    expect([once.decided.length, again.decided.length]).toEqual([1, 0]);
    expect(stateJson(again.space)).toEqual({ n: 1 });
    expect(trieAt(again.space.agents, 'a')?.answered).toEqual({
      digest: sha256(proposal.text),
      verdict: once.decided[0]?.verdictText,
    });
  });

  test('[BUG 10] a log that is echoed whole does not double, and its cap is kept', () => {
    const team = smallTeam({ fields: { log: log(text, { keep: 4, id: 'self' }) } });
    for (const list of [['a'], ['a', 'b'], ['a', 'b', 'c']]) team.ask('a', { log: { append: list } });
    expect(team.state).toEqual({ log: ['a', 'b', 'c'] });
    team.ask('b', { log: { append: ['a', 'b', 'c', 'd', 'e'] } });
    expect(team.state).toEqual({ log: ['b', 'c', 'd', 'e'] });
  });

  test('[BUG 11] a value out of range refuses the whole patch, with path, rule and what was wanted', () => {
    const team = smallTeam({ fields: { count: cas(z.int().min(0).max(10), { start: 0 }), note: cas(text) } });
    const before = team.space.digests;
    expect(team.ask('a', { count: { set: 15 }, note: { set: 'ok' } })).toMatchObject({
      kind: 'rejected',
      issues: [{ path: '/count', code: 'bound', rule: 'cas', want: 15, hint: 'It must be at most 10.' }],
    });
    expect(team.space.digests).toEqual(before);
  });

  test('[BUG 16] two requests at once on different keys both commit without a retry', () => {
    const team = smallTeam({ fields: { a: cas(small, { start: 0 }), b: cas(small, { start: 0 }) } });
    expect(
      team.round({ agent: 'a', patch: { a: { set: 1 } } }, { agent: 'b', patch: { b: { set: 1 } } }).flatMap(codesOf),
    ).toEqual(['committed', 'committed']);
    expect(codesOf(team.ask('c', { b: { set: 1 } }, 0))).toEqual(['committed']);
  });

  test('[BUG 17] ten workers on their own keys of one map: no conflict, no retry', () => {
    const workers = Array.from({ length: 10 }, (_, i) => `w${i}`);
    const team = smallTeam({ fields: { r: map(cas(small), { cap: 10 }) } }, workers);
    expect(
      team.round(...workers.map((agent, i) => ({ agent, patch: { r: { at: { [agent]: { set: i } } } } }))).flatMap(codesOf),
    ).toEqual(workers.map(() => 'committed'));
    expect(team.revision).toBe(1);
  });

  test('[BUG 19] two proposals of one agent at one instant are both taken, in its own order; no clock is asked', () => {
    const team = smallTeam({ fields: { x: cas(text), l: log(text, { keep: 4 }) } });
    const verdicts = team.round(
      { agent: 'a', patch: { x: { set: 'p1' }, l: { append: ['p1'] } } },
      { agent: 'a', patch: { x: { set: 'p2' }, l: { append: ['p2'] } } },
    );
    expect(verdicts.flatMap(codesOf)).toEqual(['committed', 'committed']);
    expect(team.state).toEqual({ x: 'p2', l: ['p1', 'p2'] });
  });

  test('[BUG 20] the outputs of parallel agents in one batch are all there', () => {
    const team = smallTeam({ fields: { out1: cas(text), out2: cas(text) } });
    team.round({ agent: 'a', patch: { out1: { set: 'x' } } }, { agent: 'b', patch: { out2: { set: 'y' } } });
    expect(team.state).toEqual({ out1: 'x', out2: 'y' });
  });

  test('[BUG 22] a write from outside is a revision with an author, and does not make another write stale', () => {
    const team = smallTeam({ fields: { pending: set(text, { cap: 9 }), x: cas(small, { start: 1 }) } }, ['a', 'outsider']);
    expect(team.ask('outsider', { pending: { add: ['job'] } })).toEqual({ kind: 'committed', revision: 1 });
    expect(team.ask('a', { x: { set: 2 } }, 0)).toEqual({ kind: 'committed', revision: 2 });
    expect(team.log[1]).toContain('"agent":"outsider"');
  });

  test('[BUG 23] several calls in one turn give one valid state after each, equal to one serial order', () => {
    const team = smallTeam({ fields: { e: records({ name: cas(text), links: set(text, { cap: 4 }) }, { cap: 9 }) } });
    team.ask('a', { e: { put: { old: { name: { set: 'old' } } } } });
    const patches = [
      { put: { x: { name: { set: 'x' } } } },
      { drop: ['old'] },
      { put: { y: { name: { set: 'y' } } } },
      { patch: { x: { links: { add: ['y'] } } } },
    ];
    const verdicts = team.round(...patches.map((patch) => ({ agent: 'a', patch: { e: patch } })));
    expect(verdicts.flatMap(codesOf)).toEqual(patches.map(() => 'committed'));
    expect(team.state).toEqual({ e: { x: { name: 'x', links: ['y'] }, y: { name: 'y', links: [] } } });
    const serial = smallTeam({ fields: { e: records({ name: cas(text), links: set(text, { cap: 4 }) }, { cap: 9 }) } });
    serial.ask('a', { e: { put: { old: { name: { set: 'old' } } } } });
    for (const patch of patches) serial.ask('a', { e: patch });
    expect(serial.state).toEqual(team.state);
  });

  test('[BUG 25] two agents that add a task at once get two tasks with different ids', () => {
    const team = smallTeam({ fields: { tasks: records({ title: cas(text) }, { cap: 9 }) } });
    team.ask('c', { tasks: { add: [{ title: { set: '1' } }, { title: { set: '2' } }, { title: { set: '3' } }] } });
    team.round(
      { agent: 'a', patch: { tasks: { add: [{ title: { set: 'foo' } }] } } },
      { agent: 'b', patch: { tasks: { add: [{ title: { set: 'bar' } }] } } },
    );
    const titles = Object.values(team.state['tasks'] as { [id: string]: { title: string } }).map(({ title }) => title);
    expect(titles.sort()).toEqual(['1', '2', '3', 'bar', 'foo']);
  });

  test('[BUG 26] two messages to one inbox are both there, in the same order on every replay', () => {
    const team = smallTeam({ fields: { inbox: log(text, { keep: 9 }) } });
    team.round({ agent: 'a', patch: { inbox: { append: ['mA'] } } }, { agent: 'b', patch: { inbox: { append: ['mB'] } } });
    expect([...(team.state['inbox'] as string[])].sort()).toEqual(['mA', 'mB']);
    expect(stateJson(replay(team.schema, 'example', team.log))).toEqual(team.state);
  });

  test('[BUG 28] a change made on an old view touches what it names and nothing else', () => {
    const team = smallTeam({ fields: { t: records({ s: cas(text), sub: set(text, { cap: 4 }) }, { cap: 4 }) } });
    team.ask('c', { t: { put: { t1: { s: { set: 'todo' } }, t2: {} } } });
    team.ask('a', { t: { patch: { t1: { s: { set: 'done' } } } } });
    expect(codesOf(team.ask('b', { t: { patch: { t2: { sub: { add: ['new'] } } } } }, 1))).toEqual(['committed']);
    expect(team.state).toEqual({ t: { t1: { s: 'done', sub: [] }, t2: { s: null, sub: ['new'] } } });
  });

  test('[BUG 29] a member that sends the whole plan changes only what differs from its view', () => {
    const team = smallTeam({ fields: { plan: map(cas(text), { cap: 9 }) } });
    team.ask('c', { plan: { at: { goal: { set: 'ship' } } } });
    const view = team.space;
    team.ask('a', { plan: { at: { api: { set: 'rest' }, goal: { set: 'ship soon' } } } });
    const lean = withoutEchoes(view, { plan: { at: { goal: { set: 'ship' }, db: { set: 'sql' } } } });
    expect(codesOf(team.ask('b', lean, view.revision))).toEqual(['committed']);
    expect(team.state).toEqual({ plan: { api: 'rest', db: 'sql', goal: 'ship soon' } });
  });

  test('[BUG 43] nested and compound changes of two agents are both in', () => {
    const team = smallTeam({ fields: { user: records({ score: counter(), tags: set(text, { cap: 9 }) }, { cap: 2 }) } });
    team.ask('c', { user: { put: { u: {} } } });
    team.round(
      ...['a', 'b'].map((agent) => ({ agent, patch: { user: { patch: { u: { score: { inc: 1 }, tags: { add: [agent] } } } } } })),
    );
    expect(team.state).toEqual({ user: { u: { score: 2, tags: ['a', 'b'] } } });
  });

  test('[BUG 44] a branch that ends after the join has fired is not lost', () => {
    const join = machine({ start: 'waiting', moves: { waiting: ['fired'], fired: [] } });
    const team = smallTeam({ fields: { f: cas(text), s: cas(text), join } });
    team.ask('a', { f: { set: 'first' }, join: { to: 'fired' } });
    expect(codesOf(team.ask('b', { s: { set: 'second' } }, 0))).toEqual(['committed']);
    expect(team.state).toEqual({ f: 'first', s: 'second', join: 'fired' });
  });

  test('[BUG 46] teams on different spaces see nothing of each other', () => {
    const fields = { topic: cas(text), left: quota({ lo: 0, hi: 3, start: 3 }) };
    const [x, y] = [smallTeam({ fields }), smallTeam({ fields })];
    x.ask('a', { topic: { set: 'a' }, left: { inc: -1 } });
    expect(y.state).toEqual({ topic: null, left: 3 });
    expect(codesOf(y.ask('a', { topic: { set: 'b' } }))).toEqual(['committed']);
    expect(x.state).toEqual({ topic: 'a', left: 2 });
  });
});
