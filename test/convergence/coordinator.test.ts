/** The coordinator's shell over a log that is slow, full, silent or gone. */
import { counter, loadState, log, OplusError, stateJson, viewsOfSpace } from '@oplus/core';
import type { FieldKind } from '@oplus/core';
import type { AppendOutcome } from '@oplus/protocol';
import { sha256 } from '@oplus/protocol';
import { memoryBlobs, memoryLog } from '@oplus/transport-memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { SCHEMA, SPACE, stateOf, Table, uncaughtDuring } from './table.ts';

test('[CO2] a lone proposal is appended at once, and what comes meanwhile shares one record', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const workers = await Promise.all(Array.from({ length: 65 }, (_, i) => table.join(replica, `w${i}`)));
  let release: () => void = () => undefined;
  let appendCount = 0;
  table.faults.append = (_, store) => {
    appendCount += 1;
    return new Promise<void>((resolve) => {
      release = resolve;
    }).then(store);
  };
  const lone = workers[0]?.newest().propose({ patch: { done: { inc: 1 } } });
  await table.rest();
  expect(appendCount).toBe(1);
  const crowd = workers.slice(1).map((worker) => worker.newest().propose({ patch: { done: { inc: 1 } } }));
  await table.rest();
  expect(appendCount).toBe(1);
  release();
  await lone;
  await table.rest();
  expect(appendCount).toBe(2);
  release();
  await Promise.all(crowd);
  expect([appendCount, stateJson(replica.space())['done']]).toEqual([2, 65]);
  table.faults.append = undefined;
  await coordinator.close();
});

test('[CO2] 64 proposals that arrive in one turn take one append', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const workers = await Promise.all(Array.from({ length: 64 }, (_, i) => table.join(replica, `w${i}`)));
  const before = table.store.bodies.length;
  await Promise.all(workers.map((worker) => worker.newest().propose({ patch: { done: { inc: 1 } } })));
  expect(table.store.bodies.length).toBe(before + 1);
  await coordinator.close();
});

test('[CO19] a damaged log, or one of another definition, is refused, and nothing is appended to it', async () => {
  const table = new Table();
  await (await table.lead()).close();
  const whole = [...table.store.bodies];
  const other = loadState({ name: 'other', version: 1, fields: { done: counter() } }, sha256);
  await expect(table.lead({ schemas: new Map([[SPACE, other]]) })).rejects.toMatchObject({ code: 'SCHEMA_INVALID' });
  expect(table.store.bodies).toEqual(whole);
  table.store.bodies[1] = 'x';
  await expect(table.lead()).rejects.toMatchObject({ code: 'LOG_DAMAGED' });
  expect(table.store.bodies).toEqual([whole[0], 'x']);
  expect(table.clock.nextDueMs()).toBe(undefined);
});

test('[CO19] a log that closes during recovery, or before the term is in it, is an error of the opening', async () => {
  const table = new Table();
  await (await table.lead()).close();
  const closed = memoryLog(table.store);
  await closed.close();
  await expect(table.lead({ log: closed })).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
  table.faults.append = () => Promise.reject(new OplusError('TRANSPORT_CLOSED', 'closed meanwhile'));
  await expect(table.lead()).rejects.toMatchObject({ code: 'TRANSPORT_CLOSED' });
});

test('[CO20] a log without room ends the coordinator; all that was acknowledged is in it, and nobody waits for ever', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const worker = await table.join(replica, 'ann');
  table.faults.append = () =>
    table.store.bodies.length >= 8 ? Promise.reject(new OplusError('LOG_FULL', 'no room')) : undefined;
  let committed = 0;
  let failure: unknown;
  const run = (async () => {
    for (;;) if ((await (await worker.view()).propose({ patch: { done: { inc: 1 } } })).kind === 'committed') committed += 1;
  })().catch((error: unknown) => (failure = error));
  expect(await coordinator.ended).toMatchObject({ code: 'LOG_FULL' });
  await table.pass(500);
  await run;
  expect(failure).toMatchObject({ code: 'LOG_FULL' });
  expect(committed).toBeGreaterThan(0);
  table.faults.append = undefined;
  const next = await table.lead();
  expect(stateJson(next.replica(SPACE).space())['done']).toBe(committed);
  await next.close();
});

