import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';

import { expect, test } from 'vitest';

import { cpuMsOfTree, createWireMeter } from './instruments.ts';

test('[BEN13] bytes are counted on the clients only, both directions', async () => {
  const server = createServer((socket) => socket.on('data', () => socket.end('12345')));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const meter = createWireMeter();
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.resume().write('123');
  await once(socket, 'close');
  expect(meter.bytes()).toBe(8);
  meter.close();
  const unseen = connect((server.address() as AddressInfo).port, '127.0.0.1');
  unseen.resume().write('123');
  await once(unseen, 'close');
  server.close();
  expect(meter.bytes()).toBe(8);
});

test('[BEN13] work of a child counts as server, our own as client; off Linux nothing is counted', async () => {
  const before = cpuMsOfTree();
  const child = spawn(process.execPath, ['-e', `${spin.toString()} spin(3e8); setInterval(() => 0, 1e6); console.log("done")`]);
  await once(child.stdout, 'data');
  const withChild = cpuMsOfTree();
  child.kill();
  await once(child, 'exit');
  const afterChild = cpuMsOfTree();
  spin(3e8);
  const afterWork = cpuMsOfTree();
  if (process.platform !== 'linux') {
    expect([before, withChild, afterChild, afterWork]).toEqual([undefined, undefined, undefined, undefined]);
    return;
  }
  expect((withChild?.server ?? 0) - (before?.server ?? 0)).toBeGreaterThanOrEqual(20);
  expect(afterChild?.server).toBeGreaterThanOrEqual(withChild?.server ?? Infinity);
  expect((afterWork?.client ?? 0) - (afterChild?.client ?? 0)).toBeGreaterThanOrEqual(20);
});

/** A fixed amount of work, far more than a tick of the process table. */
function spin(turnCount: number): number {
  let sum = 0;
  for (let turn = 0; turn < turnCount; turn += 1) sum += turn % 7;
  return sum;
}
