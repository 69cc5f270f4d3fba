import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gapsOf, isAtLeast, readVersion } from './version.ts';

test('[NDS1] a version is read from what a server prints or announces', () => {
  expect(readVersion('nats-server: v2.9.10\n')).toBe('2.9.10');
  expect(readVersion('2.12.1-RC.1')).toBe('2.12.1');
  expect(readVersion('nats-server: dev')).toBeUndefined();
});

test('[NDS1] versions are ordered by number, and one that cannot be read is below all', () => {
  const part = fc.nat({ max: 30 });
  fc.assert(
    fc.property(fc.tuple(part, part, part), fc.tuple(part, part, part), (a, b) => {
      const order = (a[0] - b[0]) * 10_000 + (a[1] - b[1]) * 100 + (a[2] - b[2]);
      expect(isAtLeast(a.join('.'), b.join('.'))).toBe(order >= 0);
    }),
  );
  expect(isAtLeast('dev', '0.0.0')).toBe(false);
});

test('[NDS2] known gaps follow the version', () => {
  const old = gapsOf('2.9.10').join('\n');
  for (const word of ['loopback', 'two minutes', 'per-subject', 'message limit']) expect(old).toContain(word);
  expect(gapsOf('2.9.21').join('\n')).not.toContain('per-subject');
  expect(gapsOf('2.10.21').join('\n')).toContain('whole stream');
  for (const fixed of ['2.10.19', '2.10.23']) expect(gapsOf(fixed).join('\n')).not.toContain('whole stream');
  expect(gapsOf('2.12.1').join('\n')).toContain('Jepsen');
  expect(gapsOf('2.15.1')).toEqual([]);
});
