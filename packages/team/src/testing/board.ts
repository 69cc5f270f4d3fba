/**
 * A team of six on a small board in memory, for tests.
 */
import { boardState } from '@oplus/agent/testing';
import { loadState } from '@oplus/core';
import type { StateSchema } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { openStage } from '../stage.ts';
import { openTeam } from '../team.ts';
import type { Team } from '../team.ts';

/** `done` counts for everybody; `budget` is only the boss's, so an agent that touches it is rejected. */
export const boardSchema: StateSchema = loadState(boardState, sha256);

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
