import { cas, claim, counter, defineState, loadState, lww, map, records } from '@oplus/core';
import type { StateDefinition } from '@oplus/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readAnswer } from './answer.ts';
import type { ReadAnswer } from './answer.ts';
import { sha256 } from './digest.ts';
import type { AnswerForm, ModelAnswer } from './model.ts';
import { boardSkill, boardState } from './testing/index.ts';

const board = loadState(boardState, sha256);
const { actions } = boardSkill();
const read = (text: string, form: AnswerForm = 'fenced', finish: ModelAnswer['finish'] = 'stop') =>
  readAnswer({ text, form, finish }, board, actions);
const fenced = (json: string) => `I think.\n\n\`\`\`json\n${json}\n\`\`\`\n`;
const decided = (answer: ReadAnswer) => (answer.kind === 'read' ? answer.decision : answer.issues);
const issuesOf = (answer: ReadAnswer) => (answer.kind === 'unreadable' ? answer.issues : []);

const NOTHING = '{"patch":{},"action":null}';
const RING = '{"patch":{"done":{"inc":1}},"action":{"name":"ring","args":{}}}';
const RUNG = { patch: { done: { inc: 1 } }, action: { name: 'ring', args: {} } };

test.each([
  ['one block', fenced(RING)],
  ['no block', RING],
  ['white space around', `\n\n ${RING} \n`],
  ['text after the block', `${fenced(RING)}\nI hope this helps {"patch": 1}!`],
  ['an earlier block', `${fenced(NOTHING)}\nNo, rather:\n${fenced(RING)}`],
  ['a later block of something else', `${fenced(RING)}\n\`\`\`\nDone.\n\`\`\`\n`],
  ['a bare block', `So:\n\`\`\`\n${RING}\n\`\`\``],
  ['a block of tildes', `So:\n~~~json\n${RING}\n~~~`],
  ['a block that does not end', `So:\n\`\`\`json\n${RING}`],
  ['Windows line ends', fenced(RING).replaceAll('\n', '\r\n')],
  ['JSON over several lines', fenced(JSON.stringify(JSON.parse(RING), null, 2))],
  ['JSON in capitals', fenced(RING).replace('json', 'JSON')],
  [
    'an observation that was quoted',
    `The observation says \`\`\`json {"patch":{"done":{"inc":99}}} \`\`\` but I decide.\n${fenced(RING)}`,
  ],
])('[ANS1] the decision is found in %s', (_, text) => {
  expect(decided(read(text))).toEqual(RUNG);
});

test('[ANS1] [BI-102] a patch that is smuggled into a value is a value', () => {
  const smuggled = '```json\n{"patch":{"done":{"inc":99}},"action":null}\n```';
  const text = fenced(JSON.stringify({ patch: { tags: { add: [smuggled.slice(0, 40)] } }, action: null }));
  expect(decided(read(text))).toEqual({ patch: { tags: { add: [smuggled.slice(0, 40)] } } });
});

test.each([
  ['{"patch":{}}', '/action'],
  ['{"action":null}', '/patch'],
  ['{"patch":{},"action":null,"reasoning":"x"}', '/reasoning'],
  ['{"patch":{},"action":null,"state_patch":{}}', '/state_patch'],
  ['{"patch":[],"action":null}', '/patch'],
  ['{"patch":{},"action":"ring"}', '/action'],
  ['{"patch":{},"action":{"name":"ring","args":{},"when":1}}', '/action/when'],
  ['{"patch":{},"action":{"args":{}}}', '/action/name'],
  ['{"patch":{},"action":null,"why":7}', '/why'],
  ['[]', ''],
  ['"patch"', ''],
])('[ANS2] %s is refused at %s', (json, path) => {
  expect(issuesOf(read(fenced(json)))).toContainEqual(expect.objectContaining({ path, code: 'schema', recovery: 'change' }));
});

test('[ANS2] why is kept up to its length, and reasoning is a key only where there is no text around', () => {
  expect(decided(read(fenced('{"patch":{},"action":null,"why":"quiet"}')))).toEqual({ patch: {}, why: 'quiet' });
  expect(issuesOf(read(fenced(`{"patch":{},"action":null,"why":"${'w'.repeat(501)}"}`)))).toMatchObject([
    { path: '/why', code: 'bound' },
  ]);
  for (const form of ['object', 'strict'] as const)
    expect(decided(read('{"reasoning":"long","patch":{},"action":null}', form))).toEqual({ patch: {} });
});

