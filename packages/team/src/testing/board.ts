/**
 * A team of six on a small board in memory, for tests.
 */
import { cas, counter, defineState, loadState, map } from '@oplus/core';
import type { StateSchema } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { z } from 'zod';
import { openStage } from '../stage.ts';
import { openTeam } from '../team.ts';
import type { Team } from '../team.ts';

export const boardSchema: StateSchema = loadState(
  defineState({ name: 'board', version: 1, fields: { done: counter(), cards: map(cas(z.string().max(32)), { cap: 8 }) } }),
  sha256,
);

/** Opens the team of a to f on the space `board`, for as long as `use` takes. */
export async function withBoardTeam<T>(use: (team: Team) => Promise<T>): Promise<T> {
  const stage = await openStage({ kind: 'memory' });
  try {
    const agents = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ name, role: 'agent' }));
    const team = await openTeam({
      stage,
      space: 'board',
      schema: boardSchema,
      agents,
      session: 's',
      nonce: '',
      isBarrier: false,
    });
    try {
      return await use(team);
    } finally {
      await team.close();
    }
  } finally {
    await stage.close();
  }
}
