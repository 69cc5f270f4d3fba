/**
 * Field kinds from their declarations: the way back from a contract.
 */
import { z } from 'zod';
import { OplusError } from './error.ts';
import { placedAt, soundKind } from './fault.ts';
import type { Field } from './field-kind.ts';
import { isJsonObject } from './json.ts';
import type { Json, JsonObject } from './json.ts';
import { claim } from './kinds/claim.ts';
import { counter, quota } from './kinds/counter.ts';
import { derived } from './kinds/derived.ts';
import { max, min } from './kinds/extremum.ts';
import { group } from './kinds/group.ts';
import { growSet } from './kinds/grow-set.ts';
import { lattice } from './kinds/lattice.ts';
import { log } from './kinds/log.ts';
import { machine } from './kinds/machine.ts';
import { map } from './kinds/map.ts';
import { multi } from './kinds/multi.ts';
import { owned } from './kinds/owned.ts';
import { records } from './kinds/records.ts';
import { reduce } from './kinds/reduce.ts';
import { cas, lww, priority } from './kinds/register.ts';
import { removeWins } from './kinds/remove-wins.ts';
import { set } from './kinds/set.ts';
import { text } from './kinds/text.ts';
import { topK } from './kinds/top-k.ts';
import { vote } from './kinds/vote.ts';
import type { RuleAnswer, RuleContext } from './state-schema.ts';
import { field } from './state-schema.ts';

/** What a contract names and cannot hold. Functions stand under the path of their field: `score`, `tasks/points`. */
export type ContractCode = {
  readonly checks?: { readonly [rule: string]: (context: RuleContext<{ readonly [field: string]: unknown }>) => RuleAnswer };
  readonly functions?: { readonly [path: string]: (...given: never[]) => Json };
  /** Kinds of other rooms by name, each made of the options that its declaration holds: `{ document }`. */
  readonly kinds?: { readonly [name: string]: (options: never) => Field };
};

type Reading = { readonly code: ContractCode; readonly doc?: Json | undefined };

/** The kind that a declaration was made of. `place` is where it stands in the state. Throws `SCHEMA_INVALID` at `path` or below. */
export function kindOfDeclaration(declaration: Json, path: string, place: string, { code, doc }: Reading): Field {
  if (!isJsonObject(declaration)) throw invalid(path, 'a declaration is an object');
  const { kind: name, writers, eraseMax, ...options } = declaration;
  const builder: Builder | undefined =
    typeof name === 'string' ? (ownOf(BUILDERS, name) ?? (ownOf(code.kinds, name) as Builder | undefined)) : undefined;
  if (builder === undefined) throw invalid(path, `no kind of this package is called ${String(name)}: give it in kinds`);
  const site: Site = {
    below: (one, token) => kindOfDeclaration(one, `${path}/${token}`, `${place}/${token}`, { code }),
    functionOf: () => {
      const given = ownOf(code.functions, place);
      if (given === undefined) throw invalid(path, `the function of ${place} is code: give it in functions`);
      return given as never;
    },
  };
  const kind = sound(path, () => builder(options as Options, site));
  const meta = { doc, writers, eraseMax };
  const said = Object.fromEntries(Object.entries(meta).filter(([, value]) => value !== undefined));
  const made = Object.keys(said).length === 0 ? kind : field(kind, said);
  placedAt(path, () => soundKind(made));
  return made;
}

/** What `make` gives. Options that are no options of the kind make it throw anything: that becomes `SCHEMA_INVALID` at `path`. */
export function sound<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof OplusError && cause.code === 'SCHEMA_INVALID') throw cause;
    throw invalid(path, 'what it says there cannot be read', cause);
  }
}

/** What a record holds under a name of its own. */
export function ownOf<T>(record: { readonly [name: string]: T } | undefined, name: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** Options as a declaration wrote them: of whatever type the kind takes, which checks them itself. */
type Options = Readonly<Record<OptionName, never>>;
type OptionName =
  | ('type' | 'of' | 'cap' | 'keys' | 'cells' | 'ids' | 'outcome' | 'leaseMs' | 'start' | 'state' | 'update' | 'from')
  | ('lo' | 'hi' | 'edges' | 'moves' | 'options' | 'voters' | 'quorum' | 'k' | 'by' | 'keep' | 'charsMax' | 'rule');
type Builder = (options: Options, site: Site) => Field;
type Site = { below(declaration: Json, token: string): Field; functionOf(): never };

/** By name of the kind. Options are what `declaration` wrote; what is wrong with them is said by the kind itself. */
const BUILDERS: { readonly [kind: string]: Builder } = {
  cas: ({ type, ...rest }) => cas(typeOf(type), rest),
  lww: ({ type, ...rest }) => lww(typeOf(type), rest),
  priority: ({ type, ...rest }) => priority(typeOf(type), rest),
  multi: ({ type, ...rest }) => multi(typeOf(type), rest),
  owned: ({ type, ...rest }) => owned(typeOf(type), rest),
  group: ({ type, ...rest }) => group(partsOf(type), rest as never) as Field,
  claim: ({ outcome, ...rest }) => claim({ outcomeCharsMax: charsOf(outcome), ...rest }),
  max: (options) => max(options),
  min: (options) => min(options),
  counter: ({ start }) => counter({ start }),
  quota: (options) => quota(options),
  escrow: (options) => quota({ ...options, mode: 'escrow' } as never),
  lattice: (options) => lattice(options),
  machine: (options) => machine(options),
  vote: (options) => vote(options),
  'grow-set': ({ of, cap }) => growSet(typeOf(of), { cap }),
  'remove-wins': ({ of, cap }) => removeWins(typeOf(of), { cap }),
  set: ({ of, cap }) => set(typeOf(of), { cap }),
  'top-k': ({ of, ...rest }) => topK(typeOf(of), rest),
  log: ({ of, ...rest }) => log(typeOf(of), rest),
  map: ({ of, keys, cap }, { below }) => map(below(of, '*'), { cap, keys: typeOf(keys) as z.ZodType<string> }),
  records: ({ cells, ids, cap }, { below }) =>
    records(Object.fromEntries(Object.entries<Json>(cells).map(([name, cell]) => [name, below(cell, name)])), {
      cap,
      ids: typeOf(ids) as z.ZodType<string>,
    }),
  text: (options) => text(options),
  reduce: ({ state, update, start }, { functionOf }) =>
    reduce({ state: typeOf(state), update: typeOf(update), start, reduce: functionOf() }),
  derived: ({ type, from }, { functionOf }) =>
    derived(typeOf(type), {
      from: Object.fromEntries(namesIn(from).map((name) => [name, counter()])),
      compute: functionOf(),
    }) as Field,
};

function namesIn(from: readonly string[]): readonly string[] {
  return from;
}

function charsOf(schema: JsonObject): number {
  return schema['maxLength'] as number;
}

function typeOf(schema: Json): z.ZodType<Json> {
  return z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema) as z.ZodType<Json>;
}

function partsOf(schema: JsonObject): { readonly [name: string]: z.ZodType } {
  const properties = schema['properties'] as JsonObject;
  return Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, typeOf(part)]));
}

function invalid(path: string, message: string, cause?: unknown): OplusError {
  return new OplusError('SCHEMA_INVALID', `the contract: ${message}`, {
    path,
    hint: 'Make the contract again from the definition.',
    cause,
  });
}
