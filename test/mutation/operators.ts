/**
 * Single-line faults that can be planted in a source, found by rule in its syntax tree. SPEC: MUT1-MUT3.
 */
import { createHash } from 'node:crypto';
import { parse } from '../house/source.ts';
import type { Node } from '../house/source.ts';

/** One fault: `[start, end)` of the file, inside one line, gives way to `text`. `was` and `becomes` are that line, trimmed. */
export type Mutant = {
  readonly id: string;
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly operator: Operator;
  readonly was: string;
  readonly becomes: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
};

/** What the operators do, in the words of the page. */
export const OPERATORS = {
  'check off': 'the condition of an if is false',
  'check on': 'the condition of an if is true',
  'choice first': 'a choice of two takes the first',
  'choice second': 'a choice of two takes the second',
  'call dropped': 'a statement that calls (a refusal, a note, a push) does nothing',
  'write dropped': 'an assignment is left out',
  'order swapped': 'a comparison for an order compares the other way round',
  'sort dropped': 'what was sorted or reversed stays as it came',
  edge: 'a comparison takes in its edge, or leaves it out',
  'equality turned': '=== for !==, and the other way round',
  'plus one': 'a version (revision, n, depth, horizon, fence, ...) is one greater',
  'one less': 'what is added or taken away at a version or an index is left out',
  'and/or': '&& for ||, and the other way round',
  'not dropped': 'a negation is left out',
  'min/max': 'min for max, and the other way round',
  'every/some': 'every for some, and the other way round',
  'all seen': 'everything counts as seen',
  'none seen': 'nothing counts as seen',
  'mark kept': 'the mark stays that of the change before',
  'mark bare': 'the mark forgets the changes before',
  'field of a text': 'a field of an encoding, a digest or a key is a constant',
} as const;

export type Operator = keyof typeof OPERATORS;

/**
 * Every fault that the operators find in a source, in the order of its text. Types and words for people (hints, summaries,
 * messages of errors) are left alone. An id is a digest of the path, the line, the operator and the change, so it stays when
 * other lines change. O(size of the source).
 */
export function mutantsOf(path: string, text: string): readonly Mutant[] {
  const edits: Edit[] = [];
  collect(parse(path, text).program, [], text, edits);
  const seen = new Map<string, number>();
  const changes = new Set<string>();
  const mutants: Mutant[] = [];
  for (const edit of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    const { operator, start, end, text: replacement } = edit;
    const change = `${start} ${end} ${replacement}`;
    const old = text.slice(start, end);
    if (old.includes('\n') || old === replacement || changes.has(change)) continue;
    changes.add(change);
    const lineStart = text.lastIndexOf('\n', start - 1) + 1;
    const lineEnd = (text.indexOf('\n', end) + text.length + 1) % (text.length + 1);
    const was = text.slice(lineStart, lineEnd).trim();
    const becomes = `${text.slice(lineStart, start)}${replacement}${text.slice(end, lineEnd)}`.trim();
    const key = JSON.stringify([path, operator, was, becomes]);
    const twin = seen.get(key) ?? 0;
    seen.set(key, twin + 1);
    mutants.push({
      id: createHash('sha256').update(`${key} ${twin}`).digest('hex').slice(0, 10),
      path,
      line: text.slice(0, start).split('\n').length,
      operator,
      was,
      becomes,
      start,
      end,
      text: replacement,
    });
  }
  return mutants;
}

/** The source with the fault in it. */
export function planted(text: string, { start, end, text: replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

type Edit = Pick<Mutant, 'operator' | 'start' | 'end' | 'text'>;
type Span = Node & { readonly start: number; readonly end: number };

/** Members and variables whose text is for people. */
const WORDS = /^(?:hint|summary|why|message|words|description)$/;
/** Functions that write what is stored, hashed or sorted by. */
const TEXTS = /encode|digest|text|key|canonical/i;
const VERSIONS =
  /^(?:revision|n|depth|horizon|fence|token|floor|turned|incarnation|base|least|newest|known|term|since|cap|keep)$/;
const EDGES: ReadonlyMap<string, string> = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
]);
const SWAPS: ReadonlyMap<string, readonly [Operator, string]> = new Map([
  ['min', ['min/max', 'max']],
  ['max', ['min/max', 'min']],
  ['every', ['every/some', 'some']],
  ['some', ['every/some', 'every']],
]);

