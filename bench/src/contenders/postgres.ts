/**
 * PostgreSQL: one function call per patch, a connection per writer, followers by LISTEN and NOTIFY.
 *
 * Two ways: row locks at the default level (READ COMMITTED), and SERIALIZABLE with the retry of serialization failures that
 * its documentation demands. Default settings, so an acknowledged commit is on the disk.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { OplusError } from '@oplus/core';
import pg from 'pg';

import type { Board, Task } from '../board.ts';
import { initialBoard } from '../board.ts';
import type { Answer, Contender, OpenOptions, Session, Writer } from '../contender.ts';
import { cpuMsOfTree, createWireMeter } from '../instruments.ts';
import { createReplicas, follow, serving } from '../replica.ts';
import type { ServerProcess } from '../server-process.ts';
import { findBinary, freePort, serverUser, startServer } from '../server-process.ts';
import { CHANNEL, PATCH_REFUSED, SCHEMA } from './postgres-schema.ts';

export const postgresRows: Contender = contender('postgres-rows', 'read committed');
export const postgresSerializable: Contender = contender('postgres-serializable', 'serializable');

type Isolation = 'read committed' | 'serializable';

/** Serialization failure and deadlock: the two that the documentation says to retry. */
const RETRIED_CODES: readonly string[] = ['40001', '40P01'];
const STARTING_UP = '57P03';

function contender(name: string, isolation: Isolation): Contender {
  return {
    name,
    description: `PostgreSQL, one plpgsql call per patch, ${isolation === 'serializable' ? 'SERIALIZABLE with retries' : 'row locks'}, followers by LISTEN`,
    durability: 'power',
    missing: () => (binaries() === undefined ? 'postgresql (Debian: apt-get install postgresql)' : undefined),
    open: async (options) => {
      const port = await freePort();
      const server = await startPostgres(options, port);
      const wire = createWireMeter();
      const clients: pg.Client[] = [];
      const connect = async (): Promise<pg.Client> => {
        const client = await connectWhenUp({ port, isolation, track: wire.track });
        clients.push(client);
        return client;
      };
      const close = async (): Promise<void> => {
        await Promise.allSettled(clients.map((client) => client.end()));
        await server.stop();
        wire.close();
      };
      try {
        await load(await connect(), initialBoard());
        const connections = await Promise.all(Array.from({ length: options.writerCount }, connect));
        const replicas = createReplicas(options);
        for (const [index, replica] of replicas.entries()) {
          const client = serving(connections, index);
          client.on('notification', ({ payload }) => follow(replica, payload ?? '[]'));
          await client.query(`LISTEN ${CHANNEL}`);
        }
        const writers = connections.map((client, index): Writer => {
          const replica = serving(replicas, index);
          return {
            view: () => replica.view,
            board: () => replica.board,
            commit: (patch) => commit(client, JSON.stringify(patch.operations)),
          };
        });
        const session: Session = {
          writer: (index) => serving(writers, index),
          finalState: () => read(serving(clients, 0)),
          cpuMs: cpuMsOfTree,
          bytesOnWire: wire.bytes,
          close,
        };
        return session;
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

function binaries(): string | undefined {
  const initdb = findBinary('initdb', ['/usr/lib/postgresql/*/bin', '/usr/local/pgsql/bin']);
  return initdb === undefined ? undefined : dirname(initdb);
}

/** PostgreSQL refuses to run as root: its own user does, then. */
async function startPostgres({ directory }: OpenOptions, port: number): Promise<ServerProcess> {
  const folder = binaries();
  if (folder === undefined) throw new OplusError('USAGE', 'no initdb found', { hint: 'Install postgresql.' });
  const user = serverUser(['postgres', 'nobody']);
  const data = join(directory, 'postgres');
  mkdirSync(data, { mode: 0o700 });
  if (user !== undefined) {
    chmodSync(directory, 0o711); // lets that user pass through
    chownSync(data, user.uid, user.gid);
  }
  const args = ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
  const created = spawnSync(join(folder, 'initdb'), args, { ...user, cwd: '/', encoding: 'utf8' });
  if (created.status !== 0)
    throw new OplusError('BROKER_UNREACHABLE', 'initdb failed', { hint: `It said: ${created.stderr.trim()}` });
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', max_connections: 200 };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return startServer({ binary: join(folder, 'postgres'), args: ['-D', data, ...options], port, stopSignal: 'SIGINT', user });
}

type Target = { readonly port: number; readonly isolation: Isolation; readonly track: (socket: Socket) => void };

async function connectWhenUp({ port, isolation, track }: Target): Promise<pg.Client> {
  for (;;) {
    const stream = (): Socket => {
      const socket = new Socket();
      track(socket);
      return socket;
    };
    const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`;
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'bench', database: 'postgres', options, stream });
    client.on('error', () => undefined); // the server goes away under us only when the bench stops it
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (codeOf(error) !== STARTING_UP) throw error;
    }
    await sleep(20);
  }
}

async function commit(client: pg.Client, operationsJson: string): Promise<Answer> {
  for (let retryCount = 0; ; retryCount += 1) {
    try {
      await client.query({ name: 'commit', text: 'SELECT commit_patch($1)', values: [operationsJson] });
      return { outcome: 'committed', retryCount };
    } catch (error) {
      if (codeOf(error) === PATCH_REFUSED) return { outcome: 'refused', retryCount };
      if (!RETRIED_CODES.includes(codeOf(error))) throw error;
    }
  }
}

function codeOf(error: unknown): string {
  return error instanceof pg.DatabaseError ? (error.code ?? '') : '';
}

async function load(client: pg.Client, board: Board): Promise<void> {
  await client.query(SCHEMA);
  const numbers = { ...board.counters, budget: board.budget, tags: board.tags.length, journal: board.journal.length };
  await client.query('INSERT INTO number SELECT key, value::bigint FROM jsonb_each_text($1)', [JSON.stringify(numbers)]);
  await client.query('INSERT INTO tag SELECT * FROM jsonb_array_elements_text($1)', [JSON.stringify(board.tags)]);
  await client.query('INSERT INTO journal SELECT n, entry FROM jsonb_array_elements_text($1) WITH ORDINALITY AS row (entry, n)', [
    JSON.stringify(board.journal),
  ]);
  await client.query('INSERT INTO register SELECT * FROM jsonb_each_text($1)', [JSON.stringify(board.registers)]);
  await client.query(`INSERT INTO task SELECT key, value->>'title', value->>'status', value->>'owner' FROM jsonb_each($1)`, [
    JSON.stringify(board.tasks),
  ]);
}

async function read(client: pg.Client): Promise<Board> {
  const rows = async (sql: string): Promise<Record<string, string>[]> => (await client.query<Record<string, string>>(sql)).rows;
  const numbers = (await rows(`SELECT * FROM number WHERE name NOT IN ('tags', 'journal')`)).map(
    ({ name = '', value }) => [name, Number(value)] as const,
  );
  const { budget = 0, ...counters } = Object.fromEntries(numbers);
  return {
    counters,
    budget,
    tags: (await rows('SELECT name FROM tag')).map(({ name = '' }) => name),
    journal: (await rows('SELECT entry FROM journal ORDER BY n')).map(({ entry = '' }) => entry),
    registers: Object.fromEntries((await rows('SELECT * FROM register')).map(({ name = '', value = '' }) => [name, value])),
    tasks: Object.fromEntries(
      (await rows('SELECT key, title, status, owner FROM task')).map(({ key = '', ...task }) => [key, task as unknown as Task]),
    ),
  };
}
