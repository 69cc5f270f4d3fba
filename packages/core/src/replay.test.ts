import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { canonical } from './json.ts';
import type { Json, JsonObject } from './json.ts';
import { claim } from './kinds/claim.ts';
import { counter, quota } from './kinds/counter.ts';
import { max, min } from './kinds/extremum.ts';
import { log } from './kinds/log.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { records } from './kinds/records.ts';
import { cas, lww } from './kinds/register.ts';
import { set } from './kinds/set.ts';
import { fold, readEntry, replay } from './replay.ts';
import { decodeSpace, encodeSpace, stateJson, unbornSpace } from './space.ts';
import { smallTeam } from './testing/index.ts';
import type { SmallTeam } from './testing/index.ts';

const text = z.string().max(9);
const pair = z.strictObject({ p: z.int().min(0).max(9) });

function busyTeam(): SmallTeam {
  const team = smallTeam({
    fields: {
      cas: cas(pair, { start: { p: 1 } }),
      lww: lww(text),
      max: max({ lo: 0, hi: 9 }),
      min: min({ lo: 0, hi: 9 }),
      counter: counter(),
      quota: quota({ lo: 0, hi: 9, start: 5 }),
      claim: claim(),
      machine: machine({ start: 'on', moves: { on: ['off'], off: ['on'] } }),
      set: set(pair, { cap: 4 }),
      log: log(text, { keep: 2, order: 'stamp' }),
      map: map(map(cas(text), { cap: 3 }), { cap: 3 }),
      records: records({ n: counter(), l: log(text, { keep: 1 }), s: set(text, { cap: 3 }) }, { cap: 3 }),
    },
  });
  const patch: JsonObject = {
    cas: { set: { p: 2 } },
    lww: { set: 'v' },
    max: { raise: 3 },
    min: { lower: 3 },
    counter: { inc: 3 },
    quota: { inc: -3 },
    claim: { claim: true },
    machine: { to: 'off' },
    set: { add: [{ p: 1 }, { p: 2 }] },
    log: { append: ['1', '2', '3'] },
    map: { at: { '10': { at: { '9': { set: 'x' } } }, gone: { at: { k: { set: 'y' } } } } },
    records: { put: { '7': { n: { inc: 1 }, l: { append: ['1', '2'] }, s: { add: ['x'] } }, gone: {} } },
  };
  team.ask('a', patch);
  team.ask('b', { set: { remove: [{ p: 2 }] }, claim: { claim: true } });
  team.ask('a', { map: { drop: ['gone'] }, records: { drop: ['gone'] }, claim: { release: { outcome: 'done' } } });
  team.round(
    { agent: 'b', patch: { lww: { set: 'b' }, counter: { inc: 1 } } },
    { agent: 'c', patch: { lww: { set: 'c' }, counter: { inc: 1 } } },
    { agent: 'c', patch: { nothing: 1 } },
  );
  team.events({ kind: 'leave', agent: 'c', incarnation: 1 });
  return team;
}

