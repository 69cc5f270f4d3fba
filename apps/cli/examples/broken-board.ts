/**
 * A board that does not load: two states of its lattice have no least upper bound. `oplus schema check` names them.
 */
import { defineState, lattice } from '@oplus/core';

export const broken = defineState({
  name: 'broken',
  version: 1,
  fields: {
    progress: lattice({ start: 'open', edges: { open: ['done', 'failed'], done: [], failed: [] } }),
  },
});
