import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadState } from '@oplus/core';
import type { StateDefinition } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import { ROUTINGS, warehouse, warehouseState } from '@oplus/skill-warehouse';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage } from './stage.ts';
import type { StageOptions } from './stage.ts';
import { forgetful, hesitant } from './testing/models.ts';
import { play, scriptOf } from './testing/play.ts';

const schema = loadState(warehouseState as unknown as StateDefinition, sha256);
let dir = '';
let spaces = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'oplus-lockstep-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function recordsOn(options: StageOptions, routing: string, isForgetful: boolean): Promise<readonly string[]> {
  const stage = await openStage(options);
  try {
    const task = warehouse({ agents: ['w1', 'w2', 'w3', 'w4'], seed: 42, steps: 24, routing });
    const modelOf = (agent: string) => hesitant(isForgetful ? forgetful(scriptOf(task), agent) : scriptOf(task));
    return (await play({ stage, task, schema, isBarrier: true, modelOf })).records;
  } finally {
    await stage.close();
  }
}

function onBroker(): StageOptions {
  spaces += 1;
  return { kind: 'nats', dir, namespace: `n${spaces}` };
}

test.each(ROUTINGS)('[TM10] %s: the same seed gives the same log on NATS as in memory, byte for byte', async (routing) => {
  expect(await recordsOn(onBroker(), routing, false)).toEqual(await recordsOn({ kind: 'memory' }, routing, false));
});

test('[TM11] agents that give up or have nothing to say do not change that', async () => {
  expect(await recordsOn(onBroker(), 'shared', true)).toEqual(await recordsOn({ kind: 'memory' }, 'shared', true));
});
