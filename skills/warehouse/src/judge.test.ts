import type { OpenEvent } from '@oplus/agent';
import type { Space } from '@oplus/core';
import { expect, test } from 'vitest';
import type { WarehouseAction } from './action.ts';
import { actionOf, patchOf } from './action.ts';
import type { WarehouseEnvironment } from './environment.ts';
import { openWarehouse } from './environment.ts';
import { judgeWarehouse } from './judge.ts';
import { attempt, bornSpace } from './testing/team.ts';

const STORE: WarehouseAction = { name: 'Store', item: 'item-0001', shelf: 'S001' };

/** A run of two events whose first one brings item-0001; `done` is what is carried out, `said` what the state is told. */
function run(
  done: WarehouseAction,
  said: WarehouseAction,
): { readonly environment: WarehouseEnvironment; readonly space: Space } {
  const environment = openWarehouse({ agents: ['a'], routing: 'shared', steps: 2, seed: 42 });
  const [event] = environment.assign(['a']) as [OpenEvent];
  const start = bornSpace(['a']);
  const { space, verdict } = attempt(start, start, 'a', patchOf(said));
  expect(verdict.kind).toBe('committed');
  environment.act(event, actionOf(done), verdict.revision);
  environment.done(event, 'acted');
  return { environment, space };
}

test('[WHS50] a state that says what the world holds has no violation', () => {
  const { environment, space } = run(STORE, STORE);
  expect(judgeWarehouse(environment, space)).toEqual({
    events: 1,
    solved: 1,
    stalled: 0,
    actions: 1,
    invalid: 0,
    score: 0.5,
    violations: [],
  });
});

test('[WHS51] every difference between state and world is a violation, in words', () => {
  const elsewhere = run(STORE, { ...STORE, shelf: 'S002' });
  expect(judgeWarehouse(elsewhere.environment, elsewhere.space).violations).toEqual([
    'S001 holds item-0001; the state says nothing.',
    'S002 holds nothing; the state says item-0001.',
  ]);
  const renamed = run(STORE, { ...STORE, item: 'item-0002' });
  expect(judgeWarehouse(renamed.environment, renamed.space).violations).toEqual([
    'S001 holds item-0001; the state says item-0002.',
  ]);
});

test('[WHS51] an action that could not be carried out is a violation', () => {
  const { environment, space } = run({ name: 'Ship', item: 'item-0001', shelf: 'S001' }, STORE);
  const { violations, score } = judgeWarehouse(environment, space);
  expect(violations).toEqual([
    'a committed "Shipment arrived containing item-0001" with Ship item-0001 S001, which the warehouse answered: Error: item-0001 is not on S001, which is empty.',
    'S001 holds nothing; the state says item-0001.',
    '0 items were received; the state says 1.',
  ]);
  expect(score).toBe(0);
});