function collect(given: unknown, above: readonly Node[], text: string, edits: Edit[]): void {
  if (Array.isArray(given)) {
    for (const one of given) collect(one, above, text, edits);
    return;
  }
  if (!isNode(given) || isIdle(given)) return;
  editsAt(given, above, text, edits);
  const below = [given, ...above];
  for (const [member, value] of Object.entries(given)) {
    if (typeof value === 'object' && !isLabel(given, member)) collect(value, below, text, edits);
  }
}

function editsAt(node: Span, above: readonly Node[], text: string, edits: Edit[]): void {
  const put = (operator: Operator, at: Span, replacement: string): void => {
    edits.push({ operator, start: at.start, end: at.end, text: replacement });
  };
  const source = (at: Span): string => text.slice(at.start, at.end);
  if (node.type === 'IfStatement') {
    put('check off', node['test'] as Span, 'false');
    put('check on', node['test'] as Span, 'true');
  } else if (node.type === 'ConditionalExpression') {
    const [test, first, second] = ['test', 'consequent', 'alternate'].map((part) => node[part] as Span) as [Span, Span, Span];
    if (sideOf(first) !== undefined && sideOf(first) === -(sideOf(second) ?? 0)) {
      edits.push({
        operator: 'order swapped',
        start: first.start,
        end: second.end,
        text: `${source(second)} : ${source(first)}`,
      });
    }
    put('choice first', test, 'true');
    put('choice second', test, 'false');
  } else if (node.type === 'ExpressionStatement') {
    const { type } = node['expression'] as Span;
    if (type === 'CallExpression')
      edits.push({ operator: 'call dropped', start: node.start, end: node.start, text: 'false && ' });
    if (type === 'AssignmentExpression') put('write dropped', node, ';');
  } else if (node.type === 'LogicalExpression') {
    const swapped = { '&&': '||', '||': '&&' }[node['operator'] as string];
    const comparison = above.find(({ type }) => type !== 'LogicalExpression' && type !== 'ParenthesizedExpression');
    if (swapped !== undefined && !isOrder(node, comparison)) putSign('and/or', node, swapped);
  } else if (node.type === 'BinaryExpression') {
    editsOfBinary(node, above, source, put, putSign);
  } else if (node.type === 'UnaryExpression' && node['operator'] === '!') {
    put('not dropped', node, source(node['argument'] as Span));
  } else if (node.type === 'CallExpression') {
    editsOfCall(node, source, put);
  } else if (node.type === 'TemplateLiteral' && TEXTS.test(ownerOf(above))) {
    for (const hole of node['expressions'] as readonly Span[]) put('field of a text', hole, '0');
  } else if (node.type === 'Property' && isVersion(node['value'] as Span)) {
    const value = node['value'] as Span;
    put('plus one', node, node['shorthand'] === true ? `${source(value)}: ${source(value)} + 1` : `${source(node)} + 1`);
  }

  function putSign(operator: Operator, pair: Span, sign: string): void {
    const [left, right] = [pair['left'] as Span, pair['right'] as Span];
    const between = text.slice(left.end, right.start);
    const at = left.end + between.indexOf(pair['operator'] as string);
    edits.push({ operator, start: at, end: at + (pair['operator'] as string).length, text: sign });
  }
}

function editsOfBinary(
  node: Span,
  above: readonly Node[],
  source: (at: Span) => string,
  put: (operator: Operator, at: Span, replacement: string) => void,
  putSign: (operator: Operator, pair: Span, sign: string) => void,
): void {
  const [sign, left, right] = [node['operator'] as string, node['left'] as Span, node['right'] as Span];
  const edge = EDGES.get(sign);
  if (edge !== undefined && above[0]?.type !== 'ForStatement') putSign('edge', node, edge);
  if (sign === '===' || sign === '!==') putSign('equality turned', node, sign === '===' ? '!==' : '===');
  if (['<', '<=', '>', '>=', '===', '!=='].includes(sign)) {
    if (isVersion(left)) put('plus one', left, `${source(left)} + 1`);
    else if (isVersion(right)) put('plus one', right, `${source(right)} + 1`);
  }
  if ((sign === '+' || sign === '-') && right.type === 'Literal' && right['value'] === 1) put('one less', node, source(left));
  if (sign === '-' && /^compare|sort/i.test(ownerOf(above))) put('order swapped', node, `${source(right)} - ${source(left)}`);
}

