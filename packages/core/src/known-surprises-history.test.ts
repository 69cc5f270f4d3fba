import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { SystemEvent } from './entry.ts';
import type { Json, JsonObject } from './json.ts';
import { counter } from './kinds/counter.ts';
import { log } from './kinds/log.ts';
import { map } from './kinds/map.ts';
import { multi } from './kinds/multi.ts';
import { records } from './kinds/records.ts';
import { reduce } from './kinds/reduce.ts';
import { cas, lww } from './kinds/register.ts';
import { set } from './kinds/set.ts';
import { fold, replay } from './replay.ts';
import { seal } from './seal.ts';
import type { Space } from './space.ts';
import { decodeSpace, encodeSpace, stateJson, unbornSpace, valuesDigest } from './space.ts';
import { loadState } from './state-schema.ts';
import type { RuleContext } from './state-schema.ts';
import { admittedOf, codesOf, outcomesOf, sha256, shuffled, smallTeam } from './testing/index.ts';

/** Known surprises of systems that merge, as far as a log, a snapshot or a second reader shows them. Numbers are those of the collection. */
const text = z.string().max(40);

/** The space as a reader has it that began from a snapshot. */
function reread(space: Space): Space {
  return decodeSpace(space.schema, JSON.parse(encodeSpace(space)) as Json);
}

/** The proposals of these agents, each its first, on the revision of the space. */
function firstOf(
  space: Space,
  patches: readonly (readonly [string, JsonObject])[],
  incarnation = 1,
): ReturnType<typeof admittedOf>[] {
  const { name, revision, schema } = space;
  return patches.map(([agent, patch]) =>
    admittedOf({ kind: 'proposal', v: 1, space: name, agent, incarnation, n: 1, schema: schema.id, base: { revision }, patch }),
  );
}

