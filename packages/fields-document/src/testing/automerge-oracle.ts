/**
 * Automerge as a judge of core's kinds: the same random history through the real seal and through one Automerge document.
 *
 * Four fields are written at once: a `multi`, a `counter`, a `set`, and the keys of a `map`. In Automerge the first is a key
 * whose rivals are read, the second a counter, and the elements and keys are keys, put and deleted. Every committed proposal is
 * one change on the heads that it had seen; a refused one is none, and so is a drop that was told that the key stays: a map
 * keeps a key whole that somebody has changed unseen, so Automerge is asked whether somebody had. Views of one agent only grow
 * newer, because a change of Automerge has seen whatever those that it saw had seen.
 */
import type * as Automerge from '@automerge/automerge';
import { canonical, counter, loadState, map, multi, seal, set, stateJson, unbornSpace } from '@oplus/core';
import type { Admitted, Field, Json, JsonObject, Space, StateSchema, SystemEvent } from '@oplus/core';
import { admittedOf, sha256 } from '@oplus/core/testing';
import fc from 'fast-check';
import { z } from 'zod';

/** What one proposal asks for; `lag` is how many revisions its view is old. */
export type Ask = {
  readonly who: number;
  readonly lag: number;
  readonly say?: string;
  readonly by?: number;
  readonly add?: string;
  readonly remove?: string;
  readonly at?: string;
  readonly drop?: string;
};

/** What both sides show of the four fields, as plain data. */
export type Shown = {
  readonly said: readonly string[];
  readonly sum: number;
  readonly elements: readonly string[];
  readonly keys: readonly string[];
};

/** Histories of up to 6 rounds of up to 3 proposals. */
export function askedRounds(): fc.Arbitrary<readonly (readonly Ask[])[]> {
  const name = fc.constantFrom('x', 'y');
  const ask = fc.record(
    {
      who: fc.nat(2),
      lag: fc.nat(3),
      say: fc.constantFrom('p', 'q', 'r'),
      by: fc.constantFrom(1, 2, -3),
      add: name,
      remove: name,
      at: name,
      drop: name,
    },
    { requiredKeys: ['who', 'lag'], noNullPrototype: true },
  );
  return fc.array(fc.array(ask, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 });
}

/** The schema of the four fields. `swap` may replace a real kind by a faulty one: for tests of the tests. */
export function judgedSchema(swap: (kind: Field) => Field = (kind) => kind): StateSchema {
  const fields = {
    m: multi(z.enum(['p', 'q', 'r'])) as Field,
    c: counter() as Field,
    s: set(z.enum(['x', 'y']), { cap: 2 }) as Field,
    k: map(counter(), { cap: 2 }) as Field,
  };
  const swapped = Object.fromEntries(Object.entries(fields).map(([key, kind]) => [key, swap(kind)]));
  return loadState({ name: 'judged', version: 1, fields: swapped }, sha256);
}

/** What core and Automerge show after the same history. */
export function bothShown(
  automerge: typeof Automerge,
  schema: StateSchema,
  rounds: readonly (readonly Ask[])[],
): { readonly core: Shown; readonly oracle: Shown } {
  const oracle = new Oracle(automerge);
  const joins = AGENTS.map((agent): SystemEvent => ({ kind: 'join', agent, role: 'agent', session: 'first' }));
  let space = seal(unbornSpace('judged', schema), {
    term: 1,
    events: [{ kind: 'genesis', schema: schema.digest, nonce: 'n' }, ...joins],
    proposals: [],
  }).space;
  const counts = AGENTS.map(() => 0);
  const bases = AGENTS.map(() => 0);
  for (const asks of rounds) {
    const asked = new Map<Admitted, { readonly ask: Ask; readonly base: number }>();
    for (const ask of asks) {
      const { who, lag } = ask;
      const n = (counts[who] ?? 0) + 1;
      const base = Math.max(bases[who] ?? 0, space.revision - lag);
      counts[who] = n;
      bases[who] = base;
      asked.set(admittedFrom(space, ask, n, base), { ask, base });
    }
    const sealed = seal(space, { term: 1, events: [], proposals: [...asked.keys()] });
    space = sealed.space;
    for (const { admitted, verdict } of sealed.decided) {
      const found = asked.get(admitted);
      if (found === undefined || verdict.kind !== 'committed') continue;
      const isKept = verdict.outcomes?.[`/k/${found.ask.drop ?? ''}`]?.kind === 'superseded';
      oracle.commit(found.ask, found.base, verdict.revision, isKept);
    }
  }
  const shown = oracle.shown();
  oracle.close();
  return { core: shownOf(stateJson(space)), oracle: shown };
}

const AGENTS = ['ada', 'bob', 'cy'];
const ROOT = '_root';