test('[CO20] a log that does not answer is asked again, and the append that it swallowed is answered once', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const worker = await table.join(replica, 'ann');
  const codes = ['BROKER_UNREACHABLE', 'TRANSPORT_TIMEOUT', 'LOG_LOCKED'] as const;
  let readCount = 0;
  table.faults.append = async (_, store): Promise<AppendOutcome> => {
    await store();
    table.faults.append = undefined;
    return { kind: 'unknown', why: 'test' };
  };
  table.faults.read = () => {
    readCount += 1;
    return readCount > codes.length ? undefined : new OplusError(codes[readCount - 1] ?? 'INVARIANT', 'not now');
  };
  const answer = worker.newest().propose({ patch: { done: { inc: 1 } } });
  await table.pass(200);
  expect(await stateOf(answer)).toBe('pending');
  await table.pass(600);
  expect(await answer).toMatchObject({ kind: 'committed' });
  expect([readCount, stateJson(replica.space())['done']]).toEqual([codes.length + 1, 1]);
  await coordinator.close();
});

test('[CO20] an append that could not even be asked is of unknown outcome, not failed', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const worker = await table.join(coordinator.replica(SPACE), 'ann');
  table.faults.append = () => {
    table.faults.append = undefined;
    return Promise.reject(new OplusError('TRANSPORT_TIMEOUT', 'no answer'));
  };
  expect(await worker.newest().propose({ patch: { done: { inc: 1 } } })).toMatchObject({ kind: 'committed' });
  await coordinator.close();
});

test('[CO20] an error that is none of ours ends the coordinator, and nothing is left uncaught', async () => {
  const uncaught = await uncaughtDuring(async () => {
    for (const place of ['append', 'read'] as const) {
      const table = new Table();
      const coordinator = await table.lead();
      const worker = await table.join(coordinator.replica(SPACE), 'ann');
      table.faults.append = () =>
        place === 'append' ? Promise.reject(new TypeError('strange')) : Promise.resolve({ kind: 'unknown', why: 'test' });
      table.faults.read = () => new TypeError('strange');
      const answer = worker.newest().propose({ patch: { done: { inc: 1 } } });
      answer.catch(() => undefined);
      expect(await coordinator.ended).toMatchObject({ code: 'INVARIANT', cause: { message: 'strange' } });
      await table.pass(300);
      await expect(answer).rejects.toMatchObject({ code: 'INVARIANT' });
      expect(table.clock.nextDueMs()).toBe(undefined);
    }
  });
  expect(uncaught).toEqual([]);
});

test('[CO21] close answers what was taken, and may be called twice', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const workers = await Promise.all(['ann', 'bob'].map((name) => table.join(replica, name)));
  let release: () => void = () => undefined;
  table.faults.append = (_, store) =>
    new Promise<void>((resolve) => {
      release = resolve;
    }).then(store);
  const first = workers[0]?.newest().propose({ patch: { done: { inc: 1 } } });
  await table.rest();
  const second = workers[1]?.newest().propose({ patch: { done: { inc: 1 } } });
  await table.rest();
  const closing = [coordinator.close(), coordinator.close()];
  await table.rest();
  expect(await stateOf(Promise.all(closing))).toBe('pending');
  release();
  await table.rest();
  release();
  await Promise.all([...closing, first, second, coordinator.close()]);
  expect(await coordinator.ended).toBe(undefined);
  expect(stateJson(replica.space())['done']).toBe(2);
  expect(replica.failure()).toMatchObject({ code: 'TRANSPORT_CLOSED' });
});

test('[CO21] close does not wait for a log that does not answer', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const worker = await table.join(coordinator.replica(SPACE), 'ann');
  table.faults.append = async () => ({ kind: 'unknown', why: 'test' });
  table.faults.read = () => new OplusError('BROKER_UNREACHABLE', 'gone');
  const answer = worker.newest().propose({ patch: { done: { inc: 1 } } });
  answer.catch(() => undefined);
  await table.rest();
  const closing = coordinator.close();
  await table.pass(250);
  await closing;
  await worker.close();
  expect(table.clock.nextDueMs()).toBe(undefined);
});

test('[CO22] a listener that throws costs nobody else anything, and its error comes out', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const worker = await table.join(replica, 'ann');
  const seen: number[] = [];
  const uncaught = await uncaughtDuring(async () => {
    const end = replica.onChange(() => {
      throw new Error('a listener broke');
    });
    replica.onChange((space) => seen.push(space.revision));
    expect(await worker.newest().propose({ patch: { done: { inc: 1 } } })).toMatchObject({ kind: 'committed' });
    end();
  });
  expect(uncaught).toMatchObject([{ message: 'a listener broke' }]);
  expect(seen).toEqual([2]);
  await coordinator.close();
});

