import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { timersOf } from './expiry.ts';
import type { Json } from './json.ts';
import { claim } from './kinds/claim.ts';
import { counter } from './kinds/counter.ts';
import { growSet } from './kinds/grow-set.ts';
import { log } from './kinds/log.ts';
import type { LogView } from './kinds/log.ts';
import { map } from './kinds/map.ts';
import { cas, lww } from './kinds/register.ts';
import { viewsOfSpace } from './projection.ts';
import { admit } from './proposal.ts';
import { replay } from './replay.ts';
import { decodeSpace, encodeSpace, stateJson } from './space.ts';
import { codesOf, outcomesOf, sha256, smallTeam } from './testing/index.ts';
import type { SmallTeam } from './testing/index.ts';
import { trieAt } from './trie.ts';

/** Public reports of workers that stall, come back, come twice, and of states that grow. Numbers are those of the collection. */
const text = z.string().max(40);

/** Ends the lease at a path, as a coordinator lets the log say it. */
function expire(team: SmallTeam, path: string): void {
  const timer = timersOf(team.space).find((one) => one.path === path);
  team.events({ kind: 'expire', path, token: timer?.token ?? 0, cause: 'lease' });
}

describe('public reports: workers that stall and come back', () => {
  test('[CLM1][BUG 73] a lock that was dropped is taken by one of two, and the other is told by whom', () => {
    const team = smallTeam({ fields: { locks: map(claim(), { cap: 9 }) } });
    const take = { locks: { at: { l: { claim: true } } } };
    team.ask('c', take);
    team.ask('c', { locks: { drop: ['l'] } });
    const verdicts = team.round({ agent: 'a', patch: take }, { agent: 'b', patch: take });
    expect(verdicts.flatMap(codesOf).toSorted()).toEqual(['committed', 'held']);
    const { holder } = (team.state['locks'] as { l: { holder: string } }).l;
    expect(verdicts.find(({ kind }) => kind === 'rejected')).toMatchObject({ issues: [{ path: '/locks/l', by: holder }] });
  });

  test('[GST2][BUG 79] a job that was given out twice is done once: the second completion changes nothing and is answered', () => {
    const team = smallTeam({ fields: { done: growSet(text, { cap: 9 }), result: map(cas(text), { cap: 9 }), runs: counter() } });
    const complete = { done: { add: ['j1'] }, result: { at: { j1: { set: 'ok' } } } };
    team.ask('a', complete, 0);
    expect(outcomesOf(team.ask('b', complete, 0))).toEqual({ '/done/add/0': 'unchanged', '/result/j1': 'unchanged' });
    // What must not happen twice rests on a premise.
    const counted = { patch: { runs: { inc: 1 } }, premises: ['/done'], base: 0 } as const;
    expect(codesOf(team.round({ agent: 'c', ...counted })[0])).toEqual(['premise']);
    expect(team.state).toEqual({ done: ['j1'], result: { j1: 'ok' }, runs: 0 });
  });

  test('[CLM2][CLM8][BUG 80] the late word of the first holder ends nothing of the second; when that one dies too, the work is free again', () => {
    const team = smallTeam({ fields: { job: claim({ leaseMs: 100 }) } });
    team.ask('a', { job: { claim: true } });
    const viewOfA = team.revision;
    expire(team, '/job');
    team.ask('b', { job: { claim: true } });
    expect(team.ask('a', { job: { release: { outcome: 'done' } } }, viewOfA)).toMatchObject({
      kind: 'rejected',
      issues: [{ path: '/job', by: 'b' }],
    });
    expect(team.state).toMatchObject({ job: { holder: 'b' } });
    expire(team, '/job');
    expect(team.state).toEqual({ job: { holder: null, last: { holder: 'b', how: 'expired', outcome: null } } });
    expect(codesOf(team.ask('c', { job: { claim: true } }))).toEqual(['committed']);
  });

  test('[JDG4][BUG 83] who lost the lead unawares acts no more: its action rests on a claim that is another one now', () => {
    const team = smallTeam({ fields: { lead: claim({ leaseMs: 100 }) } });
    team.ask('a', { lead: { claim: true } });
    const viewOfA = team.revision;
    expire(team, '/lead');
    team.ask('b', { lead: { claim: true } });
    const act = { patch: {}, premises: ['/lead'], action: { name: 'push', args: {} } } as const;
    expect(team.round({ agent: 'a', ...act, base: viewOfA })[0]).toMatchObject({
      kind: 'rejected',
      issues: [{ path: '/lead', code: 'premise', by: 'b' }],
    });
    expect(codesOf(team.round({ agent: 'b', ...act })[0])).toEqual(['committed']);
  });

  test('[CLM10][BUG 85] whoever was taken for dead and completes is told how its holding ended, claims again, and completes', () => {
    const team = smallTeam({ fields: { job: claim({ leaseMs: 100 }), result: cas(text) } });
    team.ask('a', { job: { claim: true } });
    const view = team.revision;
    expire(team, '/job');
    const completion = { job: { release: true }, result: { set: 'ok' } } as const;
    expect(team.ask('a', completion, view)).toMatchObject({
      kind: 'rejected',
      issues: [
        {
          path: '/job',
          code: 'not_owner',
          recovery: 'claim-again',
          hint: expect.stringContaining('until its lease ran out') as string,
        },
      ],
      retry: { after: team.revision },
    });
    expect(team.state['result']).toBe(null);
    team.ask('a', { job: { claim: true } });
    expect(codesOf(team.ask('a', completion))).toEqual(['committed']);
    expect(team.state['result']).toBe('ok');
  });

  test('[CLM1][BUG 86] of two that start one job the first runs it, and the other is told whose it is', () => {
    const team = smallTeam({ fields: { jobs: map(claim(), { cap: 9 }), runs: counter() } });
    const start = { jobs: { at: { j1: { claim: true } } }, runs: { inc: 1 } };
    const verdicts = team.round({ agent: 'a', patch: start }, { agent: 'b', patch: start });
    const { holder } = (team.state['jobs'] as { j1: { holder: string } }).j1;
    expect(verdicts.find(({ kind }) => kind === 'rejected')).toMatchObject({
      issues: [{ path: '/jobs/j1', code: 'held', by: holder }],
    });
    expect(team.state['runs']).toBe(1);
  });
});

