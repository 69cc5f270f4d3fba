/**
 * The state of the warehouse: what stands where, and how many items came and went.
 *
 * A shelf holds at most one item by its type: it is one compare-and-set value under the shelf's name. The rules below tie
 * shelves and counters together. They are what makes two races harmless that a register alone lets pass, because two
 * workers who empty the same shelf agree with each other: an item shipped twice, and an item shipped and moved at once.
 *
 * Rules run for every proposal, so they look only at what the proposal touches. That is sound because each of them held
 * before (it was checked for every proposal so far), and because what a patch changes unnamed shows in the size of the map.
 * `inventoryFaults` says the same of a whole state, slowly; a property test holds both equal. SPEC: WHS10-WHS16.
 */
import { counter, cas, defineState, field, map } from '@oplus/core';
import type {
  CounterIntent,
  Field,
  MapIntent,
  MapView,
  RegisterIntent,
  RuleAnswer,
  RuleContext,
  StateDefinition,
  Views,
} from '@oplus/core';
import { itemType, SHELF_COUNT, SHELVES, shelfType } from './inventory.ts';

export type WarehouseFields = {
  readonly shelves: Field<MapView<string | undefined>, MapIntent<RegisterIntent<string>>>;
  readonly received: Field<number, CounterIntent>;
  readonly shipped: Field<number, CounterIntent>;
};

export type WarehouseViews = Views<WarehouseFields>;

/** The definition that a warehouse space runs. */
export const warehouseState: StateDefinition<WarehouseFields> = defineState<WarehouseFields>({
  name: 'warehouse',
  version: 1,
  fields: {
    shelves: field(map(cas(itemType), { cap: SHELF_COUNT, keys: shelfType }), {
      doc: 'the item on each shelf; an empty shelf has none',
    }),
    received: field(counter(), { doc: 'items stored since the beginning' }),
    shipped: field(counter(), { doc: 'items shipped since the beginning' }),
  },
  invariants: {
    'item-on-one-shelf': { reads: ['shelves'], check: checkOneShelf },
    'received-minus-shipped-equals-stored': { reads: ['shelves', 'received', 'shipped'], check: checkStored },
  },
  transitions: {
    'received-and-shipped-only-rise': { reads: ['received', 'shipped'], check: checkRise },
    'no-item-changes-into-another': { reads: ['shelves', 'received', 'shipped'], check: checkNames },
  },
});

/** Facts of an inventory, from the state or from the world. `shelves` gives the occupied ones. */
export type Inventory = { readonly shelves: ReadonlyMap<string, string>; readonly received: number; readonly shipped: number };

/** The facts in the state's views. O(shelves). */
export function inventoryOf(views: WarehouseViews): Inventory {
  const shelves = new Map<string, string>();
  for (const [shelf, item] of views.shelves) if (item !== undefined) shelves.set(shelf, item);
  return { shelves, received: views.received, shipped: views.shipped };
}

/** The names of the invariants that do not hold, by looking at everything. O(shelves). */
export function inventoryFaults(inventory: Inventory): readonly string[] {
  const { shelves, received, shipped } = inventory;
  const faults: string[] = [];
  if (new Set(shelves.values()).size !== shelves.size) faults.push('item-on-one-shelf');
  if (received - shipped !== shelves.size) faults.push('received-minus-shipped-equals-stored');
  return faults;
}

type Context<K extends keyof WarehouseViews> = RuleContext<Pick<WarehouseViews, K>>;

function checkOneShelf(context: Context<'shelves'>): RuleAnswer {
  const { before, after } = context;
  const changed = changedShelves(context);
  const moved = new Set(changed.map((shelf) => before.shelves.get(shelf)));
  const faults: { path: string; have: string; want: string; hint: string }[] = [];
  for (const shelf of changed) {
    const item = after.shelves.get(shelf);
    if (item === undefined || item === before.shelves.get(shelf)) continue;
    const among = moved.has(item) ? changed : SHELVES;
    const twin = among.find((other) => other !== shelf && after.shelves.get(other) === item);
    if (twin === undefined) continue;
    faults.push({
      path: `/shelves/${shelf}`,
      have: twin,
      want: shelf,
      hint: `${item} stands on ${twin}. Empty ${twin} in the same patch, or choose another item.`,
    });
  }
  return faults.length === 0 ? true : faults;
}

