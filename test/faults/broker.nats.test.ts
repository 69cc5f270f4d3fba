/** Kills and stops over a real broker: of coordinators, and of the broker itself. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bus, LogReader } from '@oplus/protocol';
import { connectNats, natsBus, natsLogReader, startNatsServer } from '@oplus/transport-nats';
import type { BrokerConnection, NatsServer } from '@oplus/transport-nats';
import { expect, test } from 'vitest';
import { killAll, startCoordinator } from './coordinator-child.ts';
import type { CoordinatorChild } from './coordinator-child.ts';
import { NAMESPACE, startCrew } from './crew.ts';
import type { Crew, Stand } from './crew.ts';
import { runUnderKills, until } from './kills.ts';

/** A broker on a folder of its own, and what workers need of it. */
type Site = {
  server: NatsServer;
  readonly stand: Extract<Stand, { kind: 'nats' }>;
  open(): Promise<{ readonly bus: Bus; readonly log: LogReader }>;
};

async function onSite(body: (site: Site) => Promise<void>): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'oplus-faults-'));
  const server = await startNatsServer({ dir });
  if (server.auth.kind !== 'password') throw new Error('a supervised server has a password');
  const { user, password } = server.auth;
  const connections: BrokerConnection[] = [];
  const site: Site = {
    server,
    stand: { kind: 'nats', dir, url: server.url, user, password },
    async open() {
      const connection = await connectNats({ url: server.url, auth: server.auth, name: 'workers' });
      connections.push(connection);
      return {
        bus: natsBus(connection, { namespace: NAMESPACE }),
        log: await natsLogReader(connection, { namespace: NAMESPACE, shard: 'main' }),
      };
    },
  };
  try {
    await body(site);
  } finally {
    for (const connection of connections) await connection.close();
    await site.server.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

test('[FLT1] 20 kills of the coordinator lose no acknowledged commit, double none, and the run completes, over NATS', async () => {
  await onSite(async ({ stand, open }) => {
    await runUnderKills({ stand, workerCount: 8, killCount: 20, seed: 43, open });
  });
});

test('[FLT2] a coordinator that was stopped and deposed meanwhile appends nothing when it goes on, and ends', async () => {
  await onSite(async ({ stand, open }) => {
    const children = new Set<CoordinatorChild>();
    let crew: Crew | undefined;
    try {
      const [first, second] = [startCoordinator(stand, children), startCoordinator(stand, children)];
      expect(await first.lead()).toBe(1);
      const { bus, log } = await open();
      crew = await startCrew(bus, log, 8);
      const working = crew;
      await until(() => working.count() > 40);
      first.signal('SIGSTOP');
      expect(await second.lead()).toBe(2);
      const atTakeover = crew.count();
      await until(() => working.count() > atTakeover + 40);
      first.signal('SIGCONT');
      await first.gone;
      expect(first.lines.at(-1)).toBe('ended FENCED');
      const afterwards = crew.count();
      await until(() => working.count() > afterwards + 40);
      await crew.finish();
      expect(await crew.audit(log)).toEqual({ terms: [1, 2], voids: 0 });
      expect(second.lines).toEqual(['ready', 'leading 2']);
    } finally {
      await crew?.close();
      await killAll(children);
    }
  });
});

test('[FLT3] kills of the broker itself, again and again, lose no acknowledged commit, and the run completes', async () => {
  await onSite(async (site) => {
    const children = new Set<CoordinatorChild>();
    let crew: Crew | undefined;
    try {
      const leader = startCoordinator(site.stand, children);
      await leader.lead();
      const { bus, log } = await site.open();
      crew = await startCrew(bus, log, 8);
      const working = crew;
      for (let killed = 0; killed < 3; killed += 1) {
        const enough = crew.count() + 60;
        await until(() => working.count() >= enough);
        process.kill(site.server.pid, 'SIGKILL');
        await site.server.ended;
        const { dir, url } = site.server;
        site.server = await startNatsServer({ dir, port: Number(new URL(url).port), password: site.stand.password });
      }
      const enough = crew.count() + 60;
      await until(() => working.count() >= enough);
      await crew.finish();
      expect(await crew.audit(log)).toEqual({ terms: [1], voids: 0 });
      expect(leader.lines).toEqual(['ready', 'leading 1']);
    } finally {
      await crew?.close();
      await killAll(children);
    }
  });
});
