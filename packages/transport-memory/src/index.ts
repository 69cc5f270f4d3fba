export type { ManualClock } from './manual-clock.ts';
export { manualClock } from './manual-clock.ts';
export type { MemoryBlobStore } from './memory-blobs.ts';
export { memoryBlobStore, memoryBlobs } from './memory-blobs.ts';
export type { MemoryHub } from './memory-bus.ts';
export { memoryBus, memoryHub } from './memory-bus.ts';
export type { MemoryLogStore } from './memory-log.ts';
export { memoryLog, memoryLogStore } from './memory-log.ts';
export { systemClock } from './system-clock.ts';
