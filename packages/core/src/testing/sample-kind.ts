/**
 * All that the tests know of one field kind: what to try, what a second, naive implementation does, and what must never be
 * seen. Each kind has a file under `samples/`; samples/registry.ts lists them.
 */
import type { Dot } from '../dot.ts';
import type { ExpiryCause, Field } from '../field-kind.ts';
import type { Json, JsonObject } from '../json.ts';
import type { Choice } from './choice.ts';
import type { Leaf } from './leaf.ts';
import { newCell } from './naive-cell.ts';
import type { NaiveCell, NaiveTrial } from './naive-cell.ts';
import type { FieldSpec } from './spec.ts';

/** `Spec` is this kind's options as plain data, `Own` what its naive cells hold beside the common part. */
export interface SampleKind<Spec extends FieldSpec = FieldSpec, Own = unknown> {
  /** The name of the real kind, and of its specs. */
  readonly kind: string;
  /** Holds cells of other kinds: drawn twice as often, and never deeper than two levels. */
  readonly isCollection?: true;
  /** Fields that make a sample state alone, plainest first. */
  readonly simple: readonly FieldSpec[];
  /** Of a kind that was there before state 48: fields that came later and make a sample state alone from there on. */
  readonly later?: readonly FieldSpec[];

  /** A random spec with tight caps and ranges, so that they are reached. `draw` makes what stands below. */
  random(choice: Choice, depth: number, draw: (depth: number) => FieldSpec): FieldSpec;
  /** The real kind. */
  field(spec: Spec): Field;
  /** What a patch may ask for; about one in twenty is refused by its type or range. */
  intent(spec: Spec, choice: Choice): Json;

  /** The naive model: what an empty cell holds of its own, as plain data. */
  own?(spec: Spec): Own;
  /** The naive model: folds one operation into the cell, which it may write to. */
  fold(trial: NaiveTrial, spec: Spec, cell: NaiveCell<Own>, verbs: JsonObject, path: string): void;
  /** The naive model: the value as JSON. */
  json(spec: Spec, cell: NaiveCell<Own>): Json;
  /** The naive model: what happens once at the seal. */
  settle?(spec: Spec, cell: NaiveCell<Own>, path: string, evict: NaiveEvict): void;
  /** The naive model: whether others hold nothing in the cell that forbids the agent to drop what it stands in. */
  mayDrop?(trial: NaiveTrial, spec: Spec, cell: NaiveCell<Own>): boolean;
  /** The naive model: ends what the event names below `tokens`; whether something did. A kind with timers needs it. */
  expire?(spec: Spec, cell: NaiveCell<Own>, tokens: readonly string[], expiry: NaiveExpiry): boolean;
  /** The naive model: what a premise finds below one token. Without it a premise stops at the cell itself. */
  child?(spec: Spec, cell: NaiveCell<Own>, token: string): Place | undefined;

  /** T7: what is wrong with the value, such as a bound that does not hold. */
  outside(spec: Spec, json: Json): string | undefined;

  // T5. A kind without any of these is checked for nothing; the test of the registry lists which kinds have which.
  /** Of a collection: what the operation drops and asks of the cells below. Without it the operation is one leaf. */
  parts?(spec: Spec, verbs: JsonObject, dot: Dot): readonly Part[];
  /**
   * Whether the operation put one aside that it had not seen, without a word. `writers` holds what must be seen before it may
   * go, under its path or a path below; the hook adds and deletes.
   */
  replacedUnseen?(spec: Spec, leaf: Leaf, writers: Map<string, Leaf>): string | undefined;
  /**
   * Whether the operation cannot be seen in `json`, the value after its round, though none of the `rivals` (later ones of the
   * round at the same path) rightly took its place. Not asked when the verdict says `superseded` or `unchanged` of the whole.
   */
  invisible?(spec: Spec, leaf: Leaf, rivals: readonly Leaf[], json: Json | undefined): string | undefined;
  /** True when the verdict says of each part of the operation that it did nothing, or lost. */
  isQuiet?(spec: Spec, leaf: Leaf): boolean;
  /** What the operation counts: each round must move by the sum. */
  count?(spec: Spec, verbs: JsonObject): Count;
}

/** Where counting starts, by how much the operation moves it, and the property of the value that holds it, if it is one. */
export type Count = { readonly start: number; readonly by: number; readonly within?: string };

/** Tells who made the operation at `path` that its effect is gone. */
export type NaiveEvict = (path: string, dot: string) => void;

/** An expiry of the log. `dot` stands for the change that it makes; `revisionOf` says when that of a proposal took effect. */
export type NaiveExpiry = {
  readonly token: number;
  readonly cause: ExpiryCause;
  readonly dot: string;
  revisionOf(dot: string): number | undefined;
};

/** Where a premise may stand: what must have been seen there, and what is below. */
export type Place = { readonly dots: readonly string[]; below(token: string): Place | undefined };

/** One operation below a collection; `tokens` lead to it from there. */
export type Part = { readonly tokens: readonly string[]; readonly spec: FieldSpec | 'drop'; readonly verbs: JsonObject };

/** Finds the sample of a spec. Collections get it, as they hold other kinds. */
export type KindOf = (spec: FieldSpec) => SampleKind;

/** The naive cell before any write; `dots` holds the drop that emptied it, if there was one. */
export function emptyCell(kind: SampleKind, spec: FieldSpec, dots: readonly string[]): NaiveCell {
  return newCell(spec['start'] as Json | undefined, kind.own?.(spec), dots);
}

/** The cell as a place where a premise may stand. */
export function placeOf(kind: SampleKind, spec: FieldSpec, cell: NaiveCell, dots: readonly string[] = cell.dots): Place {
  return { dots, below: (token) => kind.child?.(spec, cell, token) };
}
