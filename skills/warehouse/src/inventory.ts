/**
 * Names of shelves and items, all of one width, so that no view grows with what it names.
 *
 * There are always 500 shelves, `S001` to `S500`. Items are numbered in the order in which they arrive, from `item-0001`.
 */
import { z } from 'zod';

/** How many shelves there are: the figure of the paper. */
export const SHELF_COUNT = 500;

/** Most items that one run can name. */
export const ITEMS_MAX = 9999;

/** Every shelf, ascending. */
export const SHELVES: readonly string[] = Array.from(
  { length: SHELF_COUNT },
  (_, index) => `S${String(index + 1).padStart(3, '0')}`,
);

/** The type of a shelf's name. The pattern bounds it; that it is one of the 500 is checked beside. */
export const shelfType: z.ZodType<string> = z
  .string()
  .max(4)
  .regex(/^S[0-5][0-9]{2}$/, 'a shelf is named S001 to S500')
  .refine((name) => shelfIndex(name) !== undefined, 'the shelves are S001 to S500');

/** The type of an item's name. */
export const itemType: z.ZodType<string> = z
  .string()
  .max(9)
  .regex(/^item-[0-9]{4}$/, 'an item is named item- and four digits');

/** Position of a shelf in `SHELVES`, `undefined` for any other name. O(1). */
export function shelfIndex(name: string): number | undefined {
  const index = Number(name.slice(1)) - 1;
  return SHELVES[index] === name ? index : undefined;
}

/** Name of the item that arrived as number `n`, in `[1, ITEMS_MAX]`. */
export function itemName(n: number): string {
  return `item-${String(n).padStart(4, '0')}`;
}
