import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { claim } from './kinds/claim.ts';
import { counter } from './kinds/counter.ts';
import { derived } from './kinds/derived.ts';
import { log } from './kinds/log.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { multi } from './kinds/multi.ts';
import { records } from './kinds/records.ts';
import { cas } from './kinds/register.ts';
import { set } from './kinds/set.ts';
import { stateOf } from './projection.ts';
import type { PatchOf, Views } from './state-schema.ts';
import type { StateOf } from './state-type.ts';
import { codesOf, smallTeam } from './testing/index.ts';

const text = z.string().max(20);
const done = counter();
const fields = {
  title: cas(text),
  place: cas(z.strictObject({ x: z.int().min(0).max(9) }), { start: { x: 1 } }),
  phase: machine({ start: 'open', moves: { open: ['closed'], closed: [] } }),
  done,
  tags: set(text, { cap: 3 }),
  said: log(text, { keep: 3 }),
  found: multi(text),
  owner: claim(),
  notes: map(map(cas(z.int().min(0).max(9)), { cap: 3 }), { cap: 3 }),
  tasks: records({ title: cas(text), points: counter() }, { cap: 3 }),
  share: derived(z.int().min(0).max(9), { from: { done }, compute: (views) => Math.min(9, Math.max(0, views.done)) }),
};

type State = {
  readonly title: string | null;
  readonly place: { readonly x: number } | null;
  readonly phase: 'open' | 'closed';
  readonly done: number;
  readonly tags: readonly string[];
  readonly said: readonly string[];
  readonly found: { readonly value: string | null; readonly rivals: readonly string[] };
  readonly owner: {
    readonly holder: string | null;
    readonly last: {
      readonly holder: string;
      readonly how: 'released' | 'handed over' | 'expired' | 'left';
      readonly outcome: string | null;
    } | null;
  };
  readonly notes: { readonly [key: string]: { readonly [key: string]: number | null } };
  readonly tasks: { readonly [id: string]: { readonly title: string | null; readonly points: number } };
  readonly share: number;
};

describe('types of a definition', () => {
  test('[SCH16] the types of state, patch and view are inferred, and are those of what is there', () => {
    expectTypeOf<StateOf<typeof fields>>().toEqualTypeOf<State>();
    expectTypeOf<Views<typeof fields>['phase']>().toEqualTypeOf<'open' | 'closed'>();
    expectTypeOf<Views<typeof fields>['done']>().toEqualTypeOf<number>();
    const patch: PatchOf<typeof fields> = {
      title: { set: 'one' },
      phase: { to: 'closed' },
      tags: { add: ['x'] },
      found: { set: 'this' },
      owner: { claim: true },
      notes: { at: { k: { at: { l: { set: 4 } } } } },
      tasks: { put: { t1: { points: { inc: 2 } } } },
    };
    // @ts-expect-error a counter has no set
    const wrong: PatchOf<typeof fields> = { done: { set: 1 } };
    // @ts-expect-error a derived field is not written
    const computed: PatchOf<typeof fields> = { share: { set: 1 } };
    const team = smallTeam({ fields });
    expect(codesOf(team.ask('a', patch))).toEqual(['committed']);
    expect(codesOf(team.ask('a', wrong))).toEqual(['schema']);
    expect(codesOf(team.ask('a', computed))).toEqual(['derived']);
    const state = stateOf<typeof fields>(team.space);
    const expected: State = {
      title: 'one',
      place: { x: 1 },
      phase: 'closed',
      done: 0,
      tags: ['x'],
      said: [],
      found: { value: 'this', rivals: [] },
      owner: { holder: 'a', last: null },
      notes: { k: { l: 4 } },
      tasks: { t1: { title: null, points: 2 } },
      share: 0,
    };
    expect(state).toEqual(expected);
  });
});
