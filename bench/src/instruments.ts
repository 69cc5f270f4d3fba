/**
 * Meters of CPU, sockets and heap. CPU comes from the process table of Linux, in ticks of 10 ms; elsewhere it is not measured.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync, readdirSync } from 'node:fs';
import type { Socket } from 'node:net';

import type { CpuMs } from './contender.ts';

/** CPU of this process, and of everything below it in the process tree, ended children included. `undefined` off Linux. */
export function cpuMsOfTree(): CpuMs | undefined {
  const table = readProcessTable();
  const own = table.get(process.pid);
  if (own === undefined) return undefined;
  let server = own.reapedMs;
  const waiting = [process.pid];
  for (let parent = waiting.pop(); parent !== undefined; parent = waiting.pop()) {
    for (const [pid, row] of table) {
      if (row.parent !== parent) continue;
      server += row.ownMs + row.reapedMs;
      waiting.push(pid);
    }
  }
  return { client: own.ownMs, server };
}

export interface WireMeter {
  /** Counts a socket that was not opened by `net.connect`, which the meter sees by itself. */
  track(socket: Socket): void;
  bytes(): number;
  close(): void;
}

/** Counts the bytes of every client socket that this process opens from now on, both directions, above TCP. */
export function createWireMeter(): WireMeter {
  const sockets = new Set<Socket>();
  const onSocket = (message: unknown): void => {
    sockets.add((message as { readonly socket: Socket }).socket);
  };
  subscribe('net.client.socket', onSocket);
  return {
    track: (socket) => {
      sockets.add(socket);
    },
    bytes: () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead + socket.bytesWritten, 0),
    close: () => {
      unsubscribe('net.client.socket', onSocket);
    },
  };
}

/** Collects garbage where the process runs with `--expose-gc`, so that one measurement does not pay for another. */
export function collectGarbage(): void {
  (globalThis as { readonly gc?: () => void }).gc?.();
}

/** Megabytes of live objects on the heap. */
export function heapMb(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 1e6;
}

type ProcessRow = { readonly parent: number; readonly ownMs: number; readonly reapedMs: number };

/** Linux counts in ticks of 1/100 s for user space, whatever the kernel's own rate. */
const TICK_MS = 10;

function readProcessTable(): ReadonlyMap<number, ProcessRow> {
  const table = new Map<number, ProcessRow>();
  if (process.platform !== 'linux') return table;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const row = readProcess(name);
    if (row !== undefined) table.set(Number(name), row);
  }
  return table;
}

function readProcess(name: string): ProcessRow | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${name}/stat`, 'utf8');
  } catch {
    return undefined; // it ended while we were looking
  }
  // The second column is the command in brackets and may hold spaces; what follows is plain numbers from `state` on.
  const columns = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const ticks = (column: number): number => Number(columns[column] ?? 0);
  return { parent: ticks(1), ownMs: (ticks(11) + ticks(12)) * TICK_MS, reapedMs: (ticks(13) + ticks(14)) * TICK_MS };
}