function admittedFrom(space: Space, ask: Ask, n: number, base: number): Admitted {
  const { say, by, add, remove, at, drop } = ask;
  const patch: { [name: string]: Json } = {};
  if (say !== undefined) patch['m'] = { set: say };
  if (by !== undefined) patch['c'] = { inc: by };
  // A value or a key stands once in a patch.
  const isRemoved = remove !== undefined && remove !== add;
  if (add !== undefined || isRemoved)
    patch['s'] = { ...(add === undefined ? {} : { add: [add] }), ...(isRemoved ? { remove: [remove] } : {}) };
  const isDropped = drop !== undefined && drop !== at;
  if (at !== undefined || isDropped)
    patch['k'] = { ...(at === undefined ? {} : { at: { [at]: { inc: 1 } } }), ...(isDropped ? { drop: [drop] } : {}) };
  return admittedOf({
    kind: 'proposal',
    v: 1,
    space: 'judged',
    agent: AGENTS[ask.who] as string,
    incarnation: 1,
    n,
    schema: space.schema.id,
    base: { revision: base },
    patch,
    action: { name: 'go', args: {} },
  });
}

function shownOf(state: JsonObject): Shown {
  const { value, rivals } = state['m'] as { readonly value: string | null; readonly rivals: readonly string[] };
  return {
    said: [...(value === null ? [] : [value]), ...rivals].sort(),
    sum: state['c'] as number,
    elements: (state['s'] as readonly string[]).toSorted(),
    keys: Object.keys(state['k'] as JsonObject).sort(),
  };
}

type Commit = { readonly who: number; readonly revision: number; readonly hash: string };

/** One Automerge document that holds the changes of all. */
class Oracle {
  #handle: ReturnType<(typeof Automerge)['getBackend']>;
  readonly #start: string;
  readonly #commits: Commit[] = [];
  /** Keys that were said to stay though nobody had written them unseen. */
  readonly #needless: string[] = [];

  constructor(automerge: typeof Automerge) {
    this.#handle = automerge.getBackend(automerge.init({ actor: '00' }));
    this.#handle.put(ROOT, 'c', 0, 'counter');
    this.#start = this.#handle.commit(undefined, 0) as string;
  }

  /**
   * The ask as one change of an agent who had seen what was sealed at `base`, and its own earlier ones. `isKept` when the
   * dropped key was said to stay.
   */
  commit(ask: Ask, base: number, revision: number, isKept: boolean): void {
    const seen = this.#commits.filter((commit) => commit.revision <= base || commit.who === ask.who);
    const heads = [this.#start, ...seen.map(({ hash }) => hash)];
    const id = String(this.#commits.length);
    const before = this.#handle;
    const handle = before.clone(`01${id.padStart(4, '0')}`) as typeof before;
    this.#handle = handle;
    handle.isolate(heads);
    // Every text is another one, because Automerge takes the same text again for no change.
    const put = (key: string, text: string): void => handle.put(ROOT, key, `${id}\n${text}`, 'str');
    if (ask.say !== undefined) put('m', ask.say);
    if (ask.by !== undefined) handle.increment(ROOT, 'c', ask.by);
    if (ask.remove !== undefined && ask.remove !== ask.add) handle.delete(ROOT, `s${ask.remove}`);
    if (ask.add !== undefined) put(`s${ask.add}`, '');
    if (ask.drop !== undefined && ask.drop !== ask.at) {
      const key = `k${ask.drop}`;
      const seenTexts = before.getAll(ROOT, key, heads).map((write) => write[1]);
      const hasUnseen = before.getAll(ROOT, key).some((write) => !seenTexts.includes(write[1]));
      if (!isKept) handle.delete(ROOT, key);
      else if (!hasUnseen) this.#needless.push(ask.drop);
    }
    if (ask.at !== undefined) put(`k${ask.at}`, '');
    const hash = handle.commit(undefined, 0);
    handle.integrate();
    before.free();
    if (hash !== null) this.#commits.push({ who: ask.who, revision, hash });
  }

  shown(): Shown {
    const texts = this.#handle.getAll(ROOT, 'm').map((write) => (write[1] as string).split('\n')[1] as string);
    const keys = this.#handle.keys(ROOT);
    const named = (letter: string): readonly string[] =>
      keys
        .filter((key) => key.startsWith(letter) && key.length === 2)
        .map((key) => key.slice(1))
        .sort();
    return {
      said: [...new Set(texts)].sort(),
      sum: Number(this.#handle.get(ROOT, 'c')),
      elements: named('s'),
      keys: [...named('k'), ...this.#needless],
    };
  }

  close(): void {
    this.#handle.free();
  }
}

/** The two as texts, when they differ. */
export function disagreement({ core, oracle }: { readonly core: Shown; readonly oracle: Shown }): string | undefined {
  const [one, other] = [canonical(core as unknown as Json), canonical(oracle as unknown as Json)];
  return one === other ? undefined : `core ${one}\nAutomerge ${other}`;
}