function editsOfCall(
  node: Span,
  source: (at: Span) => string,
  put: (operator: Operator, at: Span, replacement: string) => void,
): void {
  const callee = node['callee'] as Span;
  const given = node['arguments'] as readonly Span[];
  const name = nameOf(callee);
  const [first, second] = given;
  if (name.startsWith('compare') && first !== undefined && second !== undefined && given.length === 2) {
    put('order swapped', node, `${source(callee)}(${source(second)}, ${source(first)})`);
  }
  if (name === 'summed' && first !== undefined && second !== undefined) {
    put('mark kept', node, source(first));
    put('mark bare', node, source(second));
  }
  if (/^(?:sees|seesAll|sawAll)$/.test(name)) {
    put('all seen', node, 'true');
    put('none seen', node, 'false');
  }
  if (callee.type !== 'MemberExpression') return;
  const swap = SWAPS.get(name);
  if (swap !== undefined) put(swap[0], callee['property'] as Span, swap[1]);
  const object = callee['object'] as Span;
  if (/^(?:sort|reverse)$/.test(name)) put('sort dropped', node, source(object));
  if (/^(?:toSorted|toReversed)$/.test(name)) put('sort dropped', node, `${source(object)}.slice()`);
  if (name === 'max' || name === 'min') for (const one of given) if (isVersion(one)) put('plus one', one, `${source(one)} + 1`);
}

function isNode(value: unknown): value is Span {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string';
}

/** Types are erased; words are for people; an import cannot be wrong by one. */
function isIdle(node: Span): boolean {
  if (/^TS(?!AsExpression|NonNull|Satisfies)/.test(node.type) || node.type === 'ImportDeclaration') return true;
  if (node.type === 'Property' || node.type === 'VariableDeclarator') {
    return WORDS.test(nameOf((node['key'] ?? node['id']) as Span));
  }
  if (node.type === 'NewExpression') return nameOf(node['callee'] as Span).endsWith('Error');
  return node.type === 'CallExpression' && /^(?:invariant|malformed)$/.test(nameOf(node['callee'] as Span));
}

/** Members of a node that hold no code that runs. */
function isLabel(node: Span, member: string): boolean {
  if (member === 'typeAnnotation' || member === 'returnType' || member === 'typeParameters' || member === 'typeArguments')
    return true;
  return (
    member === 'params' ||
    (node.type === 'VariableDeclarator' && member === 'id') ||
    (node.type === 'Property' && member === 'key')
  );
}

/** A chain such as `a - b || c - d` is an order: its ors join keys. */
function isOrder(node: Span, above: Node | undefined): boolean {
  return (
    node['operator'] === '||' &&
    (above?.type === 'ReturnStatement' || above?.type === 'ArrowFunctionExpression') &&
    [node['right'] as Span, node['left'] as Span].some(
      (side) =>
        (side.type === 'BinaryExpression' && side['operator'] === '-') ||
        (side.type === 'CallExpression' && nameOf(side['callee'] as Span).startsWith('compare')),
    )
  );
}

/** The number that an arm of a comparison gives; `undefined` for another arm. */
function sideOf(arm: Span): number | undefined {
  if (arm.type === 'Literal' && typeof arm['value'] === 'number' && arm['value'] !== 0) return arm['value'];
  if (arm.type === 'UnaryExpression' && arm['operator'] === '-') {
    const side = sideOf(arm['argument'] as Span);
    return side === undefined ? undefined : -side;
  }
  return undefined;
}

function isVersion(node: Span): boolean {
  return (node.type === 'Identifier' || node.type === 'MemberExpression') && VERSIONS.test(nameOf(node));
}

/** The name of the function, the member, the variable or the sort that a node is part of. */
function ownerOf(above: readonly Node[]): string {
  for (const node of above) {
    if (node.type === 'FunctionDeclaration') return nameOf(node['id'] as Span);
    if (node.type === 'CallExpression' && /[sS]ort(?:ed)?$/.test(nameOf(node['callee'] as Span))) return 'sort';
    if (node.type === 'Property' || node.type === 'MethodDefinition') return nameOf(node['key'] as Span);
    if (node.type === 'VariableDeclarator') return nameOf(node['id'] as Span);
  }
  return '';
}

function nameOf(node: Span | undefined): string {
  if (node === undefined || node === null) return '';
  if (node.type === 'Identifier' || node.type === 'PrivateIdentifier') return node['name'] as string;
  return node.type === 'MemberExpression' ? nameOf(node['property'] as Span) : '';
}