describe('public reports: a damaged snapshot', () => {
  test('[RPL1][RPL5][BUG 32] three that meet a damaged snapshot all refuse it and recover the same state from the log', () => {
    const team = smallTeam({ fields: { count: counter(), jobs: map(claim(), { cap: 9 }), notes: log(text, { keep: 9 }) } });
    team.ask('a', { count: { inc: 3 }, jobs: { at: { j: { claim: true } } } });
    team.ask('b', { notes: { append: ['one', 'two'] } });
    const sound = encodeSpace(team.space);
    for (const [piece, by] of [
      ['"two"', '"too"'],
      ['"notes":', '"nodes":'],
      ['"entries":[', '"entries":[[],'],
      ['"revision":2', '"revision":1'],
    ] as const) {
      const damaged = sound.replace(piece, by);
      expect(damaged).not.toBe(sound);
      expect(() => decodeSpace(team.schema, JSON.parse(damaged) as Json)).toThrow(
        expect.objectContaining({ code: 'LOG_DAMAGED', hint: 'Recover from the log instead.' }),
      );
      // Whoever recovers writes the very same snapshot again: there is one, however many saw the damage.
      const written = ['a', 'b', 'c'].map(() => encodeSpace(replay(team.schema, 'example', team.log)));
      expect(new Set([...written, sound]).size).toBe(1);
    }
    expect(stateJson(decodeSpace(team.schema, JSON.parse(sound) as Json))).toEqual(team.state);
  });
});

