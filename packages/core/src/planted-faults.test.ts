import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { Attempt, Field, FieldKind } from './field-kind.ts';
import type { Json, JsonObject } from './json.ts';
import { seal } from './seal.ts';
import type { Round, Sealed } from './seal.ts';
import type { Space } from './space.ts';
import {
  brokenBounds,
  brokenConfluence,
  brokenDedupe,
  brokenReplay,
  histories,
  lostUpdate,
  QUIET_SETTLING,
  resurrected,
  play,
  stateOf,
} from './testing/index.ts';
import type { FieldSpec, Play, SampleState } from './testing/index.ts';
import type { Trie } from './trie.ts';
import { trieEntries, trieWith } from './trie.ts';

/** The promises must notice what is broken: each fault is planted through a public shape, and the check of the promise must find it. */
function finds(state: SampleState, broken: (played: Play, seed: number) => string | undefined, sealWith?: typeof seal): boolean {
  const result = fc.check(
    fc.property(histories(fc.constant(0)), fc.nat(0xffffff), (history, seed) => {
      try {
        return broken(play(history, state, sealWith), seed) === undefined;
      } catch {
        return false;
      }
    }),
    { numRuns: 500, seed: 7 },
  );
  return result.failed;
}

const MIXED: { readonly [name: string]: FieldSpec } = {
  a: { kind: 'cas', of: 'text' },
  b: { kind: 'quota', lo: 0, hi: 4, start: 2 },
  c: { kind: 'log', of: 'text', keep: 3, order: 'commit' },
};
const MAPS: { readonly [name: string]: FieldSpec } = { m: { kind: 'map', of: { kind: 'cas', of: 'text' }, cap: 3 } };

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 300_000 });

