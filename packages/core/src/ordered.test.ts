import { expect, onTestFinished, test, vi } from 'vitest';
import type * as orderedModule from './ordered.ts';
import { sha256 } from './testing/sha256.ts';

const COUNT = 50_000;
const keyOf = (i: number): string => String(i).padStart(16, '0');

/** The module over hashes that fall as keys rise: what somebody gets who picks keys for their hashes. */
async function fallingHashes(): Promise<typeof orderedModule> {
  vi.resetModules();
  vi.doMock('./stamp.ts', () => ({ hashText: (key: string) => 0xffffffff - Number(key) }));
  onTestFinished(() => {
    vi.doUnmock('./stamp.ts');
    vi.resetModules();
  });
  return import('./ordered.ts');
}

test('[ORD6] keys picked for their hashes make a chain, which is slow and still right', async () => {
  const { orderedAt, orderedDigest, orderedEntries, orderedLast, orderedOf, orderedSize, orderedWith, orderedWithout } =
    await fallingHashes();
  const chain = orderedOf(Array.from({ length: COUNT }, (_, i): [string, number] => [keyOf(i), i]));
  let depth = 0;
  for (let node: orderedModule.Ordered<number> = chain; node !== undefined; node = node.right) depth += 1;
  expect(depth).toBe(COUNT);
  const digestOf = (map: orderedModule.Ordered<number>): string => orderedDigest(map, String, sha256);
  const longer = orderedWith(chain, keyOf(COUNT), COUNT);
  expect(orderedLast(longer)).toEqual([keyOf(COUNT), COUNT]);
  expect(digestOf(longer)).not.toBe(digestOf(chain));
  const shorter = orderedWithout(orderedWithout(longer, keyOf(COUNT)), keyOf(7));
  expect([orderedSize(shorter), orderedAt(shorter, keyOf(7)), orderedAt(shorter, keyOf(8))]).toEqual([COUNT - 1, undefined, 8]);
  expect(digestOf(orderedWith(shorter, keyOf(7), 7))).toBe(digestOf(chain));
  expect([...orderedEntries(chain, keyOf(COUNT - 2))].map(([, i]) => i)).toEqual([COUNT - 2, COUNT - 1]);
});
