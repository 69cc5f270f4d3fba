import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bus } from '@oplus/protocol';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { socketBus } from './index.ts';
import { startChild } from './testing/children.ts';
import type { Child } from './testing/children.ts';

let folder = '';
let path = '';
let buses: Bus[] = [];
let children: Child[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oplus-restart-'));
  path = join(folder, 'bus.sock');
});

afterEach(async () => {
  for (const child of children) child.process.kill('SIGKILL');
  await Promise.all(buses.map((bus) => bus.close()));
  [buses, children] = [[], []];
  rmSync(folder, { recursive: true });
});

test('[SOC2] a killed hub’s socket is replaced, and [SOC8] attachments in two processes come back by themselves', async () => {
  const heard: string[] = [];
  const near = await openBus().attach('channel', 'near', (body) => heard.push(body));
  const far = start('attach', 'far');
  for (const name of ['first', 'second', 'third']) {
    const hub = start('serve', name);
    expect(await hub.printed('serving')).toBe(true);
    while (!heard.includes(`${name} heard near`)) {
      near.send('near');
      await delay(5);
    }
    expect(await far.printed(`${name} heard far`)).toBe(true);
    hub.process.kill('SIGKILL');
    await hub.ended();
    expect(statSync(path).isSocket()).toBe(true);
  }
});

test('[SOC2] of several that find a leftover at once, one serves and the others are told PORT_BUSY', async () => {
  const killed = start('serve', 'killed');
  await killed.printed('serving');
  killed.process.kill('SIGKILL');
  await killed.ended();
  const rivals = ['a', 'b', 'c', 'd'].map((name) => start('serve', name));
  const isAnswered = (rival: Child): Promise<boolean> => Promise.race([rival.printed('serving'), rival.printed('PORT_BUSY')]);
  await Promise.all(rivals.map(isAnswered));
  expect(rivals.filter(({ lines }) => lines[0] === 'serving').length).toBe(1);
  expect(rivals.filter(({ lines }) => lines[0] === 'PORT_BUSY').length).toBe(3);
  const heard: string[] = [];
  const end = await openBus().attach('channel', 'alice', (body) => heard.push(body));
  end.send('hello');
  while (heard.length === 0) await delay(1);
  expect(heard).toEqual([expect.stringMatching(/^[abcd] heard hello$/)]);
});

test('[SOC2] of eight in one process that look at a leftover at the same moment, one serves', async () => {
  const killed = start('serve', 'killed');
  await killed.printed('serving');
  killed.process.kill('SIGKILL');
  await killed.ended();
  const heard: string[] = [];
  const attempts = Array.from({ length: 8 }, (_, k) => openBus().serve('channel', (from) => heard.push(`${k} heard ${from}`)));
  const outcomes = await Promise.allSettled(attempts);
  expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(1);
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'PORT_BUSY', path });
  const end = await openBus().attach('channel', 'alice', () => undefined);
  end.send('hello');
  while (heard.length === 0) await delay(1);
  expect(heard).toEqual([`${outcomes.findIndex(({ status }) => status === 'fulfilled')} heard alice`]);
});

test('[SOC8] listeners come back after a restart, and start before there is a hub', async () => {
  const heard: string[] = [];
  const listening = openBus();
  await listening.listen('channel', (body) => heard.push(`one ${body}`));
  await listening.listen('channel', (body) => heard.push(`two ${body}`));
  for (const name of ['first', 'second']) {
    const bus = openBus();
    const server = await bus.serve('channel', () => undefined);
    while (!heard.includes(`two ${name}`)) {
      server.announce(name);
      await delay(5);
    }
    await bus.close();
    server.announce('after close');
  }
  expect(new Set(heard)).toEqual(new Set(['one first', 'two first', 'one second', 'two second']));
});

test('[SOC8] a bus whose ends are closed while nobody serves lets its process end', async () => {
  const child = start('attach', 'alone');
  child.process.stdin.end();
  await child.ended();
  expect(child.lines).toEqual([]);
});

test('[SOC9] an older one of a name stays detached after a restart of the hub', async () => {
  const first = openBus();
  await first.serve('channel', () => undefined);
  const [old, young]: [string[], string[]] = [[], []];
  const older = await openBus().attach('channel', 'alice', (body) => old.push(body));
  const newest = await openBus().attach('channel', 'alice', (body) => young.push(body));
  await first.close();
  const served: string[] = [];
  const second = await openBus().serve('channel', (from, body) => {
    served.push(body);
    second.send(from, 'answer');
  });
  while (young.length === 0) {
    older.send('from the older');
    newest.send('from the newest');
    await delay(5);
  }
  await delay(50);
  expect(old).toEqual([]);
  expect(new Set(served)).toEqual(new Set(['from the newest']));
});

function openBus(): Bus {
  const bus = socketBus(path);
  buses.push(bus);
  return bus;
}

function start(task: 'serve' | 'attach', name: string): Child {
  const child = startChild(task, path, name);
  children.push(child);
  return child;
}
