/** Recovery from logs that are whole, damaged, or somebody else's. */
import { counter, loadState } from '@oplus/core';
import type { ErrorCode, StateSchema } from '@oplus/core';
import type { LogReader } from '@oplus/protocol';
import { sha256 } from '@oplus/protocol';
import { expect, test } from 'vitest';
import { recover } from './recover.ts';
import { isOurs } from './recent.ts';
import { Desk, SCHEMA } from './testing/desk.ts';

function readerOf(bodies: readonly string[]): Pick<LogReader, 'read'> {
  return {
    async *read(from) {
      for (let index = from; index <= bodies.length; index += 1) yield { index, body: bodies[index - 1] as string };
    },
  };
}

function board(schema: StateSchema = SCHEMA): ReadonlyMap<string, StateSchema> {
  return new Map([['board', schema]]);
}

const desk = Desk.leading();
const ann = desk.join('ann');
for (let n = 1; n <= 4; n += 1) {
  ann.propose(n);
  desk.rest();
}

test('[CO19] a log folds to the state that its leader had, with the digests of its newest entries', async () => {
  const { shard, recent } = await recover(readerOf(desk.log), board());
  expect([shard.head, shard.term, shard.spaces.get('board')?.state]).toEqual([desk.state.shard.head, 1, desk.space.state]);
  expect(recent).toEqual(desk.state.recent);
  expect(isOurs(recent, 'board', { revision: 3, digest: 'f'.repeat(16) })).toBe(false);
  expect(isOurs(recent, 'board', { revision: 3 + 512, digest: 'f'.repeat(16) })).toBe(true);
});

test('[CO19] a damaged log is named as such, wherever it is damaged', async () => {
  const codeOf = async (bodies: readonly string[]): Promise<ErrorCode | 'none'> =>
    recover(readerOf(bodies), board()).then(
      () => 'none',
      (error: { code: ErrorCode }) => error.code,
    );
  const swapped = (i: number, by: (body: string) => string): string[] => desk.log.map((body, at) => (at === i ? by(body) : body));
  expect(await codeOf(swapped(4, () => ''))).toBe('LOG_DAMAGED');
  expect(await codeOf(swapped(4, (body) => body.slice(0, -1)))).toBe('LOG_DAMAGED');
  expect(await codeOf(swapped(4, (body) => body.replace('"inc":1', '"inc":2')))).toBe('LOG_DIVERGED');
  expect(
    await codeOf(swapped(4, (body) => body.replace('"state":"', '"state":"0').replace(/"state":"(.{64})./, '"state":"$1'))),
  ).toBe('LOG_DIVERGED');
  expect(await codeOf(swapped(4, (body) => body.replace('"kind":"committed"', '"kind":"rejected"')))).toBe('LOG_DIVERGED');
});

test('[CO19] a log that was begun with another definition is told from a damaged one', async () => {
  const other = loadState({ name: 'board', version: 2, fields: { done: counter() } }, sha256);
  await expect(recover(readerOf(desk.log), board(other))).rejects.toMatchObject({
    code: 'SCHEMA_INVALID',
    hint: expect.stringContaining(SCHEMA.id) as string,
  });
});

test('[CO19] spaces that nobody asks for are passed over', async () => {
  const both = Desk.leading({ spaces: ['board', 'other'] });
  both.join('ann').propose(1);
  both.rest();
  const { shard } = await recover(readerOf(both.log), board());
  expect([shard.head, [...shard.spaces.keys()]]).toEqual([both.state.shard.head, ['board']]);
});
