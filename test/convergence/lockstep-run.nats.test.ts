/** Barrier mode over a broker: the log is the one that every other transport gives. */
import { tagOf } from '@oplus/protocol';
import { memoryBus, memoryLog } from '@oplus/transport-memory';
import { connectNats, natsBus, natsLog, startNatsServer } from '@oplus/transport-nats';
import { expect, test } from 'vitest';
import { jitterOf, lockstepRun } from './lockstep-run.ts';

test('[T3] a run over NATS gives the log of the run in memory, byte for byte', async () => {
  const inMemory = memoryBus();
  const expected = await lockstepRun({
    log: memoryLog(),
    coordinatorBus: inMemory,
    workerBus: inMemory,
    agentCount: 6,
    roundCount: 12,
    jitter: jitterOf(1),
  });
  const server = await startNatsServer({ dir: 'temporary' });
  try {
    const connect = (name: string): ReturnType<typeof connectNats> => connectNats({ url: server.url, auth: server.auth, name });
    const [one, two] = [await connect('coordinator'), await connect('workers')];
    const log = await natsLog(one, { namespace: 'lockstep', shard: 'main' });
    const [coordinatorBus, workerBus] = [natsBus(one, { namespace: 'lockstep' }), natsBus(two, { namespace: 'lockstep' })];
    const bodies = await lockstepRun({ log, coordinatorBus, workerBus, agentCount: 6, roundCount: 12, jitter: jitterOf(2) });
    expect(bodies.map(tagOf)).toEqual(expected.map(tagOf));
    for (const end of [workerBus, coordinatorBus, log, two, one]) await end.close();
  } finally {
    await server.stop();
  }
});