describe('tests of the tests', () => {
  test('[T1] a seal without the sort is found', () => {
    const inArrivalOrder = (space: Space, round: Round): Sealed => {
      let sealed = seal(space, { ...round, proposals: [] });
      for (const one of round.proposals) sealed = seal(sealed.space, { ...round, events: [], proposals: [one] });
      return sealed;
    };
    const state = stateOf(MIXED);
    expect(finds(state, (played, seed) => brokenConfluence(played, seed, inArrivalOrder), inArrivalOrder)).toBe(true);
    expect(finds(state, (played, seed) => brokenConfluence(played, seed))).toBe(false);
  });

  test('[T4] a kind that forgets its tombstones when it is read back is found', () => {
    const forgetful = (kind: Field): Field =>
      ({ ...kind, decode: (stored: Json) => kind.decode({ ...(stored as JsonObject), graves: null }) }) as Field;
    expect(finds(stateOf(MAPS, forgetful), brokenReplay)).toBe(true);
    expect(finds(stateOf(MAPS), brokenReplay)).toBe(false);
  });

  test('[T4] a kind that neither digests nor stores the mark of a write is found', () => {
    const bare = (text: string): string => text.replace(/"mark":(?:null|\[[^\]]*\])/, '"mark":null');
    const markless = (kind: Field): Field =>
      ({
        ...kind,
        encode: (cell: unknown) => bare(kind.encode(cell)),
        digest: (cell: unknown, hash: (text: string) => string) => hash(bare(kind.encode(cell))),
      }) as Field;
    const specs: { readonly [name: string]: FieldSpec } = { a: { kind: 'cas', of: 'text' } };
    expect(finds(stateOf(specs, markless), brokenReplay)).toBe(true);
    expect(finds(stateOf(specs), brokenReplay)).toBe(false);
  });

  test('[T5] a compare-and-set that compares nothing is found', () => {
    const blind = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) => kind.fold(cell, op, path, seeingAll(attempt)));
    const specs: { readonly [name: string]: FieldSpec } = { a: { kind: 'cas', of: 'text' } };
    expect(finds(stateOf(specs, blind), lostUpdate)).toBe(true);
    expect(finds(stateOf(specs), lostUpdate)).toBe(false);
  });

  test('[T5] a set whose remove takes what it never saw is found', () => {
    const greedy = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) => kind.fold(cell, op, path, seeingAll(attempt)));
    const specs: { readonly [name: string]: FieldSpec } = { s: { kind: 'set', of: 'digit', cap: 4 } };
    expect(finds(stateOf(specs, greedy), lostUpdate)).toBe(true);
    expect(finds(stateOf(specs), lostUpdate)).toBe(false);
  });

  test('[T5] a multi whose set takes what it never saw is found', () => {
    const greedy = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) => kind.fold(cell, op, path, seeingAll(attempt)));
    const specs: { readonly [name: string]: FieldSpec } = { m: { kind: 'multi', of: 'text', cap: 4 } };
    expect(finds(stateOf(specs, greedy), lostUpdate)).toBe(true);
    expect(finds(stateOf(specs), lostUpdate)).toBe(false);
  });

  test('[T5] an owned value that is taken by force without a word is found', () => {
    const silent = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) => kind.fold(cell, op, path, { ...bound(attempt), note: () => undefined }));
    const specs: { readonly [name: string]: FieldSpec } = { o: { kind: 'owned', of: 'text', isForced: true } };
    expect(finds(stateOf(specs, silent), lostUpdate)).toBe(true);
    expect(finds(stateOf(specs), lostUpdate)).toBe(false);
  });

  test('[T5] a log that evicts without a word is found', () => {
    const silent = (kind: Field): Field =>
      ({ ...kind, settle: (cell: unknown, path: string) => kind.settle?.(cell, path, QUIET_SETTLING) }) as Field;
    const specs: { readonly [name: string]: FieldSpec } = { l: { kind: 'log', of: 'text', keep: 2, order: 'stamp' } };
    expect(finds(stateOf(specs, silent), lostUpdate)).toBe(true);
    expect(finds(stateOf(specs), lostUpdate)).toBe(false);
  });

  test('[T5] a reduce that takes the first of several updates alone is found', () => {
    const hasty = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) =>
        kind.fold(cell, { updates: (op as { readonly updates: readonly Json[] }).updates.slice(0, 1) }, path, attempt),
      );
    for (const by of ['top', 'tail']) {
      const specs: { readonly [name: string]: FieldSpec } = { r: { kind: 'reduce', by } };
      expect(finds(stateOf(specs, hasty), lostUpdate)).toBe(true);
      expect(finds(stateOf(specs), lostUpdate)).toBe(false);
    }
  });

  test('[T5] a top-k that evicts without a word is found', () => {
    const silent = (kind: Field): Field =>
      ({ ...kind, settle: (cell: unknown, path: string) => kind.settle?.(cell, path, QUIET_SETTLING) }) as Field;
    const specs: { readonly [name: string]: FieldSpec } = { t: { kind: 'top-k', k: 2 } };
    expect(finds(stateOf(specs, silent), lostUpdate)).toBe(true);
    expect(finds(stateOf(specs), lostUpdate)).toBe(false);
  });

  test('[T5] a remove that beats adds without a word is found, and so is one that beats none', () => {
    const silent = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) => kind.fold(cell, op, path, { ...bound(attempt), note: () => undefined }));
    const forgetful = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) =>
        kind.fold(cell, { ...(op as { readonly add: readonly Json[] }), remove: [] }, path, attempt),
      );
    const specs: { readonly [name: string]: FieldSpec } = { s: { kind: 'remove-wins', of: 'digit', cap: 9 } };
    expect(finds(stateOf(specs, silent), lostUpdate)).toBe(true);
    expect(finds(stateOf(specs, forgetful), lostUpdate)).toBe(true);
    expect(finds(stateOf(specs), lostUpdate)).toBe(false);
  });

  test('[T5] a grow-set that takes the first value only is found', () => {
    const narrow = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) =>
        kind.fold(cell, { add: (op as { readonly add: readonly Json[] }).add.slice(0, 1), remove: [] }, path, attempt),
      );
    const specs: { readonly [name: string]: FieldSpec } = { s: { kind: 'grow-set', of: 'digit', cap: 9 } };
    expect(finds(stateOf(specs, narrow), lostUpdate)).toBe(true);
    expect(finds(stateOf(specs), lostUpdate)).toBe(false);
  });

  test('[T6] a map that lets in who has not seen the drop is found', () => {
    const careless = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) => kind.fold(cell, op, path, seeingAll(attempt)));
    expect(finds(stateOf(MAPS, careless), (played) => resurrected(played))).toBe(true);
    expect(finds(stateOf(MAPS), (played) => resurrected(played))).toBe(false);
  });

  test('[T6] a set whose remove takes nothing is found', () => {
    const idle = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) => {
        const { add } = op as { readonly add: readonly Json[] };
        return kind.fold(cell, { add, remove: [] }, path, attempt);
      });
    const specs: { readonly [name: string]: FieldSpec } = { s: { kind: 'set', of: 'digit', cap: 4 } };
    expect(finds(stateOf(specs, idle), (played) => resurrected(played))).toBe(true);
    expect(finds(stateOf(specs), (played) => resurrected(played))).toBe(false);
  });

  test('[T7] a quota without its bound is found', () => {
    const loose = stateOf({ b: { kind: 'counter', start: 2 } }).schema.kinds[0] as FieldKind;
    const boundless = (kind: Field): Field => folded(kind, loose.fold);
    const specs: { readonly [name: string]: FieldSpec } = { b: { kind: 'quota', lo: 0, hi: 4, start: 2 } };
    expect(finds(stateOf(specs, boundless), (played) => brokenBounds(played))).toBe(true);
    expect(finds(stateOf(specs), (played) => brokenBounds(played))).toBe(false);
  });

  test('[T7] a multi with more values than its cap is found', () => {
    const loose = stateOf({ m: { kind: 'multi', of: 'text', cap: 4 } }).schema.kinds[0] as FieldKind;
    const specs: { readonly [name: string]: FieldSpec } = { m: { kind: 'multi', of: 'text', cap: 2 } };
    expect(
      finds(
        stateOf(specs, (kind) => folded(kind, loose.fold)),
        (played) => brokenBounds(played),
      ),
    ).toBe(true);
    expect(finds(stateOf(specs), (played) => brokenBounds(played))).toBe(false);
  });

  test('[T5] a lattice that goes where it is told, and a vote that drops late ballots without a word, are found', () => {
    const obedient = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) => {
        const after = kind.fold(cell, op, path, attempt);
        return after === cell ? cell : { ...(after as object), value: (op as { readonly advance: string }).advance };
      });
    const edges = { todo: ['done', 'failed'], done: ['torn'], failed: ['torn'], torn: [] };
    const status: { readonly [name: string]: FieldSpec } = { l: { kind: 'lattice', start: 'todo', edges } };
    expect(finds(stateOf(status, obedient), lostUpdate)).toBe(true);
    expect(finds(stateOf(status), lostUpdate)).toBe(false);
    const closed = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) =>
        (cell as { readonly decision?: string }).decision === undefined ? kind.fold(cell, op, path, attempt) : cell,
      );
    const ballots: { readonly [name: string]: FieldSpec } = { v: { kind: 'vote', options: ['x', 'y'], voters: 4, quorum: 1 } };
    expect(finds(stateOf(ballots, closed), lostUpdate)).toBe(true);
    expect(finds(stateOf(ballots), lostUpdate)).toBe(false);
  });

  test('[T7] an escrow with more shares than its cap is found, and so is one whose transfers cost nothing', () => {
    const spec = (shares: number): FieldSpec => ({ kind: 'escrow', lo: 0, start: 6, shares, granters: ['lead', 'worker'] });
    const loose = stateOf({ e: spec(4) }).schema.kinds[0] as FieldKind;
    const crowded = stateOf({ e: spec(1) }, (kind) => folded(kind, loose.fold));
    const generous = stateOf({ e: spec(4) }, (kind) =>
      folded(kind, (cell, op, path, attempt) => {
        const after = kind.fold(cell, op, path, attempt) as { readonly pool: number };
        return (op as { readonly verb: string }).verb === 'transfer' && after !== cell
          ? { ...after, pool: after.pool + 1 }
          : after;
      }),
    );
    expect(finds(crowded, (played) => brokenBounds(played))).toBe(true);
    expect(finds(generous, (played) => brokenBounds(played))).toBe(true);
    expect(finds(stateOf({ e: spec(1) }), (played) => brokenBounds(played))).toBe(false);
  });

  test('[T7] a kind that writes into the old cell before it refuses is found', () => {
    const leaky = (kind: Field): Field =>
      folded(kind, (cell, op, path, attempt) => {
        let isRefused = false;
        const after = kind.fold(cell, op, path, {
          ...bound(attempt),
          refuse: (at, refusal) => ((isRefused = true), attempt.refuse(at, refusal)),
        });
        if (isRefused) Object.assign(cell as object, { value: (op as { readonly value?: Json }).value });
        return after;
      });
    const specs: { readonly [name: string]: FieldSpec } = { a: { kind: 'cas', of: 'text' } };
    expect(finds(stateOf(specs, leaky), (played) => brokenBounds(played))).toBe(true);
  });

  test('[T8] a seal that forgets what it answered is found', () => {
    const forgetful = (space: Space, round: Round): Sealed => {
      const least = new Map<string, number>();
      for (const { proposal } of round.proposals)
        least.set(proposal.agent, Math.min(proposal.n, least.get(proposal.agent) ?? proposal.n));
      let agents: Trie<Space['agents'] extends Trie<infer R> ? R : never> = space.agents;
      for (const [agent, record] of trieEntries(space.agents))
        agents = trieWith(agents, agent, { ...record, n: (least.get(agent) ?? record.n + 1) - 1 });
      return seal({ ...space, agents }, round);
    };
    const state = stateOf(MIXED);
    expect(finds(state, (played, seed) => brokenDedupe(played, seed, forgetful), forgetful)).toBe(true);
    expect(finds(state, (played, seed) => brokenDedupe(played, seed))).toBe(false);
  });
});

function folded(kind: Field, fold: FieldKind['fold']): Field {
  return { ...kind, fold } as Field;
}

function seeingAll(attempt: Attempt): Attempt {
  return { ...bound(attempt), sees: () => true, sawAll: () => true };
}

/** An attempt as plain data: its methods live on a class. */
function bound(attempt: Attempt): Attempt {
  return {
    agent: attempt.agent,
    role: attempt.role,
    mark: attempt.mark,
    stamp: attempt.stamp,
    turn: attempt.turn,
    base: attempt.base,
    horizon: attempt.horizon,
    sees: (mark) => attempt.sees(mark),
    sawAll: (mark) => attempt.sawAll(mark),
    mayWrite: (path, meta) => attempt.mayWrite(path, meta),
    touch: (path) => attempt.touch(path),
    refuse: (path, refusal) => attempt.refuse(path, refusal),
    note: (path, outcome) => attempt.note(path, outcome),
  };
}
