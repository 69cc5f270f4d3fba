/**
 * Reducers as people write them, sound and unsound, with examples of updates: `npx oplus lint apps/cli/examples/reducers.ts`.
 */

type Row = { readonly id: number; readonly text: string };

const rows: readonly Row[] = [
  { id: 1, text: 'a' },
  { id: 2, text: 'b' },
  { id: 1, text: 'c' },
];

/** Sound, and in whatever order: the greatest. */
export const best = { reduce: (state: number, update: number) => Math.max(state, update), start: 0, updates: [3, 1, 2] };

/** Sound, and in whatever order: a union that is kept sorted. */
export const labels = {
  reduce: (state: readonly string[], update: string) => [...new Set([...state, update])].toSorted(),
  start: [],
  updates: ['red', 'green', 'blue'],
};

/** Sound, but of two parallel updates the later one stands: `oplus lint` says so. */
export const table = {
  reduce: (state: readonly Row[], update: Row) => [...state.filter((row) => row.id !== update.id), update],
  start: [],
  updates: rows,
};

/** Unsound: it writes into the state that it was given, which a default or a checkpoint may share. */
export const pushed = {
  reduce: (state: Row[], update: Row) => {
    state.push(update);
    return state;
  },
  start: () => [],
  updates: rows,
};

let newest = 0;

/** Unsound: the same update gives another state each time. */
export const numbered = {
  reduce: (state: readonly Row[], update: string) => [...state, { id: (newest += 1), text: update }],
  start: [],
  updates: ['a', 'b'],
};

/** Unsound: several updates at once do not give what they give one by one. */
export const sampled = {
  reduce: (state: number, update: number) => state + update,
  batch: (state: number, updates: readonly number[]) => state + (updates.at(-1) ?? 0),
  start: 0,
  updates: [3, 4],
};

/** Unsound: a set is `{}` after it was stored as JSON, and the next update starts anew. */
export const counted = {
  reduce: (state: { readonly seen: unknown }, update: number) => ({
    seen: new Set([...(state.seen instanceof Set ? (state.seen as Set<number>) : []), update]),
  }),
  start: { seen: [] },
  updates: [3, 4, 7],
};

/** Not measured: nothing says which states and updates it takes. */
export function appended(state: readonly string[], update: string): readonly string[] {
  return [...state, update];
}
