import { describe, expect, test } from 'vitest';
import { field } from '../state-schema.ts';
import type { FieldKind } from '../field-kind.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Verdict } from '../issue.ts';
import { codesOf, loading, outcomesOf, sha256, smallTeam } from '../testing/index.ts';
import type { SmallTeam } from '../testing/index.ts';
import { map } from './map.ts';
import { records } from './records.ts';
import { counter } from './counter.ts';
import { joins } from './text-seam.ts';
import { text } from './text.ts';

function teamOf(start: string, charsMax: number = 1_000): SmallTeam {
  return smallTeam({ fields: { t: text({ charsMax, start }) } });
}

function replace(find: string, by: string): JsonObject {
  return { t: { replace: { find, with: by } } };
}

function append(more: string): JsonObject {
  return { t: { append: more } };
}

function issueOf(verdict: Verdict | undefined): unknown {
  return verdict?.kind === 'rejected' ? verdict.issues[0] : undefined;
}

describe('text', () => {
  test('[TXT1] changes of different places merge, in one round and on an older view', () => {
    const team = teamOf('one two three');
    team.round({ agent: 'a', patch: replace('one', 'ONE') }, { agent: 'b', patch: replace('three', '3') });
    expect(team.state['t']).toBe('ONE two 3');
    expect(codesOf(team.ask('c', replace('two', 'and'), 0))).toEqual(['committed']);
    expect(team.state['t']).toBe('ONE and 3');
    team.ask('c', replace('ONE ', ''));
    expect(team.state['t']).toBe('and 3');
  });

  test('[TXT1] neighbours do not touch', () => {
    const team = teamOf('abcd');
    team.ask('a', replace('bc', 'X'));
    team.ask('b', replace('a', 'Y'), 0);
    team.ask('c', replace('d', 'Z'), 0);
    expect(team.state['t']).toBe('YXZ');
  });

  test('[TXT2] a quote that does not stand there once is refused, with how often it does', () => {
    const team = teamOf('aa bb aa cc aaa');
    expect(issueOf(team.ask('a', replace('dd', 'x')))).toMatchObject({
      path: '/t',
      code: 'schema',
      rule: 'text',
      want: 'dd',
      recovery: 'change',
      hint: expect.stringContaining('did not stand') as string,
    });
    expect(issueOf(team.ask('a', replace('aa', 'x')))).toMatchObject({
      hint: expect.stringContaining('stood 4 times') as string,
    });
    expect(issueOf(teamOf('a'.repeat(99)).ask('a', replace('a', 'x')))).toMatchObject({
      hint: expect.stringContaining('at least 10 times') as string,
    });
  });

  test('[TXT2] it is looked for in the text that was seen, with the own changes since', () => {
    const team = teamOf('one two');
    team.ask('a', replace('two', 'two two'));
    expect(codesOf(team.ask('b', replace('one', '1'), 0))).toEqual(['committed']);
    expect(codesOf(team.ask('b', replace('1 two', 'x'), 0))).toEqual(['conflict']);
    expect(codesOf(team.ask('b', replace('1', 'first'), 0))).toEqual(['committed']);
    expect(codesOf(team.ask('b', replace('one', 'x'), 0))).toEqual(['schema']);
    expect(team.state['t']).toBe('first two two');
  });

  test('[TXT3] a place that was changed unseen is a conflict, with what stands there now and whose it is', () => {
    const team = teamOf('The team meets on Monday at nine.');
    team.ask('a', replace('on Monday', 'on Tuesday'));
    expect(issueOf(team.ask('b', replace('Monday at nine', 'Friday at ten'), 0))).toEqual({
      path: '/t',
      code: 'conflict',
      rule: 'text',
      have: 'on Tuesday at nine',
      want: 'Friday at ten',
      by: 'a',
      recovery: 're-read',
      hint: 'It changed after your view was made. Look at what is there now and decide again.',
    });
    team.ask('c', replace('Tuesday', 'Sunday'));
    expect(issueOf(team.ask('b', replace('Monday', 'Friday'), 0))).toMatchObject({ have: 'on Sunday', by: 'a' });
    team.ask('a', replace(' at nine', ''));
    expect(issueOf(team.ask('b', replace('nine', 'ten'), 0))).toMatchObject({ have: '', by: 'a' });
    expect(team.state['t']).toBe('The team meets on Sunday.');
  });

  test('[TXT3] of two in one round the first in canonical order stands', () => {
    const team = teamOf('abc');
    const verdicts = team.round({ agent: 'a', patch: replace('ab', 'X') }, { agent: 'b', patch: replace('bc', 'Y') });
    expect(verdicts.map((verdict) => verdict.kind).toSorted()).toEqual(['committed', 'rejected']);
    expect(['Xc', 'aY']).toContain(team.state['t']);
  });

  test('[TXT3] what somebody put inside unseen stands in the way', () => {
    const team = teamOf('ab');
    team.round({ agent: 'a', patch: append('1') }, { agent: 'b', patch: append('2') });
    const first = String(team.state['t']).charAt(2);
    const [late, other] = first === '1' ? ['b', 'a'] : ['a', 'b'];
    // The one whose text stands last saw it right behind the b.
    const quote = first === '1' ? 'b2' : 'b1';
    expect(issueOf(team.ask(late, replace(quote, 'B'), 0))).toMatchObject({ code: 'conflict', by: other });
  });

  test('[TXT4] equal changes of one span agree', () => {
    const team = teamOf('one two three');
    team.ask('a', replace('two', '2'));
    expect(outcomesOf(team.ask('b', replace('two', '2'), 0))).toEqual({ '/t': 'unchanged' });
    expect(codesOf(team.ask('b', replace('two', '3'), 0))).toEqual(['conflict']);
    expect(codesOf(team.ask('b', replace('two ', '2'), 0))).toEqual(['conflict']);
    expect(codesOf(team.ask('b', replace('tw', '2'), 0))).toEqual(['conflict']);
    expect(codesOf(team.ask('b', replace('two', ''), 0))).toEqual(['conflict']);
    team.ask('a', replace('2', '2!'));
    expect(codesOf(team.ask('b', replace('two', '2'), 0))).toEqual(['conflict']);
    expect(outcomesOf(team.ask('c', replace('three', 'three')))).toEqual({ '/t': 'unchanged' });
    team.ask('a', replace(' three', ''));
    expect(outcomesOf(team.ask('b', replace(' three', ''), 0))).toEqual({ '/t': 'unchanged' });
    expect(team.state['t']).toBe('one 2!');
  });

  test('[TXT5] appends are never in conflict, and stand behind what replaces the end', () => {
    const team = teamOf('a end');
    team.ask('a', append(' one'));
    team.ask('b', replace('end', 'END'), 0);
    team.ask('c', append(' two'), 0);
    expect(['a END one two', 'a END two one']).toContain(team.state['t']);
    team.ask('a', { t: { rewrite: 'new' } });
    expect(codesOf(team.ask('b', append(' three'), 1))).toEqual(['committed']);
    expect(team.state['t']).toBe('new three');
    expect(outcomesOf(team.ask('b', append('')))).toEqual({ '/t': 'unchanged' });
  });

  test('[TXT5] a late append stands before those of newer views, and behind all that it saw', () => {
    const team = teamOf('');
    team.ask('a', append('1'));
    team.ask('a', append(''));
    team.ask('b', append('2'));
    team.ask('a', replace('2', 'two'));
    team.ask('c', append('late'), 1);
    expect(team.state['t']).toBe('1latetwo');
    team.ask('b', append('3'));
    expect(team.state['t']).toBe('1latetwo3');
  });

  test('[TXT6] replaces of one patch are found in the text before it, and do not overlap', () => {
    const team = teamOf('one two three');
    const list = (...pairs: readonly (readonly [string, string])[]): JsonObject => ({
      t: { replace: pairs.map(([find, by]) => ({ find, with: by })) },
    });
    team.ask('a', list(['one', 'two'], ['two', 'one'], [' three', '']));
    expect(team.state['t']).toBe('two one');
    const verdict = team.ask('b', list(['two o', 'x'], ['one', 'y'], ['z', '']));
    expect(verdict).toMatchObject({
      issues: [
        { path: '/t/replace/1', code: 'schema', want: 'one', hint: expect.stringContaining('overlap') as string },
        { path: '/t/replace/2', code: 'schema' },
      ],
    });
    team.ask('b', list(['two', '2'], ['one', '1']));
    expect(team.state['t']).toBe('2 1');
    expect(outcomesOf(team.ask('c', list(['two', '2'], [' ', ' ']), 1))).toEqual({
      '/t/replace/0': 'unchanged',
      '/t/replace/1': 'unchanged',
    });
  });

  test('[TXT7] a rewrite is of the text that was seen', () => {
    const team = teamOf('old');
    team.ask('a', append(' text'));
    expect(issueOf(team.ask('b', { t: { rewrite: 'new' } }, 0))).toMatchObject({
      code: 'conflict',
      have: 'old text',
      want: 'new',
      by: 'a',
    });
    expect(outcomesOf(team.ask('b', { t: { rewrite: 'old text' } }, 0))).toEqual({ '/t': 'unchanged' });
    expect(codesOf(team.ask('b', { t: { rewrite: 'new' } }))).toEqual(['committed']);
    expect(issueOf(team.ask('c', replace('old', 'older'), 1))).toMatchObject({ code: 'conflict', have: 'new', by: 'b' });
    expect(codesOf(team.ask('b', replace('new', 'newer'), 1))).toEqual(['committed']);
    expect(team.state['t']).toBe('newer');
  });

  test('[TXT8] a text that would be too long is refused, with the room that there is', () => {
    const team = teamOf('12345678', 10);
    expect(issueOf(team.ask('a', append('901')))).toMatchObject({
      code: 'bound',
      have: 8,
      want: 11,
      recovery: 'change',
      hint: 'At most 10 characters; there is room for 2 more.',
    });
    expect(codesOf(team.ask('a', replace('8', '8901')))).toEqual(['bound']);
    expect(
      codesOf(
        team.ask('a', {
          t: {
            replace: [
              { find: '1', with: '' },
              { find: '8', with: '8901' },
            ],
          },
        }),
      ),
    ).toEqual(['committed']);
    expect(codesOf(team.ask('a', { t: { rewrite: '12345678901' } }))).toEqual(['bound']);
    expect(team.state['t']).toBe('2345678901');
  });

  test('[TXT9] a seam makes nothing that the gate keeps out', () => {
    const team = teamOf('a<| im_start|> -----BEGIN  b');
    expect(issueOf(team.ask('a', replace('| im', '|im')))).toMatchObject({
      code: 'schema',
      recovery: 'change',
      hint: 'Where the texts meet there would be a reserved token of chat templates. Quote more around it.',
    });
    expect(codesOf(team.ask('a', replace('<| ', '<|')))).toEqual(['schema']);
    expect(codesOf(team.ask('a', { t: { replace: [{ find: ' im', with: 'im' }] } }))).toEqual(['schema']);
    expect(codesOf(team.ask('a', replace(' b', 'PRIVATE KEY-----')))).toEqual(['schema']);
    expect(codesOf(team.ask('a', replace(' b', '<|im_')))).toEqual(['committed']);
    expect(codesOf(team.ask('a', append('end|>')))).toEqual(['schema']);
    expect(codesOf(team.ask('a', append('\u0301x')))).toEqual(['schema']);
    expect(codesOf(team.ask('a', replace('a<', '\u0301<')))).toEqual(['committed']);
    expect(codesOf(team.ask('b', { t: { rewrite: 'q\u0303a' } }))).toEqual(['committed']);
    expect(codesOf(team.ask('b', replace('q', 'n')))).toEqual(['schema']);
    expect(codesOf(team.ask('b', replace('q\u0303', '')))).toEqual(['committed']);
    expect(loading(text({ charsMax: 99, start: 'a\u0301' }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });

  test('[TXT9] every character that this platform would join to the one before it is known', () => {
    const missing = new Set<string>();
    for (let code = 0; code < 0x110000; code += 1) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const parts = Array.from(String.fromCodePoint(code).normalize('NFD'));
      if (parts.length < 2 || parts.join('').normalize('NFC') !== String.fromCodePoint(code)) continue;
      for (const part of parts.slice(1)) if (!joins(part)) missing.add((part.codePointAt(0) ?? 0).toString(16));
    }
    expect([...missing]).toEqual([]);
    expect(['a', ' ', '\n', '\u{1f600}', '\uac00', ''].filter(joins)).toEqual([]);
  });

  test('[TXT10] no change and no snapshot cuts a character in two', () => {
    const start = `-${'\u{1f600}'.repeat(2_999)}.`;
    const team = teamOf(start, 9_000);
    expect(codesOf(team.ask('a', replace('\u{1f600}.', '\u{1f601}!')))).toEqual(['committed']);
    team.ask('b', replace('\u{1f601}', '\u{1f602}'));
    expect(team.state['t']).toBe(`-${'\u{1f600}'.repeat(2_998)}\u{1f602}!`);
    const kind = team.schema.kinds[0] as FieldKind;
    expect(kind.encode(team.space.cells[0])).not.toMatch(/\\ud[89a-f]/);
  });

  test('[TXT12] a cell is written down and read back to the same digest', () => {
    const team = teamOf('one two three');
    team.ask('a', replace('two', '2'));
    team.ask('b', append('!'), 0);
    team.ask('c', replace('!', '?'));
    const kind = team.schema.kinds[0] as FieldKind;
    const stored = kind.encode(team.space.cells[0]);
    const read = kind.decode(JSON.parse(stored) as Json);
    expect(kind.encode(read)).toBe(stored);
    expect(kind.digest(read, sha256)).toBe(team.space.digests[0]);
    expect(kind.json(read)).toBe('one 2 three?');
  });

  test('[TXT13] a patch names one verb, with texts of the declared length', () => {
    const team = teamOf('abc', 9);
    const bad: readonly Json[] = [
      { append: 1 },
      { append: 'a', rewrite: 'b' },
      { replace: [] },
      { replace: 'a' },
      { replace: { find: 'a' } },
      { replace: { find: '', with: 'x' } },
      { replace: { find: 'a', with: 'x', all: true } },
      { replace: [{ find: 'a', with: null }] },
      { replace: [[]] },
      { insert: 'a' },
      {},
      'a',
    ];
    for (const intent of bad) expect(codesOf(team.ask('a', { t: intent }))).toEqual(['schema']);
    for (const intent of [{ append: '0123456789' }, { replace: { find: '0123456789', with: '' } }])
      expect(codesOf(team.ask('a', { t: intent }))).toEqual(['bound']);
    expect(loading(text({ charsMax: 0 }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
    expect(loading(text({ charsMax: 2, start: 'abc' }))).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
  });

  test('[TXT13] where one of several replaces is none, that is told; the others are not tried', () => {
    const verdict = teamOf('abc').ask('a', {
      t: {
        replace: [
          { find: 'z', with: 'x' },
          { find: '', with: 'x' },
        ],
      },
    });
    expect(verdict).toMatchObject({ issues: [{ path: '/t/replace/1', code: 'schema' }] });
    expect(verdict.kind === 'rejected' && verdict.issues).toHaveLength(1);
  });

  test('[TXT14] deletions and rewrites count as erasures', () => {
    const team = smallTeam({ fields: { t: field(text({ charsMax: 99, start: 'one two' }), { eraseMax: 0 }) } });
    expect(codesOf(team.ask('a', replace('one ', '')))).not.toEqual(['committed']);
    expect(codesOf(team.ask('a', { t: { rewrite: 'x' } }))).not.toEqual(['committed']);
    expect(codesOf(team.ask('a', replace('one', '1')))).toEqual(['committed']);
    expect(codesOf(team.ask('a', append('!')))).toEqual(['committed']);
  });

  test('[TXT1] it stands below keys and rows', () => {
    const team = smallTeam({
      fields: {
        m: map(text({ charsMax: 99 }), { cap: 3 }),
        r: records({ n: counter(), x: text({ charsMax: 99, start: 'x' }) }, { cap: 3 }),
      },
    });
    team.ask('a', { m: { at: { k: { append: 'one two' } } }, r: { put: { r1: { x: { append: 'y' } } } } });
    team.round(
      { agent: 'a', patch: { m: { at: { k: { replace: { find: 'one', with: '1' } } } } } },
      {
        agent: 'b',
        patch: {
          m: { at: { k: { replace: { find: 'two', with: '2' } } } },
          r: { patch: { r1: { x: { replace: { find: 'x', with: 'z' } } } } },
        },
      },
    );
    expect(team.state).toEqual({ m: { k: '1 2' }, r: { r1: { n: 0, x: 'zy' } } });
    team.ask('a', { m: { drop: ['k'] } });
    expect(codesOf(team.ask('b', { m: { at: { k: { append: 'late' } } } }, 2))).toEqual(['gone']);
  });

  test('[TXT15] other patch formats are read into its verbs', () => {
    const kind: FieldKind = text({ charsMax: 9, start: 'abc' });
    const cell = kind.empty(undefined);
    const said: string[] = [];
    const assign = (value: Json): Json | undefined =>
      kind.assign(cell, { kind: 'set', value }, '/t', (_, { code }) => said.push(code));
    expect([assign('abc'), assign('abcd'), assign('xabc')]).toEqual([undefined, { append: 'd' }, { rewrite: 'xabc' }]);
    expect(kind.assign(cell, { kind: 'remove' }, '/t', () => undefined)).toEqual({ rewrite: '' });
    expect([assign(1), assign('0123456789'), said]).toEqual([undefined, undefined, ['schema', 'bound']]);
    expect(kind.fromModel({ append: null, replace: [{ find: 'a', with: 'b' }], rewrite: null })).toEqual({
      replace: [{ find: 'a', with: 'b' }],
    });
    for (const intent of kind.samples()) expect(kind.read(intent, '/t', () => said.push('sample'))).toBeDefined();
    const write = (intent: Json): Json => kind.write(kind.read(intent, '/t', () => said.push('write')));
    expect(write({ replace: [{ find: 'a', with: '' }] })).toEqual({ replace: { find: 'a', with: '' } });
    for (const intent of kind.samples()) expect(write(intent)).toEqual(intent);
    expect(said).toEqual(['schema', 'bound']);
  });
});