describe('replay', () => {
  test('[RPL1] a log folds to the very state and head that were live', () => {
    const team = busyTeam();
    const space = replay(team.schema, 'example', team.log);
    expect([space.revision, space.head, space.state]).toEqual([team.revision, team.space.head, team.space.state]);
    expect(stateJson(space)).toEqual(team.state);
  });

  test('[RPL2] a gap, a repeat, another space or a broken chain is damage', () => {
    const team = busyTeam();
    const code = { code: 'LOG_DAMAGED' };
    expect(() =>
      replay(
        team.schema,
        'example',
        team.log.filter((_, i) => i !== 2),
      ),
    ).toThrow(expect.objectContaining(code));
    expect(() => replay(team.schema, 'example', [...team.log.slice(0, 2), ...team.log.slice(1)])).toThrow(
      expect.objectContaining(code),
    );
    expect(() => replay(team.schema, 'other', team.log)).toThrow(expect.objectContaining(code));
    const other = smallTeam({ fields: { n: counter() } });
    expect(() => fold(unbornSpace('example', team.schema), other.log[0] ?? '')).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/LOG_DAMAGED|LOG_DIVERGED|INVARIANT/) as string }),
    );
  });

  test('[RPL2] bytes that are no entry, or hold what never passed the gate, are damage', () => {
    const team = busyTeam();
    const last = team.log.at(-2) ?? '';
    const before = team.at(team.revision - 2);
    for (const bytes of [
      '',
      'null',
      '{}',
      last.slice(0, -1),
      last.replace(/"v":1}$/, '"v":2}'),
      last.replace('"members":[', '"members":[{},'),
    ]) {
      expect(() => fold(before, bytes)).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
    }
    const odd = JSON.parse(last) as { members: { proposal?: { patch?: unknown; base?: unknown } }[] };
    for (const member of odd.members) delete member.proposal?.base;
    expect(() => fold(before, canonical(odd as unknown as Json))).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
    const headless = JSON.parse(team.log[0] ?? '') as { members: { event?: { kind: string } }[] };
    headless.members = headless.members.filter(({ event }) => event?.kind !== 'genesis');
    expect(() => fold(unbornSpace('example', team.schema), canonical(headless as unknown as Json))).toThrow(
      expect.objectContaining({ code: 'LOG_DAMAGED' }),
    );
  });

  test('[RPL3] an altered verdict, proposal, state digest or term does not fold to its own bytes', () => {
    const team = busyTeam();
    const at = 2;
    const stored = team.log[at] ?? '';
    const before = team.at(at - 1);
    const changes: ((entry: {
      state: string;
      term: number;
      members: { verdict: { revision?: number }; proposal: { why?: string } }[];
    }) => void)[] = [
      (entry) => (entry.state = '0'.repeat(64)),
      (entry) => entry.members.forEach((member) => (member.verdict = { ...member.verdict, revision: 9 })),
      (entry) => entry.members.forEach((member) => (member.proposal.why = 'altered')),
    ];
    for (const change of changes) {
      const entry = JSON.parse(stored) as Parameters<typeof change>[0];
      change(entry);
      expect(() => fold(before, canonical(entry as unknown as Json))).toThrow(expect.objectContaining({ code: 'LOG_DIVERGED' }));
    }
    expect(() => fold(before, ` ${stored}`)).toThrow(expect.objectContaining({ code: 'LOG_DIVERGED' }));
    expect(() => fold(before, stored.replace('"term":1', '"term":2'))).not.toThrow();
    expect(readEntry(stored).revision).toBe(at);
  });

  test('[RPL4] a snapshot of every kind is canonical, and reads back to the same space', () => {
    const team = busyTeam();
    const { schema } = team;
    for (let revision = 0; revision <= team.revision; revision += 1) {
      const space = team.at(revision);
      const stored = encodeSpace(space);
      expect(canonical(JSON.parse(stored) as Json)).toBe(stored);
      const read = decodeSpace(schema, JSON.parse(stored) as Json);
      expect(encodeSpace(read)).toBe(stored);
      expect(stateJson(read)).toEqual(stateJson(space));
      expect([read.digests, read.state, read.head, read.revision]).toEqual([
        space.digests,
        space.state,
        space.head,
        space.revision,
      ]);
    }
  });

  test('[RPL5] a snapshot with any one value altered, removed or added does not read', () => {
    const team = busyTeam();
    const stored = JSON.parse(encodeSpace(team.space)) as Json;
    let altered = 0;
    for (const change of mutationsOf(stored)) {
      altered += 1;
      expect(() => decodeSpace(team.schema, change)).toThrow(expect.objectContaining({ code: 'LOG_DAMAGED' }));
    }
    expect(altered).toBeGreaterThan(200);
    expect(() => decodeSpace(smallTeam({ fields: { n: counter() } }).schema, stored)).toThrow(
      expect.objectContaining({ code: 'LOG_DAMAGED' }),
    );
  });
});

/** The value with one leaf changed, one member removed or one added, for every place in it. */
function* mutationsOf(value: Json): Generator<Json> {
  if (typeof value === 'number') yield value + 1;
  else if (typeof value === 'string') yield `${value}x`;
  else if (typeof value === 'boolean') yield !value;
  else if (value === null) yield 'x';
  else if (Array.isArray(value)) {
    const items = value as readonly Json[];
    for (const [i, item] of items.entries()) for (const change of mutationsOf(item)) yield items.with(i, change);
    if (items.length > 0) yield items.slice(0, -1);
  } else {
    yield { ...(value as JsonObject), extra: 1 };
    for (const [key, part] of Object.entries(value as JsonObject)) {
      for (const change of mutationsOf(part)) yield { ...(value as JsonObject), [key]: change };
      yield Object.fromEntries(Object.entries(value as JsonObject).filter(([name]) => name !== key));
    }
  }
}
