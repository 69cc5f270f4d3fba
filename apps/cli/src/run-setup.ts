/**
 * What a run is made of, settled before anything is opened: whatever can be wrong with the words of the command is wrong here.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Model, Task } from '@oplus/agent';
import { scriptedModel } from '@oplus/agent';
import { loadState, OplusError } from '@oplus/core';
import type { StateSchema } from '@oplus/core';
import type { Notice } from '@oplus/model-openai';
import { sha256 } from '@oplus/protocol';
import type { RunFile, StageOptions } from '@oplus/team';
import { taskOf } from './catalogue.ts';
import { agentNames, RUNS } from './history.ts';
import { thinking } from './thinking.ts';

/** As the command line has them. */
export type RunOptions = {
  readonly agents: number;
  readonly steps: number;
  readonly seed: number;
  readonly routing: string;
  readonly log: RunFile['log'];
  readonly natsUrl?: string;
  readonly dir?: string;
  readonly barrier?: boolean;
  readonly model: string;
};

/** `token` names the run among all others; in barrier mode the same plan has the same one, so that its log is the same. */
export type RunSetup = {
  readonly task: Task;
  readonly schema: StateSchema;
  readonly modelOf: (agent: string) => Model;
  readonly token: string;
  readonly dir: string;
  readonly stage: StageOptions;
  /** `run.json`, but for the address of a broker. */
  readonly file: RunFile;
};

/** Settles a run. Throws `SKILL_UNKNOWN` and `USAGE`. */
export async function runSetup(name: string, options: RunOptions, onNotice: (line: string) => void): Promise<RunSetup> {
  const { agents, steps, seed, routing, log, barrier = false, model } = options;
  if (options.natsUrl !== undefined && log !== 'nats') {
    throw new OplusError('USAGE', '--nats-url goes with --log nats', { hint: 'Add --log nats, or leave --nats-url out.' });
  }
  const { setup, definition } = taskOf(name);
  const schema = loadState(definition, sha256);
  const task = setup({ agents: agentNames(agents), seed, steps, routing });
  const dir = options.dir ?? join(RUNS, `${name}-${seed}-${randomBytes(4).toString('hex')}`);
  const stage = stageOf(options, dir);
  return {
    task,
    schema,
    modelOf: await modelsOf(task, options, onNotice),
    token: barrier ? `${name}-${seed}` : randomBytes(8).toString('hex'),
    dir,
    stage,
    file: {
      v: 1,
      task: name,
      agents,
      steps,
      seed,
      routing,
      log,
      barrier,
      model,
      space: name,
      schema: schema.digest,
      ...(stage.kind === 'nats' ? { namespace: stage.namespace } : {}),
    },
  };
}

function stageOf({ log, natsUrl }: RunOptions, dir: string): StageOptions {
  if (log === 'memory') return { kind: 'memory' };
  if (log === 'sqlite') return { kind: 'sqlite', dir };
  const url = natsUrl ?? natsUrlOf(process.env);
  return { kind: 'nats', dir, namespace: `oplus_${randomBytes(6).toString('hex')}`, ...(url === undefined ? {} : { url }) };
}

/** The server that the environment names, if any. */
function natsUrlOf(env: NodeJS.ProcessEnv): string | undefined {
  const url = env['OPLUS_NATS_URL'];
  return url === '' ? undefined : url;
}

async function modelsOf(
  task: Task,
  { model, barrier, seed }: RunOptions,
  onNotice: (line: string) => void,
): Promise<(agent: string) => Model> {
  if (model === 'scripted') {
    const scripted = scriptedModel(({ state, observation, issues }) => task.policy({ view: state, observation, issues }));
    return barrier ? () => scripted : (agent) => thinking(scripted, seed, agent);
  }
  const { modelFromName } = await import('@oplus/model-openai');
  const served = modelFromName(model, { onNotice: (notice) => onNotice(`${model}: ${wordsOf(notice)}`) });
  return () => served;
}

function wordsOf(notice: Notice): string {
  switch (notice.kind) {
    case 'retry':
      return `retry ${notice.retry} in ${notice.delayMs} ms: ${notice.why}`;
    case 'weaker-form':
      return `answers as ${notice.to} instead of ${notice.from}: ${notice.why}`;
    case 'without-parameter':
      return `without ${notice.parameter}: ${notice.why}`;
  }
}
