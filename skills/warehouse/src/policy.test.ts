import type { Prompted } from '@oplus/agent';
import { expect, test } from 'vitest';
import { patchOf, readAction } from './action.ts';
import { decide } from './policy.ts';
import { actionFault } from './warehouse.ts';

const VIEW = {
  about: { item: 'item-0007', shelf: 'S014' },
  count: { free: '0477', received: '0040', shipped: '0017', stored: '0023' },
  free: ['S003', 'S005', 'S009', 'S011'],
};
const ISSUE = { path: '/shelves/S003', code: 'conflict' };

function action(observation: string, about: object, more: Partial<Prompted> = {}): unknown {
  const decision = decide({ view: { ...VIEW, about: about as Prompted['view'] }, observation, issues: [], ...more });
  expect(actionFault(decision.action, decision.patch)).toBeUndefined();
  expect(decision.patch).toEqual(patchOf(readAction(decision.action) as Exclude<ReturnType<typeof readAction>, string>));
  return { name: decision.action.name, ...decision.action.args };
}

test('[WHS40] each observation has its action, with the patch that says the same', () => {
  expect(action('Shipment arrived containing item-0008', { item: 'item-0008', shelf: 'none' })).toEqual({
    name: 'Store',
    item: 'item-0008',
    shelf: 'S003',
  });
  expect(action('Customer ordered item-0007', { item: 'item-0007', shelf: 'S014' })).toEqual({
    name: 'Ship',
    item: 'item-0007',
    shelf: 'S014',
  });
  expect(action('Maintenance required on S014', { item: 'item-0007', shelf: 'S014' })).toEqual({
    name: 'Move',
    item: 'item-0007',
    from: 'S014',
    to: 'S003',
  });
});

test('[WHS40] what is done already, or cannot be done, is waited out', () => {
  const full = { view: { ...VIEW, free: ['none', 'none', 'none', 'none'] } };
  expect(action('Shipment arrived containing item-0007', { item: 'item-0007', shelf: 'S014' })).toEqual({ name: 'Wait' });
  expect(action('Customer ordered item-0007', { item: 'item-0007', shelf: 'none' })).toEqual({ name: 'Wait' });
  expect(action('Maintenance required on S014', { item: 'item-none', shelf: 'S014' })).toEqual({ name: 'Wait' });
  expect(action('Shipment arrived containing item-0008', {}, full)).toEqual({ name: 'Wait' });
  expect(action('Nothing new today', {})).toEqual({ name: 'Wait' });
  expect(action('Shipment arrived containing item-0008', {}, { view: {} })).toEqual({ name: 'Wait' });
});

test('[WHS41] after a refusal it decides from the fresh view alone', () => {
  const again = { issues: [ISSUE] };
  expect(action('Shipment arrived containing item-0008', { item: 'item-0008', shelf: 'none' }, again)).toEqual({
    name: 'Store',
    item: 'item-0008',
    shelf: 'S003',
  });
  expect(action('Maintenance required on S014', { item: 'item-0007', shelf: 'S014' }, again)).toEqual({
    name: 'Move',
    item: 'item-0007',
    from: 'S014',
    to: 'S003',
  });
  expect(action('Customer ordered item-0007', { item: 'item-0007', shelf: 'S015' }, again)).toEqual({
    name: 'Ship',
    item: 'item-0007',
    shelf: 'S015',
  });
});
