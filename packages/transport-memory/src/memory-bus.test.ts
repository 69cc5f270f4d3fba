import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { memoryBus, memoryHub } from './index.ts';

test('[MEM2] what is sent in one turn is delivered in one later turn, in order, over all ends', async () => {
  const hub = memoryHub();
  const heard: string[] = [];
  const turns: number[] = [];
  let turnCount = 0;
  const note = (line: string): void => {
    heard.push(line);
    turns.push(turnCount);
  };
  const server = await hub.open().serve('channel', (from, body) => note(`${from}: ${body}`));
  const alice = await hub.open().attach('channel', 'alice', (body) => note(`to alice: ${body}`));
  const bob = await hub.open().attach('channel', 'bob', (body) => note(`to bob: ${body}`));
  await hub.open().listen('channel', (body) => note(`to all: ${body}`));
  const sent: string[] = [];
  for (let n = 0; n < 250; n += 1) {
    alice.send(`${n}`);
    server.send('bob', `${n}`);
    server.announce(`${n}`);
    bob.send(`${n}`);
    sent.push(`alice: ${n}`, `to bob: ${n}`, `to all: ${n}`, `bob: ${n}`);
  }
  await Promise.resolve();
  expect(heard).toEqual([]);
  while (heard.length < sent.length) {
    await turn();
    turnCount += 1;
  }
  expect(heard).toEqual(sent);
  expect(new Set(turns).size).toBe(1);
});

test('[MEM3] what a callback sends is delivered in a turn after its own', async () => {
  const bus = memoryBus();
  const events: string[] = [];
  const server = await bus.serve('channel', (from, body) => {
    events.push(`served ${body}`);
    server.send(from, body);
  });
  const end = await bus.attach('channel', 'alice', (body) => events.push(`answered ${body}`));
  end.send('1');
  end.send('2');
  await turn();
  events.push('turn');
  await turn();
  expect(events.filter((event) => event !== 'turn')).toEqual(['served 1', 'served 2', 'answered 1', 'answered 2']);
  expect(events.indexOf('turn')).toBeGreaterThanOrEqual(2);
  expect(events.indexOf('answered 1')).toBeGreaterThan(events.indexOf('served 2'));
});

test('[MEM4] a callback that throws does not keep the others from theirs', async () => {
  const bus = memoryBus();
  const heard: string[] = [];
  const uncaught: unknown[] = [];
  const server = await bus.serve('channel', (_, body) => {
    heard.push(body);
    if (body === '1') server.send('alice', 'sent before the throw');
    if (body === '1' || body === '3') throw new Error(`at ${body}`);
  });
  const end = await bus.attach('channel', 'alice', (body) => heard.push(body));
  // The test runner has a handler of its own, which would fail the run: it stands aside for this one.
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => uncaught.push(error));
  try {
    for (const body of ['0', '1', '2', '3', '4']) end.send(body);
    for (let n = 0; n < 10; n += 1) await turn();
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
  }
  expect(heard).toEqual(['0', '1', '2', '3', '4', 'sent before the throw']);
  expect(uncaught.map(String)).toEqual(['Error: at 1', 'Error: at 3']);
});

test('[MEM5] of several under one name the newest speaks and hears, and closing an older one changes nothing', async () => {
  const bus = memoryBus();
  const [served, old, young]: [string[], string[], string[]] = [[], [], []];
  const server = await bus.serve('channel', (from, body) => served.push(`${from}: ${body}`));
  const older = await bus.attach('channel', 'alice', (body) => old.push(body));
  const newest = await bus.attach('channel', 'alice', (body) => young.push(body));
  older.send('from the older');
  newest.send('from the newest');
  await older.close();
  server.send('alice', 'answer');
  await turn();
  expect([served, old, young]).toEqual([['alice: from the newest'], [], ['answer']]);
  await newest.close();
  server.send('alice', 'late');
  await turn();
  expect(young).toEqual(['answer']);
});

test('[MEM6] a channel on which nobody is left is forgotten: many of them take no memory', async () => {
  const bus = memoryBus();
  const before = await heapBytesAfterGc();
  for (let n = 0; n < 20_000; n += 1) {
    const end = await bus.attach(`channel-${n}`, 'a'.repeat(64), () => undefined);
    end.send('nobody hears this');
    await end.close();
  }
  await turn();
  const grownBytes = (await heapBytesAfterGc()) - before;
  // Kept, each channel would take about a kilobyte.
  expect(grownBytes).toBeLessThan(4_000_000);
});

async function heapBytesAfterGc(): Promise<number> {
  const { setFlagsFromString } = await import('node:v8');
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let n = 0; n < 3; n += 1) {
    collect();
    await turn();
  }
  return process.memoryUsage().heapUsed;
}
