/**
 * The attaching side: one connection for all ends of a bus, kept up across restarts of the hub. What is sent in between is lost.
 */
import { connect } from 'node:net';
import { OplusError } from '@oplus/core';
import { openConnection } from './connection.ts';
import type { Connection } from './connection.ts';
import { HELLO } from './frame.ts';
import type { Frame } from './frame.ts';
import { assertPrivate } from './socket-path.ts';

export interface Client {
  /**
   * Opens an end and resolves when the hub knows it, or at once when nobody serves. Throws `USAGE` for a path that we may not use,
   * `PROTOCOL_VERSION` when the hub speaks another version.
   */
  open(kind: 'attach' | 'listen', address: string, hear: (body: string) => void): Promise<ClientEnd>;
  /** Sends what is queued and ends the connection. */
  close(): Promise<void>;
}

export interface ClientEnd {
  /** Lost when there is no connection, or a newer end has taken the name. */
  send(body: string): void;
  close(): void;
}

/** Speaks with whatever hub is at `path`, now and later. Connects when the first end opens. */
export function openClient(path: string): Client {
  const ends = new Map<number, End>();
  let connection: Connection | undefined;
  let retry: NodeJS.Timeout | undefined;
  let retryMs = RETRY_MS_MIN;
  let endCount = 0;
  let isClosed = false;

  const settleAll = (error?: OplusError): void => {
    for (const end of ends.values()) end.settle(error);
  };

  const reconnect = (): void => {
    if (isClosed || retry !== undefined) return;
    retry = setTimeout(() => {
      retry = undefined;
      start();
    }, retryMs);
    retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
  };

  const start = (): void => {
    const socket = connect(path);
    let isGreeted = false;
    let failure: NodeJS.ErrnoException | undefined;
    socket.once('error', (error) => (failure = error));
    const opened: Connection = openConnection(
      socket,
      (frame) => {
        if (!isGreeted) {
          if (frame.kind !== 'hello' || frame.text !== HELLO) {
            if (frame.kind === 'hello') settleAll(otherVersion(path, frame.text));
            return opened.destroy();
          }
          isGreeted = true;
          retryMs = RETRY_MS_MIN;
          return;
        }
        if (!hearFrame(ends, frame)) opened.destroy();
      },
      () => {
        if (connection === opened) connection = undefined;
        if (failure?.code === 'EACCES' || failure?.code === 'EPERM') settleAll(notAllowed(path, failure));
        // A full queue of connections (EAGAIN) is somebody who serves; after anything else nobody does, for now.
        else if (failure?.code !== 'EAGAIN') settleAll();
        reconnect();
      },
    );
    connection = opened;
    opened.write('hello', 0, Buffer.from(HELLO));
    for (const [id, end] of ends) opened.write(end.kind, id, Buffer.from(end.address));
  };

  return {
    async open(kind, address, hear) {
      assertPrivate(path, false);
      endCount += 1;
      const id = endCount;
      let settle: End['settle'] = () => undefined;
      const known = new Promise<void>((resolve, reject) => {
        settle = (error) => (error === undefined ? resolve() : reject(error));
      });
      ends.set(id, { kind, address, hear, settle });
      if (connection !== undefined) connection.write(kind, id, Buffer.from(address));
      else if (retry === undefined) start();
      else settle();
      const late = setTimeout(settle, OPEN_MS_MAX);
      try {
        await known;
      } catch (error) {
        ends.delete(id);
        throw error;
      } finally {
        clearTimeout(late);
      }
      return {
        send(body) {
          if (ends.has(id)) connection?.write('message', id, Buffer.from(body));
        },
        close() {
          if (ends.delete(id)) connection?.write('leave', id, NO_TEXT);
        },
      };
    },
    async close() {
      isClosed = true;
      clearTimeout(retry);
      settleAll();
      ends.clear();
      await connection?.end();
    },
  };
}

/** An end of ours: how it introduces itself, and who waits for it. `settle` does nothing the second time. */
type End = {
  readonly kind: 'attach' | 'listen';
  readonly address: string;
  readonly hear: (body: string) => void;
  readonly settle: (error?: OplusError) => void;
};

const NO_TEXT = new Uint8Array();
const RETRY_MS_MIN = 10;
const RETRY_MS_MAX = 1_000;
/** A hub that is busy or stopped knows us later; nothing is gained by waiting longer. */
const OPEN_MS_MAX = 2_000;

/** False when the frame is none that a hub may send now. */
function hearFrame(ends: Map<number, End>, { kind, end: id, text }: Frame): boolean {
  const end = ends.get(id);
  switch (kind) {
    case 'ready':
      end?.settle();
      return true;
    case 'superseded':
      // Forgotten for good: coming back after a restart of the hub would take the name from its new owner.
      ends.delete(id);
      return true;
    case 'answer':
    case 'announcement':
      end?.hear(text);
      return true;
    default:
      return false;
  }
}

function notAllowed(path: string, cause: unknown): OplusError {
  return new OplusError('USAGE', `no permission to use ${path}`, { path, hint: 'run as the user who serves there', cause });
}

function otherVersion(path: string, hello: string): OplusError {
  const hint = 'run the same version on both sides';
  return new OplusError('PROTOCOL_VERSION', `who serves at ${path} says ${JSON.stringify(hello.slice(0, 80))}, we say ${HELLO}`, {
    path,
    hint,
  });
}