describe('public reports: growth', () => {
  test('[SEAL7][SEAL8][BUG 70] a thousand short lives under a few names take a few places, and new names beyond the declared number do not join', () => {
    const team = smallTeam({ fields: { last: lww(text), count: counter() }, agentsMax: 4 }, ['w0', 'w1', 'w2', 'w3']);
    const sizes: number[] = [];
    for (let life = 0; life < 1_000; life += 1) {
      const agent = `w${life % 4}`;
      team.events({ kind: 'join', agent, role: 'agent', session: `life-${life}` });
      team.ask(agent, { last: { set: `life ${life}` }, count: { inc: 1 } });
      if (life % 100 === 99) sizes.push(encodeSpace(team.space).length);
    }
    expect(team.state).toEqual({ last: 'life 999', count: 1_000 });
    expect([team.space.agents.size, trieAt(team.space.agents, 'w3')?.n]).toEqual([4, 250]);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(100);
    team.events({ kind: 'join', agent: 'new', role: 'agent', session: 's' });
    expect(trieAt(team.space.agents, 'new')).toBeUndefined();
    // Comparisons are still right: a view from before the last life has not seen it.
    expect(outcomesOf(team.ask('w0', { last: { set: 'late' } }, team.revision - 3))).toEqual({ '/last': 'superseded' });
  });

  test('[GTE1][BUG 91] a result of 100,000 characters is no proposal', () => {
    const whole: Json = { kind: 'proposal', patch: { notes: { append: ['x'.repeat(100_000)] } } };
    expect(admit(JSON.stringify(whole), 'a')).toMatchObject({ ok: false, issues: [{ code: 'too_large' }] });
  });

  test('[KLG9][BUG 91] three agents that leave a note and a large result in each of a thousand steps have a state of one size, and nothing is lost', () => {
    const step = z.strictObject({ note: z.string().max(1_000), result: z.string().length(64) });
    const team = smallTeam({ fields: { steps: log(step, { keep: 16, overflow: 'spill' }) }, horizon: 32 });
    const blobs = new Map<string, string>();
    const stored = (body: string): string => {
      const digest = sha256(body);
      blobs.set(digest, body);
      return digest;
    };
    const sizes: number[] = [];
    const made: string[] = [];
    for (let at = 0; at < 3_000; at += 1) {
      const agent = ['a', 'b', 'c'][at % 3] as string;
      const name = `${agent} at step ${Math.floor(at / 3)}`;
      made.push(name);
      const append = [{ note: name.padEnd(1_000, '.'), result: stored(name.padEnd(100_000, ' ')) }];
      for (const { text: body } of team.sealOne(agent, { steps: { append } }).sealed.spilled) stored(body);
      if (at % 300 === 299) sizes.push(encodeSpace(team.space).length);
    }
    expect(Math.max(...sizes)).toBeLessThan(16 * (1_000 + 64 + 200) + 2_000);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(200);
    expect(JSON.stringify(team.state).length).toBeLessThanOrEqual(team.schema.bytesMax);
    // What fell off is in the artefacts, each of which names the one before; each step names its result.
    const { entries, dropped, spilled } = viewsOfSpace(team.space)['steps'] as LogView<z.infer<typeof step>>;
    const kept = [...entries];
    for (let digest = spilled; digest !== null;) {
      const artefact = JSON.parse(blobs.get(digest) as string) as { before: string | null; entries: typeof kept };
      kept.unshift(...artefact.entries);
      digest = artefact.before;
    }
    expect(dropped).toBe(3_000 - 16);
    expect(kept.map(({ note }) => note.replaceAll('.', ''))).toEqual(made);
    expect(kept.map(({ result }) => blobs.get(result)?.trimEnd())).toEqual(made);
  });

  test('[MAP1][BUG 92] what each run sets again under one name stands there once', () => {
    const team = smallTeam({ fields: { slots: map(cas(z.string().max(2_000)), { cap: 4 }) } });
    const sizes = Array.from({ length: 39 }, (_, run) => {
      team.ask('a', { slots: { at: { sys: { set: `prompt ${run}`.padEnd(2_000, '.') } } } });
      return encodeSpace(team.space).length;
    });
    expect(Object.keys(team.state['slots'] as object)).toEqual(['sys']);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(20);
    expect(outcomesOf(team.ask('a', { slots: { at: { sys: { set: 'prompt 38'.padEnd(2_000, '.') } } } }))).toEqual({
      '/slots/sys': 'unchanged',
    });
  });
});
