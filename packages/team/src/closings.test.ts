import { expect, test } from 'vitest';
import { closings, kept } from './closings.ts';

test('[TM41] everything is closed, the newest first, also when something fails; the first error is thrown', async () => {
  const closed: string[] = [];
  const opened = closings();
  const thing = (name: string, error?: Error) => ({
    close: async () => {
      closed.push(name);
      if (error !== undefined) throw error;
    },
  });
  kept(thing('log'), opened);
  kept(thing('blobs', new Error('blobs')), opened);
  kept(thing('bus', new Error('bus')), opened);
  const given = thing('server');
  expect(kept(given, opened)).toBe(given);
  await expect(opened.close()).rejects.toThrow('bus');
  expect(closed).toEqual(['server', 'bus', 'blobs', 'log']);
  await expect(opened.close()).rejects.toThrow('bus');
  expect(closed).toHaveLength(4);
});
