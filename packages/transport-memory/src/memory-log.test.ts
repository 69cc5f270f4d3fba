import { expect, test } from 'vitest';
import { memoryBlobs, memoryBlobStore, memoryLog, memoryLogStore } from './index.ts';

test('[MEM1] logs on one store share their records, logs without one do not', async () => {
  const store = memoryLogStore();
  const [first, second, apart] = [memoryLog(store), memoryLog(store), memoryLog()];
  expect(await first.append(0, 'a')).toEqual({ kind: 'appended', index: 1 });
  expect(await second.append(0, 'b')).toEqual({ kind: 'conflict', tail: 1 });
  await first.close();
  expect(await second.append(1, 'b')).toEqual({ kind: 'appended', index: 2 });
  expect(store.bodies).toEqual(['a', 'b']);
  expect(await apart.tail()).toBe(0);
});

test('[MEM1] blobs on one store share their bytes, blobs without one do not', async () => {
  const store = memoryBlobStore();
  const digest = await memoryBlobs(store).put(new Uint8Array([1, 2]));
  expect(await memoryBlobs(store).get(digest)).toEqual(new Uint8Array([1, 2]));
  expect(await memoryBlobs().get(digest)).toBeUndefined();
});
