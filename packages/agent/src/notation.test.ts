import { cas, claim, counter, field, loadState, log, lww, machine, map, max, records, set } from '@oplus/core';
import type { Field, FieldKind, Fields, StateDefinition } from '@oplus/core';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { answerFormat } from './answer-format.ts';
import { sha256 } from './digest.ts';
import { notationOf, patchNotation } from './notation.ts';
import { boardSkill, boardState } from './testing/index.ts';

const title = z.string().max(9);

test.each<[string, Field, string]>([
  ['cas', cas(title), '{"set"?: string of up to 9 characters, "unset"?: true}'],
  ['a flag that is a value', cas(z.boolean()), '{"set"?: boolean, "unset"?: true}'],
  ['null as a value', lww(title.nullable()), '{"set"?: string of up to 9 characters | null, "unset"?: true}'],
  [
    'an object named value',
    cas(z.strictObject({ value: title.nullable() })),
    '{"set"?: {"value": string of up to 9 characters | null}, "unset"?: true}',
  ],
  [
    'optional keys of a value',
    cas(z.strictObject({ a: z.int().min(0).max(3), b: title.optional() }) as never),
    '{"set"?: {"a": integer 0 to 3, "b"?: string of up to 9 characters}, "unset"?: true}',
  ],
  ['counter', counter(), '{"inc"?: integer}'],
  ['max', max({}), '{"raise"?: integer}'],
  [
    'claim',
    claim({ outcomeCharsMax: 5 }),
    '{"claim"?: true, "release"?: {"outcome"?: string of up to 5 characters}, "handoff"?: {"to": string}}',
  ],
  ['machine', machine({ start: 'a', moves: { a: ['b'], b: [] } }), '{"to"?: "a" | "b", "from"?: "a" | "b"}'],
  ['set', set(z.enum(['x', 'y']), { cap: 2 }), '{"add"?: ["x" | "y", ...], "remove"?: ["x" | "y", ...]}'],
  ['log', log(z.int().min(1).max(5), { keep: 2 }), '{"append"?: [integer 1 to 5, ...]}'],
  [
    'map',
    map(counter(), { cap: 3, keys: z.string().max(4) }),
    '{"at"?: {<string of up to 4 characters>: {"inc"?: integer}}, "drop"?: [string of up to 4 characters, ...]}',
  ],
])('[PRM6] the patch of %s is shown as it is written by hand', (_, kind, notation) => {
  expect(patchNotation(kind)).toBe(notation);
});

test('[PRM6] rows are shown with the verbs of their cells', () => {
  const kind = records({ state: cas(z.enum(['open', 'done'])), hits: counter() }, { cap: 3, ids: z.string().max(4) });
  const row = '{"hits"?: {"inc"?: integer}, "state"?: {"set"?: "open" | "done", "unset"?: true}}';
  expect(patchNotation(kind)).toBe(
    `{"add"?: [${row}, ...], "put"?: {<string of up to 4 characters>: ${row}}, "patch"?: {<string of up to 4 characters>: ${row}}, "drop"?: [string of up to 4 characters, ...]}`,
  );
});

test('[PRM6] a patch in the shown shape is one that the field reads', () => {
  const written: readonly [Field, unknown][] = [
    [lww(title.nullable()), { set: null }],
    [cas(z.strictObject({ value: title.nullable() })), { set: { value: null } }],
    [claim(), { release: { outcome: 'sold' } }],
    [map(lww(title.nullable()), { cap: 3 }), { at: { a: { set: null }, b: { unset: true } }, drop: ['c'] }],
    [
      records({ hits: counter() }, { cap: 3 }),
      { add: [{ hits: { inc: 1 } }], put: { r: {} }, patch: { s: { hits: { inc: 2 } } }, drop: ['t'] },
    ],
  ];
  for (const [kind, patch] of written) {
    const complaints: string[] = [];
    expect((kind as FieldKind).read(patch as never, '/f', (path, { hint }) => complaints.push(`${path} ${hint}`))).toBeDefined();
    expect(complaints).toEqual([]);
  }
});

test('[PRM6] long enumerations are cut and counted', () => {
  const values = Array.from({ length: 500 }, (_, i) => `S${i}`);
  expect(notationOf({ enum: values })).toBe(
    `${values
      .slice(0, 12)
      .map((v) => JSON.stringify(v))
      .join(' | ')} | ... (500 values)`,
  );
});

test('[PRM6] the procedure block names fields, verbs, documentation and actions, and read-only fields as such', () => {
  const format = answerFormat(loadState(boardState, sha256), boardSkill());
  for (const text of Object.values(format)) {
    expect(text).toContain('- done (counter; inc): Finished cards. A sum; inc adds a signed whole number. Patch: {"inc"');
    expect(text).toContain('- budget: Set by the boss. You may read it, not write it.');
    expect(text).toContain(
      '- {"name": "move", "args": {"card": string of 1 to 40 characters, "column": integer 0 to 9, "note"?: string of up to 40 characters}}: Moves a card to a column.',
    );
  }
  expect(format.fenced).toContain('```json\n{"patch": {}, "action": null}\n```');
  expect(format.strict).toContain('"at": [{"key": string of 1 to 64 characters, "change":');
  expect(answerFormat(loadState(boardState, sha256), boardSkill({ role: 'boss' })).fenced).toContain('- budget (counter; inc):');
  expect(answerFormat(loadState(boardState, sha256), boardSkill({ actions: {} })).fenced).toContain('There are no actions.');
});

test('[PRM6] a field whose documentation has several lines stays on one', () => {
  const state: StateDefinition<Fields> = { name: 's', version: 1, fields: { a: field(counter(), { doc: 'one\n- b: two' }) } };
  const lines = answerFormat(loadState(state, sha256), { role: 'agent', actions: {} }).fenced.split('\n');
  expect(lines.filter((line) => line.startsWith('- '))).toEqual([
    '- a (counter; inc): One - b: two. A sum; inc adds a signed whole number. Patch: {"inc"?: integer}',
  ]);
});