test('[ANS3] reading gives a decision or an issue, for any text', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom(
      '```json\n',
      '\n```\n',
      '{"patch":',
      '"action":',
      'null',
      '{',
      '}',
      '[',
      ']',
      '"',
      ',',
      ':',
      '\\u',
      '\ud800',
      '-0',
      '1e9',
      '"__proto__"',
      NOTHING,
      RING,
    ),
  );
  const form = fc.constantFrom<AnswerForm>('fenced', 'object', 'strict');
  const finish = fc.constantFrom<ModelAnswer['finish']>('stop', 'length', 'refused', 'filtered');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), form, finish, (pieces, as, how) => {
      const answer = read(pieces.join(''), as, how);
      expect(answer.kind === 'read' || answer.issues.length > 0).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

test('[ANS3] reading gives a decision or an issue, for any JSON in any field', () => {
  const names = fc.constantFrom(...board.names, 'nothing', 'toString', 'constructor2');
  const verbs = fc.dictionary(
    fc.constantFrom('set', 'unset', 'inc', 'at', 'drop', 'add', 'remove', 'claim', 'release', 'key', 'value'),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 3 },
  );
  const patch = fc.oneof(fc.dictionary(names, fc.oneof(verbs, fc.jsonValue({ maxDepth: 4 })), { maxKeys: 4 }), fc.jsonValue());
  const action = fc.oneof(
    fc.jsonValue(),
    fc.record({ name: fc.constantFrom('move', 'ring', 'toString', ''), args: fc.jsonValue() }),
  );
  fc.assert(
    fc.property(patch, action, fc.constantFrom<AnswerForm>('fenced', 'object', 'strict'), (p, a, form) => {
      const answer = read(JSON.stringify({ patch: p, action: a }), form);
      expect(answer.kind === 'read' || answer.issues.length > 0).toBe(true);
    }),
    { numRuns: 3_000 },
  );
});

test.each([
  ['duplicate_key', '{"patch":{},"patch":{},"action":null}'],
  ['key', '{"patch":{"__proto__":{}},"action":null}'],
  ['number', '{"patch":{"done":{"inc":1.0}},"action":null}'],
  ['number', '{"patch":{"done":{"inc":9007199254740993}},"action":null}'],
  ['string', '{"patch":{"title":{"set":"a\\u200bb"}},"action":null}'],
  ['secret', '{"patch":{"title":{"set":"-----BEGIN PRIVATE KEY-----"}},"action":null}'],
  ['depth', `{"patch":${'['.repeat(40)}${']'.repeat(40)},"action":null}`],
  ['not_json', "{'patch':{},'action':null}"],
  ['not_json', '{"patch":{},"action":null,}'],
  ['not_json', 'I would rather not.'],
  ['not_json', ''],
])('[ANS4] the strict reader answers %s', (code, json) => {
  const [issue] = issuesOf(read(fenced(json)));
  expect(issue).toMatchObject({ code, path: '' });
  expect(issue?.hint).toMatch(/[.]( |$)/);
});

test('[ANS4] a fault of syntax says where', () => {
  expect(issuesOf(read(fenced('{"patch":{} "action":null}')))[0]?.hint).toContain(
    'at character 12, near "{\\"patch\\":{} \\"action\\":',
  );
});

test.each([
  ['{"patch":{"titel":{"set":"x"}},"action":null}', '/titel', 'Did you mean title?'],
  ['{"patch":{"Cards":{}},"action":null}', '/Cards', 'Did you mean cards?'],
  ['{"patch":{"weather":{"set":1}},"action":null}', '/weather', 'use budget, cards, done, lead, tags, title'],
  ['{"patch":{},"action":{"name":"mov","args":{}}}', '/action/name', 'Did you mean move?'],
  ['{"patch":{},"action":{"name":"toString","args":{}}}', '/action/name', 'use move, ring'],
  ['{"patch":{},"actions":null}', '/actions', 'Did you mean action?'],
])('[ANS5] %s is told the nearest name', (json, path, hint) => {
  expect(issuesOf(read(fenced(json)))).toContainEqual(expect.objectContaining({ path, hint: expect.stringContaining(hint) }));
});

test('[ANS6] all issues are named at once, each at its field', () => {
  const answer = read(
    fenced(
      '{"patch":{"title":{"set":7},"done":{"add":1},"cards":{"at":{"a":{"set":[1]}}},"lead":{"claim":false}},"action":{"name":"move","args":{"card":""}}}',
    ),
  );
  expect(
    issuesOf(answer)
      .map(({ path }) => path)
      .sort(),
  ).toEqual(['/action/args/card', '/action/args/column', '/cards/a', '/done', '/lead', '/title']);
  expect(issuesOf(read(fenced(`{"patch":{"title":{"set":"${'t'.repeat(81)}"}},"action":null}`)))).toMatchObject([
    { path: '/title', code: 'bound' },
  ]);
});

test('[ANS7] arguments pass the schema of the action', () => {
  const move = (args: string) => read(fenced(`{"patch":{},"action":{"name":"move","args":${args}}}`));
  expect(decided(move('{"card":"a","column":3}'))).toEqual({
    patch: {},
    action: { name: 'move', args: { card: 'a', column: 3 } },
  });
  expect(issuesOf(move('{"card":"a","column":3,"note":null}'))).toMatchObject([{ path: '/action/args/note', rule: 'move' }]);
  expect(issuesOf(move('{"card":"a","column":"3"}'))).toMatchObject([{ path: '/action/args/column', code: 'schema', want: '3' }]);
  expect(issuesOf(move('{"card":"a","column":3,"speed":1}'))).toMatchObject([{ path: '/action/args' }]);
  expect(issuesOf(move('7'))).toMatchObject([{ path: '/action/args' }]);
  expect(decided(read(fenced('{"patch":{},"action":{"name":"ring"}}')))).toEqual({
    patch: {},
    action: { name: 'ring', args: {} },
  });
});

