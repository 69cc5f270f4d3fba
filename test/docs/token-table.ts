/**
 * How many tokens a step takes, by the number of events and of agents: runs of the warehouse in barrier mode, so that the same
 * cell gives the same figures wherever it is run.
 */
import { o200kTokens, scriptedModel } from '@oplus/agent';
import { loadState } from '@oplus/core';
import type { StateDefinition } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { warehouse, warehouseState } from '@oplus/skill-warehouse';
import { openStage, openTeam, runTask } from '@oplus/team';
import type { TokenTally } from '@oplus/team';

/** One run: `steps` events in all, dealt to `agents`. */
export type Cell = { readonly steps: number; readonly agents: number };

/** The cells of the page: by steps, then by agents. */
export const BY_STEPS: readonly Cell[] = [25, 50, 100, 200, 400].map((steps) => ({ steps, agents: 4 }));
export const BY_AGENTS: readonly Cell[] = [1, 2, 4, 8, 16].map((agents) => ({ steps: 100, agents }));

/** Runs a cell. Throws when anything is violated or left unsolved: the figures of such a run say nothing. */
export async function measure({ steps, agents: agentCount }: Cell): Promise<TokenTally> {
  const agents = Array.from({ length: agentCount }, (_, i) => `w${i + 1}`);
  const task = warehouse({ agents, steps, seed: SEED, routing: ROUTING });
  const schema = loadState(warehouseState as unknown as StateDefinition, sha256);
  const stage = await openStage({ kind: 'memory' });
  try {
    const roles = agents.map((name) => ({ name, role: task.skill.role }));
    const team = await openTeam({ stage, space: 'tokens', schema, agents: roles, session: 't', nonce: '', isBarrier: true });
    try {
      const model = scriptedModel(({ state, observation, issues }) => task.policy({ view: state, observation, issues }));
      const trace = { append: async () => undefined, close: async () => undefined };
      const tokens = await o200kTokens();
      const { ruling, tally } = await runTask({ task, stage, team, modelOf: () => model, tokens, trace, isBarrier: true });
      if (ruling.violations.length > 0 || ruling.score !== 1) throw new Error(`T=${steps}, N=${agentCount} was not solved`);
      return tally.tokens;
    } finally {
      await team.close();
    }
  } finally {
    await stage.close();
  }
}

/** The row of a cell. */
export function rowOf({ steps, agents }: Cell, tokens: TokenTally): string {
  const { prompts, perStepMean, perStepMax, firstPromptMax, repairPromptMax, perEventMean, perEventMax, total } = tokens;
  const repair = repairPromptMax === 0 ? 'none' : repairPromptMax;
  return `| ${[steps, agents, prompts, perStepMean, perStepMax, firstPromptMax, repair, perEventMean, perEventMax, total].join(' | ')} |`;
}

/** The whole page. Runs every cell: a few seconds. */
export async function tokensPage(): Promise<string> {
  return `# Tokens per step

A step is one turn of the loop: one prompt, of procedure, view of the state, and observation. An event takes one step, and one more for each
repair. No prompt holds anything of an earlier event, so its size grows neither with the steps nor with the agents [TM34]. A repair has the
issues of the attempt before in its prompt, once: that is the difference between the two maxima, and one agent alone needs none. What
grows with the agents is how often they meet, and so the number of repairs.

Made by \`npm run tokens\`: warehouse, scripted model, routing ${ROUTING}, seed ${SEED}, memory log, barrier mode; counted in the o200k vocabulary.

## By steps, 4 agents

${await tableOf(BY_STEPS)}

## By agents, 100 steps

${await tableOf(BY_AGENTS)}
`;
}

const SEED = 42;
const ROUTING = 'shared';

async function tableOf(cells: readonly Cell[]): Promise<string> {
  const rows = [
    '| steps T | agents N | prompts | a step: mean | max | first prompts: max | repairs: max | an event: mean | max | all |',
    `|${'---|'.repeat(10)}`,
  ];
  for (const cell of cells) rows.push(rowOf(cell, await measure(cell)));
  return rows.join('\n');
}
