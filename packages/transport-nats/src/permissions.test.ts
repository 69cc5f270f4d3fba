import { expect, test } from 'vitest';
import { expectCode } from '@oplus/protocol/testing';
import { COORDINATOR_INBOX, coordinatorPermissions, workerInbox, workerPermissions } from './permissions.ts';

const scope = { namespace: 'ns', channel: 'c' };

test('[NPM1] a worker may speak under its own name and hear what is for it, and no more', () => {
  expect(workerPermissions({ ...scope, agent: 'alice' })).toEqual({
    publish: { allow: ['ns.c.up.alice'] },
    subscribe: { allow: ['ns.c.down.alice', 'ns.c.log', '_INBOX_alice.>'] },
  });
});

test('[NPM1] a worker that reads a log may ask for its state and its records, and no more', () => {
  expect(workerPermissions({ ...scope, agent: 'alice', readableShard: '0' }).publish.allow).toEqual([
    'ns.c.up.alice',
    '$JS.API.STREAM.INFO.ns_LOG_0',
    '$JS.API.STREAM.MSG.GET.ns_LOG_0',
    '$JS.API.STREAM.INFO.ns_BLOB',
    '$JS.API.STREAM.MSG.GET.ns_BLOB',
  ]);
});

test('[NPM5] no agent has the inbox of another or of the coordinator', () => {
  const inboxes = ['coordinator', 'coordinator_', 'a', 'a-b', 'a_', '_'].map(workerInbox);
  expect(new Set([...inboxes, COORDINATOR_INBOX]).size).toBe(inboxes.length + 1);
});

test('[NPM7] names that are no token are USAGE, so that no name widens a permission', async () => {
  for (const bad of ['*', '>', 'a.b', '', 'a b', 'A']) {
    await expectCode('USAGE', () => workerPermissions({ ...scope, agent: bad }));
    await expectCode('USAGE', () => workerPermissions({ ...scope, agent: 'alice', readableShard: bad }));
    await expectCode('USAGE', () => workerPermissions({ namespace: bad, channel: 'c', agent: 'alice' }));
    await expectCode('USAGE', () => workerPermissions({ namespace: 'ns', channel: bad, agent: 'alice' }));
    await expectCode('USAGE', () => coordinatorPermissions({ ...scope, shard: bad }));
    await expectCode('USAGE', () => workerInbox(bad));
  }
});
