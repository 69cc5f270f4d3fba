/** The contract of Bus on a socket in a temporary folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus } from '@oplus/protocol';
import { busContract } from '@oplus/protocol/testing';
import { socketBus } from './index.ts';

busContract('socketBus', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'oplus-bus-'));
  const path = join(folder, 'bus.sock');
  const buses: Bus[] = [];
  return {
    servers: 'one',
    async open() {
      const bus = socketBus(path);
      buses.push(bus);
      return bus;
    },
    async destroy() {
      await Promise.all(buses.map((bus) => bus.close()));
      await rm(folder, { recursive: true });
    },
  };
});
