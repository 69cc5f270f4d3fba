import { openCoordinator } from '@oplus/coordinator';
import { admit, cas, counter, loadState, quota } from '@oplus/core';
import { readUpward, sha256 } from '@oplus/protocol';
import type { Bus } from '@oplus/protocol';
import { memoryHub, memoryLog, memoryLogStore, systemClock } from '@oplus/transport-memory';
import { join } from '@oplus/worker';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { schemaFiles, schemaId } from './schema-files.ts';
import { textOf, treeFiles } from './source.ts';

type Message = { readonly [member: string]: unknown };

const ajv = new Ajv2020({ strict: true, allErrors: true, strictRequired: false });
for (const { text } of schemaFiles()) ajv.addSchema(JSON.parse(text) as Message);

test('[HSE18] the files in schemas/ are those of the shapes', () => {
  expect(treeFiles((path) => path.startsWith('schemas/') && path.endsWith('.json')).toSorted()).toEqual(
    schemaFiles()
      .map(({ name }) => `schemas/${name}`)
      .toSorted(),
  );
  for (const { name, text } of schemaFiles()) expect(textOf(`schemas/${name}`)).toBe(text);
});

test('[HSE19] everything that a run says and stores is valid by its schema', async () => {
  const { messages, records } = await runOfEverything();
  expect([...new Set(messages.map((message) => String(message['kind'])))].toSorted()).toEqual([
    'hello',
    'leave',
    'left',
    'pass',
    'proposal',
    'refusal',
    'verdict',
    'welcome',
  ]);
  for (const message of messages)
    expect({ message, faults: faultsOf(message['kind'] as string, message) }).toEqual({ message, faults: [] });
  const verdicts = messages.filter((message) => message['kind'] === 'verdict').map((message) => message['verdict'] as Message);
  expect([...new Set(verdicts.map((verdict) => String(verdict['kind'])))].toSorted()).toEqual(['committed', 'rejected']);
  for (const verdict of verdicts) expect(faultsOf('decision', verdict)).toEqual([]);
  expect(records.length).toBeGreaterThan(3);
  for (const record of records) {
    expect(faultsOf('record', record)).toEqual([]);
    for (const entry of record['entries'] as readonly Message[]) expect(faultsOf('entry', entry)).toEqual([]);
  }
});

test('[HSE19] a message with a missing, additional or mistyped member is not valid, and the gate refuses it too', async () => {
  const { messages, records } = await runOfEverything();
  const samples = new Map<string, Message>([
    ...messages.map((message) => [message['kind'] as string, message] as const),
    ['record', records.at(-1) as Message],
  ]);
  for (const [name, sample] of samples) {
    for (const broken of brokenCopies(name, sample)) {
      expect({ name, broken, isValid: faultsOf(name, broken).length === 0 }).toEqual({ name, broken, isValid: false });
      if (isUpward(name)) expect(readUpward(JSON.stringify(broken), 'ann').ok).toBe(false);
    }
    if (isUpward(name)) expect(readUpward(JSON.stringify(sample), sample['agent'] as string).ok).toBe(true);
  }
  expect(admit(JSON.stringify(samples.get('proposal')), 'somebody-else').ok).toBe(false);
});

/** Every way of taking one required member away, adding an unknown one, and giving one another type. */
function brokenCopies(name: string, sample: Message): readonly Message[] {
  const required = (validatorOf(name).schema as { readonly required: readonly string[] }).required;
  return [
    { ...sample, surprise: 1 },
    ...required.map((member) => Object.fromEntries(Object.entries(sample).filter(([key]) => key !== member))),
    ...Object.entries(sample).map(([member, value]) => ({
      ...sample,
      [member]: typeof value === 'number' ? String(value) : 0.5,
    })),
  ];
}

function isUpward(name: string): boolean {
  return ['hello', 'proposal', 'pass', 'leave'].includes(name);
}

function faultsOf(name: string, value: unknown): readonly string[] {
  const validate = validatorOf(name);
  return validate(value) === true ? [] : (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`);
}

function validatorOf(name: string): ValidateFunction {
  const validate = ajv.getSchema(schemaId(name));
  if (validate === undefined) throw new Error(`no schema ${name}`);
  return validate;
}

/** A run in which every kind of message is said once at least: two workers, commits, a conflict, a refusal, a farewell. */
async function runOfEverything(): Promise<{ readonly messages: readonly Message[]; readonly records: readonly Message[] }> {
  const fields = { lead: cas(z.string().max(20)), done: counter(), budget: quota({ lo: 0, hi: 2, start: 0 }) };
  const schema = loadState({ name: 'board', version: 1, fields }, sha256);
  const said: string[] = [];
  const hub = memoryHub();
  const bus = overheard(hub.open(), said);
  const clock = systemClock();
  const store = memoryLogStore();
  const log = memoryLog(store);
  const coordinator = await openCoordinator({ log, bus, clock, channel: 'house', schemas: new Map([['board', schema]]) });
  const replica = coordinator.replica('board');
  const enter = (agent: string): ReturnType<typeof join> =>
    join({ bus, clock, channel: 'house', replica, agent, role: 'agent', session: `${agent}-1` });
  const [ann, bob] = [await enter('ann'), await enter('bob')];
  const view = await ann.view();
  const answers = await Promise.all([
    view.propose({ patch: { lead: { set: 'ann' }, done: { inc: 1 } }, action: { name: 'wait', args: {} }, why: 'first' }),
    (await bob.view()).propose({ patch: { lead: { set: 'bob' } }, premises: ['/done'] }),
  ]);
  expect(answers.map((answer) => answer.kind).toSorted()).toEqual(['committed', 'rejected']);
  await (await bob.view()).propose({ patch: { budget: { inc: 3 } } });
  await (await ann.view()).pass();
  const stranger = await bus.attach('house', 'zoe', () => undefined);
  stranger.send('{"kind":"proposal"}');
  await bob.leave();
  await ann.close();
  await coordinator.close();
  await log.close();
  await bus.close();
  const messages = said.map((text) => JSON.parse(text) as Message).filter((message) => Object.keys(message).length > 1);
  return { messages, records: store.bodies.map((body) => JSON.parse(body) as Message) };
}

/** A bus that also writes down every message, both ways. */
function overheard(bus: Bus, said: string[]): Bus {
  return {
    listen: (channel, onAnnouncement) => bus.listen(channel, onAnnouncement),
    close: () => bus.close(),
    async serve(channel, onMessage) {
      const server = await bus.serve(channel, onMessage);
      return {
        send(to, body) {
          said.push(body);
          server.send(to, body);
        },
        announce: (body) => server.announce(body),
        close: () => server.close(),
      };
    },
    async attach(channel, as, onMessage) {
      const end = await bus.attach(channel, as, onMessage);
      return {
        send(body) {
          said.push(body);
          end.send(body);
        },
        close: () => end.close(),
      };
    },
  };
}
