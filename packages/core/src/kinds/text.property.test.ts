import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { FieldKind } from '../field-kind.ts';
import type { Json, JsonObject } from '../json.ts';
import {
  causalHistories,
  codesOf,
  cutCase,
  cutDependence,
  fieldOf,
  runsOf,
  sha256,
  shuffled,
  smallTeam,
} from '../testing/index.ts';
import { replay } from '../replay.ts';
import { stringFault } from '../strict-json.ts';
import { text } from './text.ts';
import { occurrences } from './text-span.ts';

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 3_600_000 });

const AGENTS = ['a', 'b', 'c', 'd', 'e', 'f'];
const START = Array.from({ length: 30 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');

describe('text', () => {
  test('[TXT1] [TXT5] changes of different places and appends come to one text, in any order and any cut into rounds', () => {
    const fields = { t: text({ charsMax: 1_000, start: START }) };
    const part = fc.record({ from: fc.nat(3), length: fc.nat(2), isAppend: fc.boolean(), by: fc.constantFrom('', 'x', 'yz') });
    fc.assert(
      fc.property(fc.tuple(part, part, part, part, part, part), fc.nat(), fc.nat(0xffffff), (parts, cut, seed) => {
        const asks = parts.map(({ from, length, isAppend, by }, i) => {
          const find = START.slice(i * 5 + from, i * 5 + Math.min(from + length + 1, 5));
          const intent: JsonObject = isAppend ? { append: `<${i}>` } : { replace: { find, with: by } };
          return { agent: AGENTS[i] as string, base: 0, patch: { t: intent } };
        });
        const whole = smallTeam({ fields }, AGENTS);
        expect(whole.round(...asks).flatMap(codesOf)).toEqual(asks.map(() => 'committed'));
        const parted = smallTeam({ fields }, AGENTS);
        const order = shuffled(asks, seed);
        for (let at = 0; at < order.length;) {
          const to = at + 1 + ((cut >> at) % 3);
          expect(parted.round(...order.slice(at, to)).flatMap(codesOf)).toEqual(order.slice(at, to).map(() => 'committed'));
          at = to;
        }
        expect(parted.state['t']).toBe(whole.state['t']);
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  test('[TXT5] appends alone come to one text in any causal order, and whatever is forgotten', () => {
    const spec = { kind: 'text', charsMax: 1_000, start: 'a' };
    const field = fieldOf(spec);
    fc.assert(
      fc.property(causalHistories(), (history) => {
        const appends = cutCase(spec, history, (choice) => ({ append: choice.of(['g', 'hi', 'jk', 'l']) }));
        expect(cutDependence(field, appends)).toBeUndefined();
      }),
      { numRuns: runsOf(1_000) },
    );
  });

  test('[TXT3] [TXT12] a long text does what a list of words does, and reads back from a snapshot', () => {
    const word = (i: number, version: number): string => `${i}.${version} `.padStart(60, 'w');
    const start = Array.from({ length: 150 }, (_, i) => word(i, 0));
    const fields = { t: text({ charsMax: 60_000, start: start.join('') }) };
    const step = fc.tuple(fc.nat(2), fc.nat(4), fc.oneof(fc.nat(5), fc.nat(149)), fc.nat(5));
    fc.assert(
      fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
        const team = smallTeam({ fields }, AGENTS.slice(0, 3));
        const kind = team.schema.kinds[0] as FieldKind;
        // What has stood in each word's place, newest last, with whose it is and since when.
        const places = start.map((value) => [{ value, revision: 0, agent: '' }]);
        const newest = [0, 0, 0];
        for (const [who, lag, at, what] of steps) {
          const agent = AGENTS[who] as string;
          const base = Math.max(newest[who] as number, team.revision - lag);
          newest[who] = base;
          const versions = places[at] as (typeof places)[number];
          const seen = versions.findLast((version) => version.revision <= base || version.agent === agent);
          const find = seen?.value ?? '';
          const by = what === 0 ? '' : word(at, team.revision + 1).repeat(what === 1 ? 30 : 1);
          if (find === '') continue;
          const codes = codesOf(team.ask(agent, { t: { replace: { find, with: by } } }, base));
          const [over, now] = [versions.at(-2), versions.at(-1)];
          const isAgreed = over === seen && now?.value === by;
          expect(codes).toEqual([now === seen || isAgreed ? 'committed' : 'conflict']);
          if (now === seen) versions.push({ value: by, revision: team.revision, agent });
        }
        expect(team.state['t']).toBe(places.map((versions) => versions.at(-1)?.value).join(''));
        const read = kind.decode(JSON.parse(kind.encode(team.space.cells[0])) as Json);
        expect(kind.digest(read, sha256)).toBe(team.space.digests[0]);
        expect(kind.encode(read)).toBe(kind.encode(team.space.cells[0]));
      }),
      { numRuns: runsOf(400) },
    );
  });

  test('[TXT2] a quote is counted as one looks for it, also a long one', () => {
    const letters = (most: number): fc.Arbitrary<string> =>
      fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: most, minLength: 1 });
    fc.assert(
      fc.property(letters(12), letters(4), fc.constantFrom(1, 90), (where, find, times) => {
        const [long, quote] = [where.repeat(times * 3), find.repeat(times)];
        const places = Array.from(long, (_, i) => i).filter((i) => long.startsWith(quote, i));
        expect(occurrences(long, quote, Infinity)).toEqual({ at: places[0] ?? -1, count: places.length });
      }),
      { numRuns: runsOf(1_000) },
    );
  });

  test('[JDG13] what repeats the view is left out; a list that the view refuses is not', () => {
    const kind: FieldKind = text({ charsMax: 99, start: 'abc' });
    const rest = (intent: Json): unknown =>
      kind.withoutEcho(
        kind.empty(undefined),
        kind.read(intent, '/t', () => undefined),
      );
    const echoes: readonly Json[] = [{ append: '' }, { rewrite: 'abc' }, { replace: { find: 'b', with: 'b' } }];
    expect(echoes.map(rest)).toEqual([undefined, undefined, undefined]);
    const others: readonly Json[] = [
      { append: 'a' },
      { rewrite: '' },
      { replace: { find: 'd', with: 'd' } },
      {
        replace: [
          { find: 'ab', with: 'ab' },
          { find: 'bc', with: 'bc' },
        ],
      },
    ];
    for (const intent of others) expect(kind.write(rest(intent))).toEqual(intent);
  });

  test('[TXT2] no quote takes long to look for', () => {
    const long = 'a'.repeat(100_000);
    const quote = `${'a'.repeat(20_000)}b${'a'.repeat(20_000)}`;
    const start = performance.now();
    for (let i = 0; i < 16; i += 1) expect(occurrences(long, quote, 2).count).toBe(0);
    expect(performance.now() - start).toBeLessThan(1_000);
  });

  test('[TXT9] whatever stands in front, no text that the gate lets in completes what it keeps out', () => {
    const label = fc.nat(80).map((length) => 'A'.repeat(length));
    fc.assert(
      fc.property(label, fc.nat(120), (name, at) => {
        const pem = `-----BEGIN ${name} PRIVATE KEY-----`;
        const [head, tail] = [pem.slice(0, at), pem.slice(at)];
        fc.pre(stringFault(head) === undefined && stringFault(tail) === undefined);
        const team = smallTeam({ fields: { t: text({ charsMax: 400 }) } });
        team.ask('a', { t: { append: head } });
        team.ask('b', { t: { append: tail } });
        expect(stringFault(team.state['t'] as string)).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });

  test.each(['x', 'x'.repeat(1_000)])(
    '[TXT11] whatever one agent changes in every round, the newest view finds its places',
    (long) => {
      const start = `head ${Array.from({ length: 64 }, (_, i) => `<${i}:0>`).join('')} tail`;
      const roles = { agent: { priority: 0 }, first: { priority: 1 } };
      const team = smallTeam({ fields: { t: text({ charsMax: 80_000, start }) }, roles }, ['a:first', 'b']);
      let turn = 0;
      for (let round = 0; round < 4; round += 1) {
        const flood = Array.from({ length: 40 }, () => {
          const [old, next] = [turn, turn + 1].map((count) => (count === 0 ? '0' : `${long}${count}`));
          turn += 1;
          const replaces = Array.from({ length: 64 }, (_, i) => ({ find: `<${i}:${old}>`, with: `<${i}:${next}>` }));
          return { agent: 'a', patch: { t: { replace: replaces.slice(0, long.length > 1 ? 20 : 64) } } };
        });
        const [head, tail] = [round === 0 ? 'head' : `head${round - 1}`, 'tail'];
        const honest = { agent: 'b', patch: { t: { replace: { find: `${head} `, with: `head${round} ` } } } };
        const verdicts = team.round(...flood, honest);
        expect(verdicts.flatMap(codesOf)).toEqual(verdicts.map(() => 'committed'));
        expect((team.state['t'] as string).startsWith(`head${round} `) && (team.state['t'] as string).endsWith(tail)).toBe(true);
      }
      expect(replay(team.schema, 'example', team.log).state).toBe(team.space.state);
    },
  );
});