describe('known surprises: histories', () => {
  const concatenated = reduce({
    state: z.array(text).max(16),
    update: text,
    start: [],
    reduce: (seen, one) => [...seen, one].slice(-16),
  });

  test('[T1][RPL1][SURPRISE 1] a reducer for which order counts gives what was live on every replay, in whatever order its updates arrived', () => {
    const { space } = smallTeam({ fields: { seen: concatenated } }, ['a', 'b', 'c', 'd']);
    const proposals = firstOf(
      space,
      ['a', 'b', 'c', 'd'].map((agent) => [agent, { seen: { apply: agent } }]),
    );
    const sealed = Array.from({ length: 12 }, (_, seed) =>
      seal(space, { term: 1, events: [], proposals: shuffled(proposals, seed) }),
    );
    expect(new Set(sealed.map((one) => one.text)).size).toBe(1);
    for (const one of sealed) expect(stateJson(fold(space, one.text).space)).toEqual(stateJson(one.space));
    expect((stateJson(sealed[0]?.space as Space)['seen'] as string[]).toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('[DRY2][RPL4][SURPRISE 3] two futures of one revision know nothing of each other', () => {
    const fields = {
      l: log(text, { keep: 9 }),
      m: map(records({ n: counter() }, { cap: 9 }), { cap: 9 }),
      s: set(text, { cap: 9 }),
    };
    const { space } = smallTeam({ fields });
    const before = encodeSpace(space);
    const future = (word: string): Space => {
      const patch: JsonObject = {
        l: { append: [word] },
        m: { at: { k: { put: { r: { n: { inc: 1 } } } } } },
        s: { add: [word] },
      };
      return seal(space, { term: 1, events: [], proposals: firstOf(space, [['a', patch]]) }).space;
    };
    const one = future('one');
    const written = encodeSpace(one);
    const other = future('other');
    expect(stateJson(other)).toEqual({ l: ['other'], m: { k: { r: { n: 1 } } }, s: ['other'] });
    expect([encodeSpace(space), encodeSpace(one)]).toEqual([before, written]);
  });

  test('[RPL2][SEAL3][SURPRISE 5] what is missing in the middle changes nothing that is shown: neither an entry nor a proposal is skipped', () => {
    const team = smallTeam({ fields: { x: cas(text), y: cas(text) } });
    team.ask('a', { x: { set: 'first' } });
    team.ask('b', { y: { set: 'second' } });
    team.ask('a', { x: { set: 'third' } });
    const reader = replay(team.schema, 'example', team.log.slice(0, 2));
    expect(() => fold(reader, team.log[3] as string)).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
    expect(stateJson(reader)).toEqual({ x: 'first', y: null });
    const { schema, revision } = team.space;
    const ahead = admittedOf({
      kind: 'proposal',
      v: 1,
      space: 'example',
      agent: 'a',
      incarnation: 1,
      n: 4,
      schema: schema.id,
      base: { revision },
      patch: { x: { unset: true } },
    });
    expect(seal(team.space, { term: 1, events: [], proposals: [ahead] }).decided).toEqual([]);
  });

  test('[SEAL6][RPL2][SURPRISE 7] a state is seeded once; what another seed began does not continue it', () => {
    const schema = loadState({ name: 'x', version: 1, fields: { doc: log(text, { keep: 9 }), n: counter() } }, sha256);
    const birth = (nonce: string): ReturnType<typeof seal> => {
      const join: SystemEvent = { kind: 'join', agent: 'a', role: 'agent', session: 's' };
      return seal(unbornSpace('s', schema), {
        term: 1,
        events: [{ kind: 'genesis', schema: schema.digest, nonce }, join],
        proposals: [],
      });
    };
    const [one, other] = [birth('one').space, birth('other').space];
    const seeded = seal(one, {
      term: 1,
      events: [],
      proposals: firstOf(one, [['a', { doc: { append: ['seed'] }, n: { inc: 1 } }]]),
    });
    const again: SystemEvent = { kind: 'genesis', schema: schema.digest, nonce: 'again' };
    const twice = seal(seeded.space, { term: 1, events: [again], proposals: [] });
    expect([twice.events, stateJson(twice.space)]).toEqual([[], { doc: ['seed'], n: 1 }]);
    expect(() => fold(other, seeded.text)).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
  });

  test('[RPL4][MLT2][LWW1][SURPRISE 13] who won still wins after a snapshot, and so does who will', () => {
    const team = smallTeam({ fields: { x: multi(text), y: lww(text) } }, ['a', 'b', 'c', 'd']);
    team.round(...['a', 'b', 'c'].map((agent) => ({ agent, patch: { x: { set: agent }, y: { set: agent } } })));
    const stored = reread(team.space);
    expect(stateJson(stored)).toEqual(team.state);
    const late = firstOf(team.at(0), [['d', { x: { set: 'd' }, y: { set: 'd' } }]]);
    const [live, read] = [team.space, stored].map((space) => seal(space, { term: 1, events: [], proposals: late }));
    expect([read?.text, stateJson(read?.space as Space)]).toEqual([live?.text, stateJson(live?.space as Space)]);
    expect((team.state['x'] as { rivals: string[] }).rivals).toHaveLength(2);
  });

  test('[SEAL3][SEAL8][SURPRISE 20] a writer that comes back with an old copy of its past repeats no dot: what it says is left out', () => {
    const team = smallTeam({ fields: { x: cas(text) } });
    const restored = team.space;
    team.ask('a', { x: { set: 'kept' } });
    const [again] = firstOf(restored, [['a', { x: { set: 'lost' } }]]);
    const sealed = seal(team.space, { term: 1, events: [], proposals: again === undefined ? [] : [again] });
    expect([sealed.decided, stateJson(sealed.space)]).toEqual([[], { x: 'kept' }]);
    team.events({ kind: 'join', agent: 'a', role: 'agent', session: 'second' });
    const late = seal(team.space, { term: 1, events: [], proposals: firstOf(team.space, [['a', { x: { unset: true } }]], 2) });
    expect(late.decided).toEqual([]);
    expect(codesOf(team.ask('a', { x: { set: 'more' } }))).toEqual(['committed']);
  });

  test('[RPL1][SURPRISE 24] a replay asks rules and reducers what they were asked live, and nothing else', () => {
    let asked: string[] = [];
    const hear = ({ before, after, agent, role, touched }: RuleContext<{ readonly n: number }>): true => {
      asked.push(JSON.stringify([before.n, after.n, agent, role, touched]));
      return true;
    };
    const n = counter();
    const sum = reduce({
      state: z.int().min(0).max(9_999),
      update: z.int().min(0).max(99),
      start: 0,
      reduce: (total, one) => {
        asked.push(`${total} + ${one}`);
        return Math.min(9_999, total + one);
      },
    });
    const team = smallTeam({ fields: { n, sum }, transitions: { heard: { reads: ['n'], check: hear } } });
    asked = [];
    team.round(...['a', 'b', 'c'].map((agent, i) => ({ agent, patch: { n: { inc: i + 1 }, sum: { apply: i } } })));
    team.ask('b', { n: { inc: 5 }, sum: { apply: [7, 8] } }, 0);
    const live = asked;
    expect(live.length).toBeGreaterThan(8);
    asked = [];
    expect(stateJson(replay(team.schema, 'example', team.log))).toEqual(team.state);
    expect(asked).toEqual(live);
  });

  test('[HRZ1][HRZ3][SURPRISE 25] what waited too long is told so, not dropped', () => {
    const team = smallTeam({ fields: { x: cas(text), n: counter() }, horizon: 4 });
    for (let i = 0; i < 9; i += 1) team.ask('a', { n: { inc: 1 } });
    expect(team.ask('b', { x: { set: 'late' } }, 1)).toMatchObject({
      kind: 'rejected',
      issues: [
        { path: '/base', code: 'stale_base', recovery: 're-read' },
        { path: '/x', code: 'stale_base', recovery: 're-read' },
      ],
    });
  });

  test('[CAS2][JDG4][SURPRISE 25] a commit that changes nothing is no change: it makes nobody stale and moves no value', () => {
    const team = smallTeam({ fields: { x: cas(text), y: cas(text) } });
    team.ask('a', { x: { set: 'v' } });
    const values = valuesDigest(team.space);
    expect(outcomesOf(team.ask('b', { x: { set: 'v' } }))).toEqual({ '/x': 'unchanged' });
    expect(valuesDigest(team.space)).toBe(values);
    const [verdict] = team.round({ agent: 'c', patch: { x: { set: 'w' }, y: { set: 'w' } }, premises: ['/x'], base: 1 });
    expect(codesOf(verdict)).toEqual(['committed']);
  });

  test('[JDG2][SURPRISE 25] a patch of several operations shows as one: at no revision is there a part of it', () => {
    const team = smallTeam({ fields: { x: cas(text), l: log(text, { keep: 9 }), m: map(counter(), { cap: 2 }) } });
    const write = (word: string): JsonObject => ({
      x: { set: word },
      l: { append: [word, word] },
      m: { at: { [word]: { inc: 1 } } },
    });
    team.round({ agent: 'a', patch: write('one') }, { agent: 'b', patch: write('two') });
    team.ask('c', write('three'));
    team.ask('c', write('four'));
    for (let revision = 0; revision <= team.revision; revision += 1) {
      const { x, l, m } = stateJson(team.at(revision)) as { x: string | null; l: string[]; m: object };
      expect({ entries: l.length, last: l.at(-1) ?? null }).toEqual({ entries: 2 * Object.keys(m).length, last: x });
    }
  });

  test('[RPL4][KLG2][SURPRISE 26] order is the same after a snapshot, of what is there and of what comes', () => {
    const team = smallTeam({
      fields: {
        l: log(text, { keep: 20 }),
        s: set(text, { cap: 20 }),
        m: map(cas(text), { cap: 20 }),
        r: records({ t: cas(text) }, { cap: 20 }),
      },
    });
    const write = (words: readonly string[]): JsonObject => ({
      l: { append: words },
      s: { add: words },
      m: { at: Object.fromEntries(words.map((word) => [word, { set: word }])) },
      r: { put: Object.fromEntries(words.map((word) => [word, { t: { set: word } }])) },
    });
    team.round({ agent: 'b', patch: write(['9', 'z', '10']) }, { agent: 'a', patch: write(['é', 'a', 'Z']) });
    const more = firstOf(team.space, [['c', write(['m', '1'])]]);
    const [live, read] = [team.space, reread(team.space)].map((space) =>
      JSON.stringify(stateJson(seal(space, { term: 1, events: [], proposals: more }).space)),
    );
    expect(read).toBe(live);
    // What one patch appends stays together.
    expect((team.state['l'] as string[]).join()).toMatch(/^(?:9,z,10,é,a,Z|é,a,Z,9,z,10)$/);
  });

  test('[SEAL2][JDG2][RPL1][SURPRISE 26] a grouped batch is one entry: each part sees the one before, a refused part leaves nothing, and a reader has the same', () => {
    const fields = { x: cas(text), l: log(text, { keep: 9 }), n: counter(), m: map(cas(text), { cap: 1 }) };
    const batch: readonly JsonObject[] = [
      { x: { set: 'one' }, l: { append: ['one'] }, m: { at: { k: { set: 'one' } } } },
      { x: { set: 'no' }, l: { append: ['no'] }, m: { at: { beyond: { set: 'no' } } } },
      { x: { set: 'two' }, l: { append: ['two'] }, n: { inc: 2 } },
    ];
    const asks = batch.map((patch) => ({ agent: 'a', patch, base: 0 }));
    const [grouped, single] = [smallTeam({ fields }), smallTeam({ fields })];
    const verdicts = grouped.round(...asks);
    expect(verdicts.map(codesOf)).toEqual([['committed'], ['bound'], ['committed']]);
    expect([grouped.revision, grouped.state]).toEqual([1, { x: 'two', l: ['one', 'two'], n: 2, m: { k: 'one' } }]);
    const alone = asks.flatMap((ask) => single.round(ask));
    expect([alone.map(codesOf), single.state]).toEqual([verdicts.map(codesOf), grouped.state]);
    // Readers from the start, and from a snapshot right before the batch.
    for (const before of [replay(grouped.schema, 'example', grouped.log.slice(0, 1)), reread(grouped.at(0))]) {
      const { space, decided } = fold(before, grouped.log[1] as string);
      expect([space.head, space.state, decided.map(({ verdict }) => verdict)]).toEqual([
        grouped.space.head,
        grouped.space.state,
        verdicts,
      ]);
    }
  });
});