test('[CO23] a replica tells each round once, in order, and before the verdict; at the end it says why', async () => {
  const table = new Table();
  const coordinator = await table.lead();
  const replica = coordinator.replica(SPACE);
  const worker = await table.join(replica, 'ann');
  const told: (number | undefined)[] = [];
  const other = coordinator.replica(SPACE);
  other.onChange(() => told.push(-1));
  await other.close();
  replica.onChange((_, sealed) => told.push(sealed?.revision));
  for (let i = 0; i < 3; i += 1) {
    const answer = await worker.newest().propose({ patch: { done: { inc: 1 } } });
    expect([answer.kind, told.at(-1)]).toEqual(['committed', replica.space().revision]);
  }
  expect(told).toEqual([2, 3, 4]);
  const second = await table.lead();
  const answer = worker.newest().propose({ patch: { done: { inc: 1 } } });
  answer.catch(() => undefined);
  expect(await coordinator.ended).toMatchObject({ code: 'FENCED' });
  expect(replica.failure()).toMatchObject({ code: 'FENCED' });
  expect(told).toEqual([2, 3, 4, undefined]);
  expect(() => second.replica('none')).toThrow(expect.objectContaining({ code: 'USAGE' }));
  await second.close();
  await worker.close();
});

test('[CO24] names of spaces and nonces that nothing could carry are refused', async () => {
  const table = new Table();
  for (const name of ['', 'Board', 'a b', '-a', 'x'.repeat(65)]) {
    await expect(table.lead({ schemas: new Map([[name, SCHEMA]]) })).rejects.toMatchObject({ code: 'USAGE' });
  }
  await expect(table.lead({ schemas: new Map() })).rejects.toMatchObject({ code: 'USAGE' });
  await expect(table.lead({ nonces: new Map([[SPACE, 'n'.repeat(65)]]) })).rejects.toMatchObject({ code: 'USAGE' });
  expect(table.store.bodies).toEqual([]);
});

test('[CO25] a mistake in a field kind ends the coordinator, and the log stays whole', async () => {
  const broken: FieldKind = {
    ...counter(),
    fold() {
      throw new TypeError('broken');
    },
  };
  const schema = loadState({ name: 'board', version: 1, fields: { broken } }, sha256);
  const table = new Table();
  const coordinator = await table.lead({ schemas: new Map([[SPACE, schema]]) });
  const worker = await table.join(coordinator.replica(SPACE), 'ann');
  const before = table.store.bodies.length;
  const answer = worker.newest().propose({ patch: { broken: { inc: 1 } } });
  answer.catch(() => undefined);
  expect(await coordinator.ended).toMatchObject({ code: 'INVARIANT', cause: { message: 'broken' } });
  expect(table.store.bodies.length).toBe(before);
  await worker.close();
});

test('[CO40] what a field spills is stored before the record that refers to it', async () => {
  const table = new Table();
  const said = log(z.string().max(9), { keep: 1, overflow: 'spill' });
  const schemas = new Map([[SPACE, loadState({ name: 'spilling', version: 1, fields: { said } }, sha256)]]);
  await expect(table.lead({ schemas })).rejects.toMatchObject({
    code: 'USAGE',
    hint: expect.stringContaining('Give blobs') as string,
  });
  const blobs = memoryBlobs();
  const order: string[] = [];
  const put: typeof blobs.put = async (bytes) => {
    order.push('artefact');
    return blobs.put(bytes);
  };
  const coordinator = await table.lead({ schemas, blobs: { ...blobs, put } });
  table.faults.append = (_, store) => {
    order.push('record');
    return store();
  };
  const replica = coordinator.replica(SPACE);
  const worker = await table.join(replica, 'a');
  order.length = 0;
  await worker.newest().propose({ patch: { said: { append: ['one'] } } });
  await worker.newest().propose({ patch: { said: { append: ['two'] } } });
  expect(order).toEqual(['record', 'artefact', 'record']);
  const { spilled } = viewsOfSpace<{ readonly said: typeof said }>(replica.space()).said;
  const bytes = await blobs.get(spilled ?? '');
  expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual({ before: null, entries: ['one'] });
  await coordinator.close();
});
