/**
 * A board that does not load: two states of its lattice have no least upper bound, a list and a text have no cap, nothing leads to
 * a state, a reducer reads more than it is given, and an invariant is false at the start. `oplus schema check` names them all.
 */
import { cas, counter, defineState, lattice, machine, records, reduce, set } from '@oplus/core';
import { z } from 'zod';

let calls = 0;

export const broken = defineState({
  name: 'broken',
  version: 1,
  fields: {
    progress: lattice({ start: 'open', edges: { open: ['done', 'failed'], done: [], failed: [] } }),
    stock: counter({ start: 12 }),
    tags: set(z.string().max(20), { cap: 0 }),
    tasks: records(
      {
        title: cas(z.string()),
        phase: machine({ start: 'new', moves: { new: ['done'], done: [], lost: ['new'] } }),
      },
      { cap: 50 },
    ),
    total: reduce({
      state: z.int().min(0).max(9),
      update: z.int().min(0).max(9),
      start: 0,
      reduce: (state, update) => Math.min(9, state + update + (calls++ % 2)),
    }),
  },
  invariants: {
    'stock fits the shelf': {
      reads: ['stock'],
      check: ({ after }) => after.stock <= 10 || `${after.stock} pieces do not fit`,
    },
  },
});
