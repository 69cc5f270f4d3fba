/**
 * Redis: one atomic Lua script per patch, called by its digest, followers told by publish and subscribe from inside the script.
 *
 * Two ways to keep the board: in Redis' own structures, which is how Redis is meant to be used, and as one JSON document,
 * which is how a state is usually handed to it.
 */
import { createClient, defineScript } from 'redis';

import type { Board, Task } from '../board.ts';
import { TASKS, initialBoard } from '../board.ts';
import type { Contender, Session, Writer } from '../contender.ts';
import { cpuMsOfTree, createWireMeter } from '../instruments.ts';
import { createReplicas, follow, serving } from '../replica.ts';
import { findBinary, freePort, startServer } from '../server-process.ts';
import { DOCUMENT_SCRIPT, STRUCTURES_SCRIPT } from './redis-scripts.ts';

/** Redis' own structures, nothing on disk: the fastest Redis there is. */
export const redisLua: Contender = contender({
  name: 'redis-lua',
  description: 'Redis, one Lua script per patch on hashes, a set and a list, no persistence, followers by pub/sub',
  layout: 'structures',
  isLogged: false,
});
/** The same with the append-only file, synced every second, as Redis' documentation advises for durability. */
export const redisLuaLogged: Contender = contender({
  name: 'redis-lua-aof',
  description: 'the same with the append-only file, synced every second',
  layout: 'structures',
  isLogged: true,
});
/** The board as one JSON document, decoded and encoded by the script. */
export const redisLuaDocument: Contender = contender({
  name: 'redis-lua-document',
  description: 'Redis, one Lua script per patch on one JSON document, no persistence, followers by pub/sub',
  layout: 'document',
  isLogged: false,
});

type Options = {
  readonly name: string;
  readonly description: string;
  readonly layout: 'structures' | 'document';
  readonly isLogged: boolean;
};

const CHANNEL = 'board';
const DOCUMENT_KEY = 'board:document';
const STRUCTURE_KEYS: readonly string[] = ['numbers', 'tags', 'journal', 'registers', 'tasks'].map((name) => `board:${name}`);
const [NUMBERS = '', TAGS = '', JOURNAL = '', REGISTERS = '', ROWS = ''] = STRUCTURE_KEYS;

function contender({ name, description, layout, isLogged }: Options): Contender {
  return {
    name,
    description,
    durability: isLogged ? 'process' : 'none',
    missing: () => (redisBinary() === undefined ? 'redis-server (Debian: apt-get install redis-server)' : undefined),
    open: async (options) => {
      const port = await freePort();
      const persistence = ['--save', '', '--appendonly', isLogged ? 'yes' : 'no', '--appendfsync', 'everysec'];
      const args = ['--bind', '127.0.0.1', '--port', String(port), '--dir', options.directory, ...persistence];
      const server = await startServer({ binary: redisBinary() ?? 'redis-server', args, port, stopSignal: 'SIGTERM' });
      const wire = createWireMeter();
      const clients: { destroy: () => void }[] = [];
      const close = async (): Promise<void> => {
        for (const client of clients) client.destroy();
        await server.stop();
        wire.close();
      };
      try {
        const replicas = createReplicas(options);
        const connections = await Promise.all(replicas.map(() => connect(port, layout)));
        clients.push(...connections);
        await load(serving(connections, 0), layout, initialBoard());
        for (const replica of replicas) {
          const subscriber = await serving(connections, 0).duplicate().connect();
          clients.push(subscriber);
          await subscriber.subscribe(CHANNEL, (message) => follow(replica, message));
        }
        const writers = Array.from({ length: options.writerCount }, (_, index): Writer => {
          const client = serving(connections, index);
          const replica = serving(replicas, index);
          return {
            view: () => replica.view,
            board: () => replica.board,
            commit: async (patch) => {
              const refused = await client.commitPatch(JSON.stringify(patch.operations));
              return { outcome: refused === '' ? 'committed' : 'refused', retryCount: 0 };
            },
          };
        });
        const session: Session = {
          writer: (index) => serving(writers, index),
          finalState: () => read(serving(connections, 0), layout),
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

function redisBinary(): string | undefined {
  return findBinary('redis-server', ['/usr/sbin', '/usr/local/bin']);
}

type Client = Awaited<ReturnType<typeof connect>>;

function connect(port: number, layout: Options['layout']) {
  const script = layout === 'structures' ? STRUCTURES_SCRIPT : DOCUMENT_SCRIPT;
  const keys = layout === 'structures' ? STRUCTURE_KEYS : [DOCUMENT_KEY];
  const commitPatch = defineScript({
    SCRIPT: script,
    NUMBER_OF_KEYS: keys.length,
    parseCommand: (parser, operationsJson: string) => {
      parser.pushKeys([...keys]);
      parser.push(operationsJson, CHANNEL);
    },
    transformReply: (reply: string) => reply,
  });
  return createClient({ socket: { host: '127.0.0.1', port }, scripts: { commitPatch } }).connect();
}

async function load(client: Client, layout: Options['layout'], board: Board): Promise<void> {
  if (layout === 'document') {
    await client.set(DOCUMENT_KEY, JSON.stringify(board));
    return;
  }
  const cells = Object.entries(board.tasks).flatMap(([key, task]) =>
    Object.entries(task).map(([column, value]) => [`${key}:${column}`, value]),
  );
  await client
    .multi()
    .hSet(NUMBERS, { ...board.counters, budget: board.budget })
    .sAdd(TAGS, board.tags)
    .rPush(JOURNAL, board.journal)
    .hSet(REGISTERS, board.registers)
    .hSet(ROWS, Object.fromEntries(cells) as Record<string, string>)
    .exec();
}

async function read(client: Client, layout: Options['layout']): Promise<Board> {
  if (layout === 'document') return JSON.parse((await client.get(DOCUMENT_KEY)) ?? 'null') as Board;
  const { budget, ...counters } = await client.hGetAll(NUMBERS);
  const cells = await client.hGetAll(ROWS);
  const taskAt = (key: string): Task => ({
    title: cells[`${key}:title`] ?? '',
    status: cells[`${key}:status`] as Task['status'],
    owner: cells[`${key}:owner`] ?? '',
  });
  return {
    counters: Object.fromEntries(Object.entries(counters).map(([name, value]) => [name, Number(value)])),
    budget: Number(budget),
    tags: await client.sMembers(TAGS),
    journal: await client.lRange(JOURNAL, 0, -1),
    registers: { ...(await client.hGetAll(REGISTERS)) },
    tasks: Object.fromEntries(TASKS.map((key) => [key, taskAt(key)])),
  };
}
