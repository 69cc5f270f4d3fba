import { describe, expect, test } from 'vitest';
import { mutantsOf, OPERATORS, planted } from './operators.ts';
import type { Operator } from './operators.ts';

/** What the operator makes of a source of one line. */
function made(operator: Operator, text: string): readonly string[] {
  return mutantsOf('a.ts', text).flatMap((mutant) => (mutant.operator === operator ? planted(text, mutant) : []));
}

/** By operator: a line, and each line that it makes of it. */
const EXAMPLES: { readonly [operator in Operator]: readonly [string, ...string[]] } = {
  'check off': ['if (a(b)) c();', 'if (false) c();'],
  'check on': ['if (a(b)) c();', 'if (true) c();'],
  'choice first': ['x = a(b) ? c : d;', 'x = true ? c : d;'],
  'choice second': ['x = a(b) ? c : d;', 'x = false ? c : d;'],
  'call dropped': ['attempt.refuse(path, held());', 'false && attempt.refuse(path, held());'],
  'write dropped': ['cells = judged.cells;', ';'],
  'order swapped': [
    'const compareWin = (a, b) => a.depth - b.depth || compareText(a.agent, b.agent) || (a.n < b.n ? -1 : 1);',
    'const compareWin = (a, b) => b.depth - a.depth || compareText(a.agent, b.agent) || (a.n < b.n ? -1 : 1);',
    'const compareWin = (a, b) => a.depth - b.depth || compareText(b.agent, a.agent) || (a.n < b.n ? -1 : 1);',
    'const compareWin = (a, b) => a.depth - b.depth || compareText(a.agent, b.agent) || (a.n < b.n ? 1 : -1);',
  ],
  'sort dropped': ['x = a.toSorted(by);', 'x = a.slice();'],
  edge: ['x = a >= b;', 'x = a > b;'],
  'equality turned': ['x = a !== b;', 'x = a === b;'],
  'plus one': [
    'x = { revision, kind: cell.n };',
    'x = { revision: revision + 1, kind: cell.n };',
    'x = { revision, kind: cell.n + 1 };',
  ],
  'one less': ['x = space.revision + 1;', 'x = space.revision;'],
  'and/or': ['x = a && (b || c);', 'x = a || (b || c);', 'x = a && (b && c);'],
  'not dropped': ['x = !a.has(b);', 'x = a.has(b);'],
  'min/max': ['x = Math.min(a, b);', 'x = Math.max(a, b);'],
  'every/some': ['x = a.every(b);', 'x = a.some(b);'],
  'all seen': ['x = attempt.sees(mark);', 'x = true;'],
  'none seen': ['x = attempt.sees(mark);', 'x = false;'],
  'mark kept': ['x = summed(cell.mark, attempt.mark);', 'x = cell.mark;'],
  'mark bare': ['x = summed(cell.mark, attempt.mark);', 'x = attempt.mark;'],
  'field of a text': [
    'function encode(a) { return `${a.x},${a.y}`; }',
    'function encode(a) { return `${0},${a.y}`; }',
    'function encode(a) { return `${a.x},${0}`; }',
  ],
};

describe('operators', () => {
  test.each(Object.keys(OPERATORS) as Operator[])('[MUT2] %s', (operator) => {
    const [line, ...wanted] = EXAMPLES[operator];
    expect(made(operator, line)).toEqual(wanted);
  });

  test('[MUT2] what only looks like it is left alone', () => {
    expect(made('field of a text', 'function greet(a) { return `${a.x}`; }')).toEqual([]);
    expect(made('order swapped', 'x = a - b;')).toEqual([]);
    expect(made('and/or', 'const compare = (a, b) => a.n - b.n || compareText(a.x, b.x);')).toEqual([]);
    expect(made('plus one', 'x = a.kind === b.name;')).toEqual([]);
    expect(made('min/max', 'x = a.toString();')).toEqual([]);
  });

  test('[MUT1] types, imports and words for people are left alone', () => {
    const source = [
      "import { a as b } from 'c';",
      'type T<A> = A extends string ? 1 : 2;',
      'const x = { hint: a > b ? "more" : "less", summary: a === b ? "same" : "" };',
      'throw new OplusError("USAGE", a > b ? "more" : "less");',
      'invariant(a > b, "more");',
    ];
    expect(mutantsOf('a.ts', source.join('\n')).map(({ becomes }) => becomes)).toEqual(['false && invariant(a > b, "more");']);
  });

  test('[MUT1] every fault is one line, another one than before, and no two are the same', () => {
    const source = 'function f(a, b) {\n  if (a.some(\n    b)) return;\n  return a.n === b.n && !a.x\n    ? 1 : -1;\n}\n';
    const sources = mutantsOf('a.ts', source).map((mutant) => planted(source, mutant));
    expect(sources.length).toBeGreaterThan(5);
    expect(new Set([source, ...sources]).size).toBe(sources.length + 1);
    for (const one of sources) {
      const changed = one.split('\n').filter((line, i) => line !== source.split('\n')[i]);
      expect([one.split('\n').length, changed.length]).toEqual([source.split('\n').length, 1]);
    }
  });

  test('[MUT3] an id stays when other lines come and go, and no two faults share one', () => {
    const line = 'if (a > b) return c;\n';
    const idsOf = (text: string): readonly string[] => mutantsOf('a.ts', `function f(a, b, c) {\n${text}}\n`).map(({ id }) => id);
    const ids = idsOf(line);
    expect(ids).toHaveLength(3);
    expect(idsOf(`if (d) return;\n${line}`)).toEqual(expect.arrayContaining([...ids]));
    expect(idsOf(`${line}${line}`).slice(0, 3)).toEqual(ids);
    expect(new Set(idsOf(`${line}${line}`)).size).toBe(6);
    expect(mutantsOf('b.ts', `function f(a, b, c) {\n${line}}\n`).some(({ id }) => ids.includes(id))).toBe(false);
  });
});