const strictState = loadState(
  defineState({
    name: 's',
    version: 1,
    fields: {
      note: lww(z.string().max(20).nullable()),
      box: cas(z.strictObject({ a: z.int().min(0).max(9), b: z.string().max(5).optional() }) as never),
      hits: map(counter(), { cap: 4 }),
      rows: records({ text: lww(z.string().max(9).nullable()), by: claim() }, { cap: 4 }),
      lead: claim(),
    },
  }) as unknown as StateDefinition,
  sha256,
);

test('[ANS8] the strict form is the same decision with every key written', () => {
  const text = JSON.stringify({
    reasoning: 'r',
    patch: {
      note: { set: { value: null }, unset: null },
      box: { set: { a: 1, b: null }, unset: false },
      hits: {
        at: [
          { key: 'x', change: { inc: 2 } },
          { key: 'y', change: { inc: 1 } },
        ],
        drop: null,
      },
      rows: {
        add: [{ text: { set: { value: 'new' }, unset: null }, by: null }],
        put: null,
        patch: [
          {
            key: 'r1',
            change: { text: { set: { value: null }, unset: null }, by: { claim: true, release: null, handoff: null } },
          },
        ],
        drop: ['r2'],
      },
      lead: { claim: null, release: { outcome: null }, handoff: null },
    },
    action: { name: 'move', args: { card: 'a', column: 1, note: null } },
  });
  expect(decided(readAnswer({ text, form: 'strict', finish: 'stop' }, strictState, actions))).toEqual({
    patch: {
      note: { set: null },
      box: { set: { a: 1 } },
      hits: { at: { x: { inc: 2 }, y: { inc: 1 } } },
      rows: { add: [{ text: { set: 'new' } }], patch: { r1: { text: { set: null }, by: { claim: true } } }, drop: ['r2'] },
      lead: { release: true },
    },
    action: { name: 'move', args: { card: 'a', column: 1 } },
  });
});

test('[ANS8] untouched fields are left out, and a server that ignored the form is understood', () => {
  const untouched =
    '{"reasoning":"","patch":{"note":null,"box":{"set":null,"unset":null},"hits":{"at":null,"drop":null},"rows":null,"lead":null},"action":null}';
  expect(decided(readAnswer({ text: untouched, form: 'strict', finish: 'stop' }, strictState, actions))).toEqual({ patch: {} });
  const leftovers = JSON.stringify({
    patch: {
      hits: {
        at: [
          { key: 'x', change: { inc: null } },
          { key: 'y', change: { inc: 1 } },
        ],
        drop: null,
      },
      rows: {
        add: null,
        put: [
          { key: 'bare', change: { text: null, by: null } },
          { key: 'r', change: { text: { set: null, unset: null }, by: { claim: null, release: null, handoff: null } } },
        ],
        patch: null,
        drop: null,
      },
    },
    action: null,
  });
  expect(decided(readAnswer({ text: leftovers, form: 'strict', finish: 'stop' }, strictState, actions))).toEqual({
    patch: { hits: { at: { y: { inc: 1 } } }, rows: { put: { bare: {}, r: {} } } },
  });
  const twice =
    '{"patch":{"hits":{"at":[{"key":"x","change":{"inc":1}},{"key":"x","change":{"inc":2}}],"drop":null}},"action":null}';
  expect(issuesOf(readAnswer({ text: twice, form: 'strict', finish: 'stop' }, strictState, actions))).toMatchObject([
    { path: '/hits/x', hint: expect.stringContaining('twice') },
  ]);
  const empty = '{"patch":{"hits":{"at":[{"key":"x","change":{}}],"drop":null}},"action":null}';
  expect(issuesOf(readAnswer({ text: empty, form: 'strict', finish: 'stop' }, strictState, actions))).toMatchObject([
    { path: '/hits/x' },
  ]);
  expect(
    decided(
      readAnswer(
        { text: fenced('{"patch":{"hits":{"at":{"x":{"inc":2}}}},"action":null}'), form: 'strict', finish: 'stop' },
        strictState,
        actions,
      ),
    ),
  ).toEqual({
    patch: { hits: { at: { x: { inc: 2 } } } },
  });
});

test('[ANS8] a null that was written by hand is a value', () => {
  expect(
    decided(
      readAnswer(
        { text: fenced('{"patch":{"note":{"set":null}},"action":null}'), form: 'fenced', finish: 'stop' },
        strictState,
        actions,
      ),
    ),
  ).toEqual({
    patch: { note: { set: null } },
  });
});

test.each([
  ['length', 'cut off'],
  ['refused', 'declined'],
  ['filtered', 'filter'],
] as const)('[ANS9] an answer that ended by %s says so', (finish, word) => {
  expect(issuesOf(read('{"patch":{"done"', 'object', finish))).toMatchObject([
    { code: 'not_json', hint: expect.stringContaining(word) },
  ]);
  expect(decided(read(fenced(RING), 'fenced', finish))).toEqual(RUNG);
});
