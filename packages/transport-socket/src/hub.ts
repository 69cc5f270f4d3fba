/**
 * The serving side: one hub per path, in the coordinator's process. Every channel that its bus serves meets there.
 */
import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { OplusError } from '@oplus/core';
import { ADDRESS_PATTERN } from '@oplus/protocol';
import { openConnection } from './connection.ts';
import type { Connection } from './connection.ts';
import { HELLO } from './frame.ts';
import type { Frame } from './frame.ts';
import { takePathLock } from './path-lock.ts';
import { assertPrivate, isPipe } from './socket-path.ts';

export interface Hub {
  /** Whether the channel has a server. */
  isServed(channel: string): boolean;
  /** Gives the channel to `onMessage`; the returned function takes it back. */
  serve(channel: string, onMessage: (from: string, body: string) => void): () => void;
  /** To the attachment of that name, if there is one. */
  send(channel: string, to: string, body: string): void;
  /** To every listener of the channel. */
  announce(channel: string, body: string): void;
  /** Sends what is queued, ends every connection and frees the path. */
  close(): Promise<void>;
}

/**
 * Opens the hub of `path`. Throws `PORT_BUSY` when the path is served, by us or another program; `USAGE` when it cannot be a socket of ours.
 * What a killed hub left there is replaced.
 */
