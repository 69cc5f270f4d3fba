/**
 * A board for a small team, to try `oplus schema explain`, `check` and `json` on.
 */
import { claim, counter, defineState, field, machine, records, set } from '@oplus/core';
import { z } from 'zod';

export const board = defineState({
  name: 'board',
  version: 1,
  roles: { lead: { priority: 1 }, hand: { priority: 0 } },
  fields: {
    tasks: records({ status: machine({ start: 'open', moves: { open: ['done'], done: [] } }), owner: claim() }, { cap: 8 }),
    stock: counter({ start: 2 }),
    tags: field(set(z.enum(['urgent', 'later', 'blocked']), { cap: 3 }), {
      writers: ['lead'],
      doc: 'What the lead says of the board.',
    }),
  },
  invariants: {
    'stock is never negative': { reads: ['stock'], check: ({ after }) => after.stock >= 0 || 'nothing is left in stock' },
    'few tags': { reads: ['tags'], check: ({ after }) => after.tags.size <= 3 || 'more than three tags' },
  },
});