function checkStored(context: Context<'shelves' | 'received' | 'shipped'>): RuleAnswer {
  const account = accountOf(context);
  return isBalanced(account) ? true : faultsOf(account);
}

function checkRise(context: Context<'received' | 'shipped'>): RuleAnswer {
  const { before, after } = context;
  const fallen = (['received', 'shipped'] as const).filter((name) => after[name] < before[name]);
  if (fallen.length === 0) return true;
  return fallen.map((name) => ({
    path: `/${name}`,
    have: before[name],
    want: after[name],
    hint: `${name} counts what happened: it only rises.`,
  }));
}

/** When the sums differ, that is the invariant's business. */
function checkNames(context: Context<'shelves' | 'received' | 'shipped'>): RuleAnswer {
  const account = accountOf(context);
  const isSame = account.appeared.length === account.received && account.vanished.length === account.shipped;
  return isSame || !isBalanced(account) ? true : faultsOf(account);
}

type Place = { readonly shelf: string; readonly item: string };

/** What came to and left the shelves, beside what the counters say. */
type Account = {
  readonly appeared: readonly Place[];
  readonly vanished: readonly Place[];
  readonly received: number;
  readonly shipped: number;
};

function accountOf(context: Context<'shelves' | 'received' | 'shipped'>): Account {
  const { before, after } = context;
  const changed = changedShelves(context);
  const held = placesOf(before, changed);
  const holds = placesOf(after, changed);
  const heldItems = new Set(held.map((place) => place.item));
  const holdsItems = new Set(holds.map((place) => place.item));
  return {
    appeared: holds.filter((place) => !heldItems.has(place.item)),
    vanished: held.filter((place) => !holdsItems.has(place.item)),
    received: after.received - before.received,
    shipped: after.shipped - before.shipped,
  };
}

function isBalanced({ appeared, vanished, received, shipped }: Account): boolean {
  return appeared.length - vanished.length === received - shipped;
}

function faultsOf({ appeared, vanished, received, shipped }: Account): RuleAnswer {
  const faults: { path: string; hint: string; have?: string; want?: string }[] = [];
  if (appeared.length > received) {
    for (const { shelf, item } of appeared) {
      faults.push({
        path: `/shelves/${shelf}`,
        want: item,
        hint: `${item} comes from nowhere. Store it with received +1; to move it, empty its shelf in the same patch. If that is empty already, look where ${item} is now.`,
      });
    }
  }
  if (vanished.length > shipped) {
    for (const { shelf, item } of vanished) {
      faults.push({
        path: `/shelves/${shelf}`,
        have: item,
        hint: `${item} would be lost. Ship it with shipped +1, or set it on another shelf in the same patch.`,
      });
    }
  }
  if (appeared.length < received)
    faults.push({ path: '/received', hint: `received rises by ${received}, the shelves get ${appeared.length} new items.` });
  if (vanished.length < shipped) {
    faults.push({
      path: '/shipped',
      hint: `shipped rises by ${shipped}, ${vanished.length} items leave the shelves. The shelf may be empty already: look where its item is now.`,
    });
  }
  return faults;
}

/**
 * Every shelf that the proposal may have changed: those that it names, or all when keys of the map went unnamed (`drop`).
 * Keys appear only when they are named, so what the size does beyond the named ones are exactly the unnamed drops.
 */
function changedShelves({ before, after, touched }: Context<'shelves'>): readonly string[] {
  const prefix = '/shelves/';
  const named = touched.flatMap((path) => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []));
  let size = before.shelves.size;
  for (const shelf of named) size += Number(after.shelves.has(shelf)) - Number(before.shelves.has(shelf));
  return size === after.shelves.size ? named : SHELVES;
}

function placesOf(views: Pick<WarehouseViews, 'shelves'>, among: readonly string[]): readonly Place[] {
  return among.flatMap((shelf) => {
    const item = views.shelves.get(shelf);
    return item === undefined ? [] : [{ shelf, item }];
  });
}
