/** Every port's contract, on the adapters in memory. */
import { blobsContract, busContract, clockContract, logContract } from '@oplus/protocol/testing';
import { manualClock, memoryBlobs, memoryBlobStore, memoryHub, memoryLog, memoryLogStore, systemClock } from './index.ts';

logContract('memoryLog', async () => {
  const store = memoryLogStore();
  return {
    durability: 'none',
    writers: 'many',
    open: async () => memoryLog(store),
    openReader: async () => memoryLog(store),
    destroy: async () => void store.bodies.splice(0),
  };
});

busContract('memoryBus', async () => {
  const hub = memoryHub();
  return { servers: 'many', open: async () => hub.open(), destroy: async () => undefined };
});

blobsContract('memoryBlobs', async () => {
  const store = memoryBlobStore();
  return {
    writers: 'many',
    open: async () => memoryBlobs(store),
    damage: async (digest) => void store.blobs.set(digest, new Uint8Array([1])),
    destroy: async () => store.blobs.clear(),
  };
});

clockContract('manualClock', async () => {
  const clock = manualClock(1_000);
  return { clock, pass: async (durationMs) => clock.advance(durationMs), destroy: async () => undefined };
});

clockContract('systemClock', async () => {
  const clock = systemClock();
  return {
    clock,
    pass: (durationMs) => new Promise((resolve) => clock.after(durationMs, resolve)),
    destroy: async () => undefined,
  };
});