export async function openHub(path: string): Promise<Hub> {
  assertPrivate(path, true);
  if (isPipe(path)) return hubOn(await listening(path), () => undefined);
  const lock = await takePathLock(path).catch((error: unknown) => {
    throw error instanceof OplusError ? error : unusable(path, error);
  });
  try {
    await removeLeftover(path);
    const server = await listening(path);
    // Between the two the folder alone keeps others out, which it does.
    chmodSync(path, 0o600);
    return hubOn(server, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** An attachment or a listener of one connection. */
type Peer = { readonly connection: Connection; readonly end: number };
type Channel = {
  onMessage: ((from: string, body: string) => void) | undefined;
  readonly attachments: Map<string, Peer>;
  readonly listeners: Set<Peer>;
};

/** What the hub knows about an end of a connection: to whom its messages belong, and how it goes. */
type Entry = { readonly channel: Channel; readonly name: string | undefined; remove(): void };

function hubOn(server: Server, release: () => void): Hub {
  const channels = new Map<string, Channel>();
  const connections = new Set<Connection>();

  const channelOf = (name: string): Channel => {
    let channel = channels.get(name);
    if (channel === undefined) {
      channel = { onMessage: undefined, attachments: new Map(), listeners: new Set() };
      channels.set(name, channel);
    }
    return channel;
  };
  const forgetIfEmpty = (name: string): void => {
    const channel = channels.get(name);
    if (channel !== undefined && channel.onMessage === undefined && channel.attachments.size + channel.listeners.size === 0)
      channels.delete(name);
  };
  const attach = (connection: Connection, end: number, channelName: string, name: string): Entry => {
    const channel = channelOf(channelName);
    const peer: Peer = { connection, end };
    const older = channel.attachments.get(name);
    older?.connection.write('superseded', older.end, NO_TEXT);
    channel.attachments.set(name, peer);
    return {
      channel,
      name,
      remove() {
        if (channel.attachments.get(name) === peer) channel.attachments.delete(name);
        forgetIfEmpty(channelName);
      },
    };
  };
  const listen = (connection: Connection, end: number, channelName: string): Entry => {
    const channel = channelOf(channelName);
    const peer: Peer = { connection, end };
    channel.listeners.add(peer);
    return {
      channel,
      name: undefined,
      remove() {
        channel.listeners.delete(peer);
        forgetIfEmpty(channelName);
      },
    };
  };
  const isHolding = ({ channel, name }: Entry, connection: Connection, end: number): boolean => {
    const holder = name === undefined ? undefined : channel.attachments.get(name);
    return holder !== undefined && holder.connection === connection && holder.end === end;
  };

  const accept = (socket: Socket): void => {
    const entries = new Map<number, Entry>();
    let isGreeted = false;

    /** False when the frame is none that a client may send now. */
    const take = ({ kind, end, text }: Frame): boolean => {
      if (!isGreeted) {
        isGreeted = kind === 'hello' && text === HELLO;
        return isGreeted;
      }
      const names = text.split(' ');
      switch (kind) {
        case 'attach':
        case 'listen': {
          const isWellFormed = names.length === (kind === 'attach' ? 2 : 1) && names.every((name) => ADDRESS_PATTERN.test(name));
          if (entries.has(end) || !isWellFormed) return false;
          const [channel = '', name = ''] = names;
          entries.set(end, kind === 'attach' ? attach(connection, end, channel, name) : listen(connection, end, channel));
          connection.write('ready', end, NO_TEXT);
          return true;
        }
        case 'leave':
          entries.get(end)?.remove();
          entries.delete(end);
          return true;
        case 'message': {
          // An end that is gone or superseded may still have had messages under way: they are lost.
          const entry = entries.get(end);
          if (entry?.name !== undefined && isHolding(entry, connection, end)) entry.channel.onMessage?.(entry.name, text);
          return true;
        }
        default:
          return false;
      }
    };

    const connection: Connection = openConnection(
      socket,
      (frame) => {
        if (take(frame)) return;
        // The greeting that is queued still goes out, so that a client of another version learns why.
        if (isGreeted) connection.destroy();
        else void connection.end();
      },
      () => {
        connections.delete(connection);
        for (const entry of entries.values()) entry.remove();
        entries.clear();
      },
    );
    connections.add(connection);
    connection.write('hello', 0, Buffer.from(HELLO));
  };
  server.on('connection', accept);

  return {
    isServed: (name) => channels.get(name)?.onMessage !== undefined,
    serve(name, onMessage) {
      const channel = channelOf(name);
      channel.onMessage = onMessage;
      return () => {
        channel.onMessage = undefined;
        forgetIfEmpty(name);
      };
    },
    send(name, to, body) {
      const peer = channels.get(name)?.attachments.get(to);
      peer?.connection.write('answer', peer.end, Buffer.from(body));
    },
    announce(name, body) {
      const listeners = channels.get(name)?.listeners;
      if (listeners === undefined || listeners.size === 0) return;
      const bytes = Buffer.from(body);
      for (const { connection, end } of listeners) connection.write('announcement', end, bytes);
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([...connections].map((connection) => connection.end()));
      await closed;
      release();
    },
  };
}

const NO_TEXT = new Uint8Array();

/** Removes the socket file of a hub that is no more. The caller holds the lock, so no hub of ours is behind it. */
async function removeLeftover(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (!stats.isSocket()) {
    throw new OplusError('USAGE', `there is something else at ${path}`, {
      path,
      hint: 'remove it if you do not need it, or use another path',
    });
  }
  const code = await new Promise<string | undefined>((resolve) => {
    const probe = connect(path);
    probe.on('connect', () => {
      probe.destroy();
      resolve(undefined);
    });
    probe.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });
  if (code !== 'ECONNREFUSED' && code !== 'ENOENT') {
    throw new OplusError('PORT_BUSY', `another program serves at ${path}`, { path, hint: 'end it, or use another path' });
  }
  rmSync(path, { force: true });
}

async function listening(path: string): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const busy = new OplusError('PORT_BUSY', `another program serves at ${path}`, {
        path,
        hint: 'end it, or use another path',
        cause: error,
      });
      reject(error.code === 'EADDRINUSE' ? busy : unusable(path, error));
    });
    server.listen(path, resolve);
  });
  server.removeAllListeners('error');
  // Running out of descriptors refuses one connection; the peer tries again.
  server.on('error', () => undefined);
  return server;
}

function unusable(path: string, cause: unknown): OplusError {
  return new OplusError('USAGE', `no socket can be opened at ${path}`, {
    path,
    hint: 'use a path in a folder that you may write',
    cause,
  });
}
