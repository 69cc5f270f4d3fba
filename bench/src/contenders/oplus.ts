/**
 * oplus itself: proposals on views, one coordinator, one log. Nothing is retried: what the coordinator refuses is refused.
 *
 * In process, the coordinator's own state serves all writers. Over NATS the coordinator is a process of its own, as it would be
 * beside agents on other machines. Workers of one process share one replica by design, so here `own` views mean a connection
 * of its own for each writer beside the one that follows the log.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openCoordinator } from '@oplus/coordinator';
import { loadState, OplusError } from '@oplus/core';
import type { StateSchema } from '@oplus/core';
import { sha256 } from '@oplus/protocol';
import type { Bus, Clock, Log, Replica } from '@oplus/protocol';
import { memoryBus, memoryLog, systemClock } from '@oplus/transport-memory';
import { connectNats, natsBus, natsLogReader, startNatsServer } from '@oplus/transport-nats';
import type { BrokerConnection } from '@oplus/transport-nats';
import { sqliteLog } from '@oplus/transport-sqlite';
import { follow, join } from '@oplus/worker';
import type { View, Worker } from '@oplus/worker';
import { join as joinPath } from 'node:path';

import type { Contender, OpenOptions, Session, Writer } from '../contender.ts';
import { cpuMsOfTree, createWireMeter } from '../instruments.ts';
import { serving } from '../replica.ts';
import { INSTALL, natsBinary } from './nats-kv.ts';
import { boardDefinition, boardOf, boardViewOf, intentOf, openingPatches } from './oplus-board.ts';
import type { CoordinatorOrder, CoordinatorWord } from './oplus-coordinator.ts';
import { CHANNEL, SHARD, SPACE } from './oplus-names.ts';

export const oplusMemory: Contender = {
  name: 'oplus-memory',
  description: 'oplus in this process, log in memory',
  durability: 'none',
  missing: () => undefined,
  open: (options) => openInProcess(options, async () => memoryLog()),
};

export const oplusSqlite: Contender = {
  name: 'oplus-sqlite',
  description: 'oplus in this process, log in SQLite, WAL and synchronous=FULL',
  durability: 'power',
  missing: () => undefined,
  open: (options) => openInProcess(options, () => sqliteLog(joinPath(options.directory, 'log.sqlite'))),
};

export const oplusNats: Contender = {
  name: 'oplus-nats',
  description: 'oplus over NATS, coordinator in a process of its own, file stream',
  durability: 'process',
  missing: () => (natsBinary() === undefined ? INSTALL : undefined),
  open: openOverNats,
};

async function openInProcess(options: OpenOptions, openLog: () => Promise<Log>): Promise<Session> {
  const log = await openLog();
  const bus = memoryBus();
  const clock = systemClock();
  const schema = loadState(boardDefinition, sha256);
  const coordinator = await openCoordinator({ log, bus, clock, channel: CHANNEL, schemas: new Map([[SPACE, schema]]) });
  const replica = coordinator.replica(SPACE);
  const workers = await joinAll(options, [bus], clock, replica);
  return sessionOf(workers, replica, {
    bytesOnWire: () => 0,
    close: async () => {
      await closeWorkers(workers);
      await coordinator.close();
      await bus.close();
      await log.close();
    },
  });
}

async function openOverNats(options: OpenOptions): Promise<Session> {
  const binary = natsBinary();
  const server = await startNatsServer({ dir: joinPath(options.directory, 'nats'), ...(binary === undefined ? {} : { binary }) });
  const wire = createWireMeter();
  const namespace = 'bench';
  const coordinator = await startCoordinator({ url: server.url, auth: server.auth, namespace });
  const clock = systemClock();
  const schema: StateSchema = loadState(boardDefinition, sha256);
  const connect = (): Promise<BrokerConnection> => connectNats({ url: server.url, auth: server.auth, name: 'bench' });
  const following = await connect();
  const proposing =
    options.views === 'own' ? await Promise.all(Array.from({ length: options.writerCount }, connect)) : [following];
  const log = await natsLogReader(following, { namespace, shard: SHARD });
  const replica = await follow({ bus: natsBus(following, { namespace }), log, clock, channel: CHANNEL, space: SPACE, schema });
  const workers = await joinAll(
    options,
    proposing.map((connection) => natsBus(connection, { namespace })),
    clock,
    replica,
  );
  return sessionOf(workers, replica, {
    bytesOnWire: () => wire.bytes() + coordinator.bytesOnWire(),
    close: async () => {
      await closeWorkers(workers);
      await replica.close();
      for (const connection of new Set([following, ...proposing])) await connection.close();
      await coordinator.stop();
      wire.close();
      await server.stop();
    },
  });
}

async function joinAll(options: OpenOptions, buses: readonly Bus[], clock: Clock, replica: Replica): Promise<readonly Worker[]> {
  const workers = await Promise.all(
    Array.from({ length: options.writerCount }, (_, i) =>
      join({ bus: serving(buses, i), clock, channel: CHANNEL, replica, agent: `w${i}`, role: 'agent', session: `bench-${i}` }),
    ),
  );
  for (const patch of openingPatches()) {
    const answer = await (await serving(workers, 0).view()).propose({ patch });
    if (answer.kind !== 'committed')
      throw new OplusError('INVARIANT', `the opening board was answered ${JSON.stringify(answer)}`);
  }
  for (const worker of workers) await worker.view();
  return workers;
}

type Rest = Pick<Session, 'bytesOnWire' | 'close'>;

function sessionOf(workers: readonly Worker[], replica: Replica, rest: Rest): Session {
  const writers = workers.map((worker): Writer => {
    let view: View = worker.newest();
    return {
      view: () => {
        view = worker.newest();
        return boardViewOf(view.space);
      },
      board: () => boardOf(replica.space()),
      commit: async (patch) => {
        const answer = await view.propose({ patch: intentOf(patch) });
        await worker.view(); // Reads its own writes before it decides again.
        return { outcome: answer.kind === 'committed' ? 'committed' : 'refused', retryCount: 0 };
      },
    };
  });
  return {
    writer: (index) => serving(writers, index),
    finalState: async () => boardOf((await serving(workers, 0).view()).space),
    cpuMs: cpuMsOfTree,
    ...rest,
  };
}

async function closeWorkers(workers: readonly Worker[]): Promise<void> {
  for (const worker of workers) await worker.close();
}

type CoordinatorProcess = { bytesOnWire(): number; stop(): Promise<void> };

async function startCoordinator(order: CoordinatorOrder): Promise<CoordinatorProcess> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./oplus-coordinator.ts', import.meta.url)), {
    execArgv: ['--conditions=@oplus/source', '--disable-warning=ExperimentalWarning'],
  });
  let bytes = 0;
  const ready = new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new OplusError('INVARIANT', `the coordinator ended with code ${code}`)));
    child.on('message', (word: CoordinatorWord) => {
      bytes = word.bytes;
      if (word.isReady) resolve();
    });
  });
  child.send(order);
  await ready;
  return {
    bytesOnWire: () => bytes,
    stop: async () => {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
