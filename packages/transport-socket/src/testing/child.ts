/**
 * What the tests run in a process of its own: `node child.ts serve|attach <path> <name>`. Prints one line for each thing it hears.
 */
import { writeSync } from 'node:fs';
import { OplusError } from '@oplus/core';
import { socketBus } from '../index.ts';

const [task, path = '', name = ''] = process.argv.slice(2);
const bus = socketBus(path);

try {
  await ({ serve, attach } as Record<string, () => Promise<void>>)[task ?? '']?.();
} catch (error) {
  if (!(error instanceof OplusError)) throw error;
  print(error.code);
  await bus.close();
}

/** Answers every message with its own name, until its input ends. */
async function serve(): Promise<void> {
  const server = await bus.serve('channel', (from, body) => server.send(from, `${name} heard ${body}`));
  print('serving');
  for await (const _ of process.stdin) void _;
  await bus.close();
}

/** Sends one message again and again until its input ends, and prints each new answer. */
async function attach(): Promise<void> {
  const heard = new Set<string>();
  const end = await bus.attach('channel', name, (body) => {
    if (!heard.has(body)) print(body);
    heard.add(body);
  });
  const sending = setInterval(() => end.send(name), 5);
  for await (const _ of process.stdin) void _;
  clearInterval(sending);
  await bus.close();
}

function print(line: string): void {
  writeSync(1, `${line}\n`);
}
