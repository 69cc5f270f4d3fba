/**
 * Reducers among the exports of a module, known by their shape alone: LangGraph's state fields and channels, declarations with
 * examples or types, and plain functions. Nothing of LangGraph is imported.
 *
 * LangGraph marks what it makes: `ReducedValue` and `DeltaValue` by a symbol, `Annotation` and channels by `lc_graph_name`. A channel
 * without a default takes its first update as its state; a delta channel without one begins with an empty list, and has a reducer
 * that takes all writes of a step at once.
 */
import { compareText } from '@oplus/core';
import { isPlain } from './live-value.ts';

type Reduce = (state: unknown, update: unknown) => unknown;
type Batch = (state: unknown, updates: readonly unknown[]) => unknown;

/** `name` is the path from the export. One of `reduce` and `batch` is there at least. */
export type FoundReducer = {
  readonly name: string;
  readonly shape: 'ReducedValue' | 'DeltaValue' | 'Annotation' | 'DeltaChannel' | 'declaration' | 'function';
  readonly reduce?: Reduce;
  readonly batch?: Batch;
  /** Makes the first state. */
  readonly start?: () => unknown;
  /** Standard Schemas of state and updates. */
  readonly stateSchema?: unknown;
  readonly updateSchema?: unknown;
  readonly updates?: readonly unknown[];
};

/** Every reducer that is exported, in the order of the exports' names. What is exported twice is found once. */
export function reducersIn(exports: { readonly [name: string]: unknown }): readonly FoundReducer[] {
  const { examples, ...others } = exports;
  const named = Object.entries(others).toSorted(([a], [b]) => compareText(a, b));
  const seen = new Set<unknown>();
  const found = named.flatMap(([name, value]) => reducersOf(name, value, seen));
  const used = new Set<unknown>(found.flatMap(({ reduce, batch }) => [reduce, batch]));
  const bare = named.flatMap(([name, value]) =>
    isBareFunction(value) && !used.has(value) ? [{ name, shape: 'function' as const, reduce: value }] : [],
  );
  return [...found, ...bare].map((one) => withExamples(one, isPlain(examples) ? examples : {}));
}

const REDUCED_VALUE = Symbol.for('langgraph.state.reduced_value');
const DELTA_VALUE = Symbol.for('langgraph.state.delta_value');
const STATE_SCHEMA = Symbol.for('langgraph.state.state_schema');

type Marked = { readonly [key: string | symbol]: unknown };

function reducersOf(name: string, value: unknown, seen: Set<unknown>): readonly FoundReducer[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  try {
    const marked = value as Marked;
    const fields =
      marked['lc_graph_name'] === 'AnnotationRoot'
        ? marked['spec']
        : marked[STATE_SCHEMA] === true
          ? marked['fields']
          : undefined;
    if (typeof fields === 'object' && fields !== null)
      return Object.entries(fields).flatMap(([field, below]) => reducersOf(`${name}.${field}`, below, seen));
    const found = fieldOf(name, marked) ?? channelOf(name, marked) ?? declarationOf(name, marked);
    return found === undefined ? [] : [found];
  } catch {
    // An export that cannot be read, such as a revoked proxy, is no reducer.
    return [];
  }
}

function fieldOf(name: string, value: Marked): FoundReducer | undefined {
  const isDelta = value[DELTA_VALUE] === true;
  const { reducer, valueSchema, inputSchema } = value;
  if ((!isDelta && value[REDUCED_VALUE] !== true) || typeof reducer !== 'function') return undefined;
  const start = defaultOf(valueSchema) ?? (isDelta ? () => [] : undefined);
  return {
    name,
    shape: isDelta ? 'DeltaValue' : 'ReducedValue',
    ...(isDelta ? { batch: reducer as Batch } : { reduce: reducer as Reduce }),
    ...(start === undefined ? {} : { start }),
    stateSchema: valueSchema,
    updateSchema: inputSchema,
  };
}

function channelOf(name: string, value: Marked): FoundReducer | undefined {
  const { lc_graph_name: kind, operator, reducer, initialValueFactory } = value;
  const start = typeof initialValueFactory === 'function' ? { start: initialValueFactory as () => unknown } : {};
  if (kind === 'BinaryOperatorAggregate' && typeof operator === 'function')
    return { name, shape: 'Annotation', reduce: operator as Reduce, ...start };
  if (kind === 'DeltaChannel' && typeof reducer === 'function')
    return { name, shape: 'DeltaChannel', batch: reducer as Batch, ...start };
  return undefined;
}

/** `{ reduce, start, updates }` with examples, or `{ reduce, start, state, update }` with types; `batch` beside or instead of `reduce`. */
function declarationOf(name: string, value: Marked): FoundReducer | undefined {
  if (!isPlain(value)) return undefined;
  const { reduce, batch, start, updates, state, update } = value;
  const hasReduce = typeof reduce === 'function';
  const hasBatch = typeof batch === 'function';
  if ((!hasReduce && !hasBatch) || !('start' in value)) return undefined;
  return {
    name,
    shape: 'declaration',
    ...(hasReduce ? { reduce: reduce as Reduce } : {}),
    ...(hasBatch ? { batch: batch as Batch } : {}),
    start: typeof start === 'function' ? (start as () => unknown) : () => start,
    ...(Array.isArray(updates) ? { updates: updates as readonly unknown[] } : {}),
    ...(state === undefined ? {} : { stateSchema: state }),
    ...(update === undefined ? {} : { updateSchema: update }),
  };
}

/** The module may export `examples`: the name of a reducer, or of its field, to a list of updates. */
function withExamples(found: FoundReducer, examples: { readonly [name: string]: unknown }): FoundReducer {
  for (const key of [found.name, fieldName(found.name)]) {
    const updates = Object.hasOwn(examples, key) ? examples[key] : undefined;
    if (Array.isArray(updates)) return { ...found, updates: updates as readonly unknown[] };
  }
  return found;
}

/** The last part of a name: that of the field in its state. */
export function fieldName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** What a schema makes of nothing, where it makes something. */
function defaultOf(schema: unknown): (() => unknown) | undefined {
  const read = readBy(schema, undefined);
  return read === undefined || read.value === undefined ? undefined : () => readBy(schema, undefined)?.value;
}

/** A value as a Standard Schema reads it; `undefined` when it does not, or not at once. */
export function readBy(schema: unknown, value: unknown): { readonly value: unknown } | undefined {
  const validate = standardOf(schema)?.['validate'];
  if (typeof validate !== 'function') return undefined;
  try {
    const read = (validate as (given: unknown) => unknown)(value);
    if (typeof read !== 'object' || read === null || !('value' in read) || ('issues' in read && read.issues !== undefined))
      return undefined;
    return { value: read.value };
  } catch {
    return undefined;
  }
}

/** The JSON Schema of what a Standard Schema takes; `undefined` where it has none. */
export function jsonSchemaOf(schema: unknown): { readonly [key: string]: unknown } | undefined {
  const made = standardOf(schema)?.['jsonSchema'];
  if (typeof made !== 'object' || made === null || !('input' in made) || typeof made.input !== 'function') return undefined;
  try {
    const json = (made.input as (options: object) => unknown)({ target: 'draft-2020-12' });
    return isPlain(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

function standardOf(schema: unknown): Marked | undefined {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return undefined;
  const standard = (schema as Marked)['~standard'];
  return typeof standard === 'object' && standard !== null ? (standard as Marked) : undefined;
}

function isBareFunction(value: unknown): value is Reduce {
  return typeof value === 'function' && value.length === 2 && !/^class\b/.test(Function.prototype.toString.call(value));
}
