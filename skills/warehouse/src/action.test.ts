import { expect, test } from 'vitest';
import { actionLine, actionOf, patchOf, readAction } from './action.ts';
import type { WarehouseAction } from './action.ts';
import { actionFault } from './warehouse.ts';

const ACTIONS: readonly WarehouseAction[] = [
  { name: 'Store', item: 'item-0001', shelf: 'S001' },
  { name: 'Ship', item: 'item-0002', shelf: 'S500' },
  { name: 'Move', item: 'item-0003', from: 'S002', to: 'S499' },
  { name: 'Wait' },
];

test('[WHS1] each action has one line and one patch', () => {
  expect(ACTIONS.map(actionLine)).toEqual(['Store item-0001 S001', 'Ship item-0002 S500', 'Move item-0003 S002 S499', 'Wait']);
  expect(ACTIONS.map(patchOf)).toEqual([
    { shelves: { at: { S001: { set: 'item-0001' } } }, received: { inc: 1 } },
    { shelves: { at: { S500: { unset: true } } }, shipped: { inc: 1 } },
    { shelves: { at: { S002: { unset: true }, S499: { set: 'item-0003' } } } },
    {},
  ]);
});

test('[WHS2] an action is read back from the form that a proposal carries', () => {
  for (const action of ACTIONS) expect(readAction(actionOf(action))).toEqual(action);
});

test('[WHS2] anything else is answered with a sentence', () => {
  const said = [
    { name: 'Burn', args: {} },
    { name: 'constructor', args: {} },
    { name: '__proto__', args: {} },
    { name: 'Store', args: { item: 'item-0001' } },
    { name: 'Store', args: { item: 'item-0001', shelf: 'S501' } },
    { name: 'Store', args: { item: 'item-0001', shelf: 'S000' } },
    { name: 'Store', args: { item: 'item-1', shelf: 'S001' } },
    { name: 'Store', args: { item: 7, shelf: 'S001' } },
    { name: 'Ship', args: { item: 'item-0001', shelf: 'S001', to: 'S002' } },
    { name: 'Move', args: { item: 'item-0001', from: 'S001', to: 'S001' } },
    { name: 'Wait', args: { item: 'item-0001' } },
  ].map((action) => readAction(action));
  expect(said.filter((one) => typeof one !== 'string')).toEqual([]);
  expect(said[0]).toBe('There is no action Burn; the actions are Store, Ship, Move, Wait.');
  expect(said[4]).toContain('S001 to S500');
  expect(said[9]).toBe('Move needs two different shelves.');
});

test('[WHS2] a patch that says something else than its action is found before it is proposed', () => {
  for (const action of ACTIONS) {
    expect(actionFault(actionOf(action), patchOf(action))).toBeUndefined();
    for (const other of ACTIONS)
      if (other !== action) expect(actionFault(actionOf(action), patchOf(other))).toContain('The patch of this action is');
  }
  expect(actionFault({ name: 'Burn', args: {} }, {})).toContain('no action Burn');
});
