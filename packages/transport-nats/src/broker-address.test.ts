import { expect, test } from 'vitest';
import { OplusError } from '@oplus/core';
import { readBrokerAddress } from './broker-address.ts';

test('[NCN4] an address may leave out scheme and port, hold credentials, and name several servers', () => {
  expect(readBrokerAddress('127.0.0.1')).toEqual({
    servers: ['127.0.0.1:4222'],
    shown: '127.0.0.1:4222',
    isTls: false,
    auth: undefined,
  });
  expect(readBrokerAddress('nats://a:1, b:2')).toMatchObject({ servers: ['a:1', 'b:2'], shown: 'a:1,b:2' });
  expect(readBrokerAddress('tls://broker.example:4443')).toMatchObject({ servers: ['broker.example:4443'], isTls: true });
  expect(readBrokerAddress('nats://[::1]:4222')).toMatchObject({ servers: ['[::1]:4222'] });
  expect(readBrokerAddress('nats://s3cret@a')).toMatchObject({ auth: { kind: 'token', token: 's3cret' } });
  expect(readBrokerAddress('nats://me:p%40ss@a')).toMatchObject({ auth: { kind: 'password', user: 'me', password: 'p@ss' } });
});

test('[NCN4] what is shown of an address holds no credentials', () => {
  for (const url of ['nats://s3cret@a:1', 'nats://me:s3cret@a:1,nats://me:s3cret@b:2'])
    expect(readBrokerAddress(url).shown).not.toContain('s3cret');
});

test('[NCN4] what is no address is USAGE with a hint, and is not echoed', () => {
  for (const url of [
    '',
    ' , ',
    'http://s3cret@a:1',
    'ws://s3cret@a',
    'nats://s3cret@a:1/path',
    'nats://s3cret@a:99999',
    'nats://',
    'nats://a?s3cret',
  ]) {
    const thrown = thrownBy(() => readBrokerAddress(url));
    expect(thrown.code).toBe('USAGE');
    expect(thrown.hint).toContain('nats://');
    expect(`${thrown.message} ${thrown.hint}`).not.toContain('s3cret');
  }
});

function thrownBy(call: () => unknown): OplusError {
  try {
    call();
  } catch (error) {
    if (error instanceof OplusError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
