/**
 * Measures log and bus on a server of its own: `node --conditions=@oplus/source measure.ts [program]`. Prints one JSON document.
 *
 * Client ends and the serving end share this process, on connections of their own; the server is another process.
 */
import { natsBus } from '../bus.ts';
import { natsLog } from '../log.ts';
import { startNatsServer } from '../server.ts';
import { connectTo, freshNamespace } from './servers.ts';

const binary = process.argv[2];
const APPENDS = 8_000;
const BODY = JSON.stringify({ filler: 'x'.repeat(280) });
const ROUND_TRIPS = 8_000;
const SENDERS = 64;
const MESSAGES = 100_000;

const server = await startNatsServer({ dir: 'temporary', ...(binary === undefined ? {} : { binary }) });
const figures = {
  version: server.version,
  bodyBytes: BODY.length,
  ...(await measureLog()),
  ...(await measureBus(1, ROUND_TRIPS)),
  ...(await measureBus(SENDERS, MESSAGES)),
};
console.log(JSON.stringify(figures, undefined, 2));
await server.stop();

async function measureLog(): Promise<Record<string, number>> {
  const connection = await connectTo(server);
  const log = await natsLog(connection, { namespace: freshNamespace(), shard: '0' });
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  for (let tail = 0; tail < APPENDS; tail += 1) {
    const beganMs = performance.now();
    const outcome = await log.append(tail, BODY);
    if (outcome.kind !== 'appended') throw new Error(JSON.stringify(outcome));
    latenciesMs.push(performance.now() - beganMs);
  }
  const appendMs = performance.now() - startMs;
  let readCount = 0;
  let readMs = 0;
  // The first pass warms up.
  for (let pass = 0; pass < 2; pass += 1) {
    const readStartMs = performance.now();
    readCount = 0;
    for await (const record of log.read(1)) readCount += record.index > 0 ? 1 : 0;
    readMs = performance.now() - readStartMs;
  }
  await connection.close();
  return {
    appendsPerSecond: perSecond(APPENDS, appendMs),
    appendMsP50: quantile(latenciesMs, 0.5),
    appendMsP99: quantile(latenciesMs, 0.99),
    recordsReadPerSecond: perSecond(readCount, readMs),
  };
}

/** Every sender keeps one message in flight and sends the next when it hears the answer. */
async function measureBus(senderCount: number, messageCount: number): Promise<Record<string, number>> {
  const namespace = freshNamespace();
  const [serving, sending] = [await connectTo(server), await connectTo(server)];
  const channel = await natsBus(serving, { namespace }).serve('c', (from, body) => channel.send(from, body));
  const bus = natsBus(sending, { namespace });
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  const cpuBefore = process.cpuUsage();
  await new Promise<void>((resolve, reject) => {
    const begin = async (k: number): Promise<void> => {
      let sentMs = performance.now();
      const end = await bus.attach('c', `sender-${k}`, () => {
        latenciesMs.push(performance.now() - sentMs);
        if (latenciesMs.length >= messageCount) return resolve();
        sentMs = performance.now();
        end.send(BODY);
      });
      sentMs = performance.now();
      end.send(BODY);
    };
    for (let k = 0; k < senderCount; k += 1) begin(k).catch(reject);
  });
  const ms = performance.now() - startMs;
  const cpu = process.cpuUsage(cpuBefore);
  await Promise.all([serving.close(), sending.close()]);
  return {
    [`roundTripsPerSecond${senderCount}`]: perSecond(messageCount, ms),
    [`roundTripMsP50of${senderCount}`]: quantile(latenciesMs, 0.5),
    [`roundTripMsP99of${senderCount}`]: quantile(latenciesMs, 0.99),
    [`cpuMsPerRoundTrip${senderCount}`]: rounded((cpu.user + cpu.system) / 1_000 / messageCount),
  };
}

function perSecond(count: number, ms: number): number {
  return Math.round((count / ms) * 1_000);
}

function quantile(values: readonly number[], q: number): number {
  return rounded([...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * q)] ?? Number.NaN);
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
