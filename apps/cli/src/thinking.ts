/**
 * Lets a scripted model take its time, so that agents overlap as real ones do. Simulated: the pauses are drawn from a seed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Model } from '@oplus/agent';
import { spin } from '@oplus/core';

/** Longest pause, in milliseconds. */
const THINK_MS_MAX = 12;

/** The same model, with a pause of 0 to `THINK_MS_MAX` before each answer. */
export function thinking(model: Model, seed: number, agent: string): Model {
  let count = 0;
  return {
    id: model.id,
    complete: async (request) => {
      count += 1;
      await sleep(spin(seed * 65_537 + count, agent) % (THINK_MS_MAX + 1));
      return model.complete(request);
    },
  };
}
