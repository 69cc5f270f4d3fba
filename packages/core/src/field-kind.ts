/**
 * The one interface behind which every field kind lives.
 *
 * A kind owns a cell: an immutable value with whatever metadata its rule needs. It reads the verbs of a patch into an
 * operation, folds operations into cells, and says what it holds to rules, to people and to a model. It knows nothing of
 * rounds, logs or other fields. All functions are pure and total over parsed operations.
 */
import type { Dot, Mark } from './dot.ts';
import type { Fault } from './error.ts';
import type { Issue, Outcome } from './issue.ts';
import { isJsonObject } from './json.ts';
import type { Json, Sha256 } from './json.ts';
import type { Change } from './change.ts';
import type { Stamp } from './stamp.ts';
import type { Computed } from './kinds/derived.ts';
import type { JsonSchema } from './value-type.ts';

/**
 * A: the same set of proposals in any causally valid order and any cut into rounds gives the same value.
 * B: free of order inside a round; across rounds the cut decides, and the log records it.
 */
export type Grade = { readonly letter: 'A' | 'B'; readonly why: string };

/** An issue without its path: the operation's own path is added. */
export type Refusal = Omit<Issue, 'path'>;

/** What a kind may know while one proposal is folded in, and where it reports. */
export interface Attempt {
  readonly agent: string;
  /** The role in which the agent has joined. */
  readonly role: string;
  /** The mark that changed cells get. */
  readonly mark: Mark;
  readonly stamp: Stamp;
  /** Its place among the proposals of its round in canonical order, from 0 to less than `ROUND_PROPOSALS_MAX`. */
  readonly turn: number;
  /** The revision that the proposer read. */
  readonly base: number;
  /** Bases below it do not exist: what only they could need may be forgotten. */
  readonly horizon: number;
  /** The conflict test: was this change in the proposer's past? */
  sees(mark: Mark | undefined): boolean;
  /** Stricter, for marks that sum up several changes: were they all in the proposer's past? */
  sawAll(mark: Mark | undefined): boolean;
  /** Whether the proposer's role may write here; refuses the operation when it may not. */
  mayWrite(path: string, meta: FieldMeta | undefined): boolean;
  /** Tells rules that the key at `path` was changed, made or dropped. */
  touch(path: string): void;
  /** Refuses the operation at `path`, and with it the whole proposal; the fold goes on so that all issues are named. */
  refuse(path: string, refusal: Refusal): void;
  /** Tells the proposer that an operation did not simply merge. */
  note(path: string, outcome: Outcome): void;
}

/** What a kind may do while it settles, and where it reports. */
export interface Settling {
  /** Tells whose operation it was, by its path and dot, that its effect fell off. */
  evict(path: string, dot: Dot): void;
  /** Puts a text aside as an artefact of the field at `path`, and gives the digest by which it is found. */
  spill(path: string, text: string): string;
}

/** Where the reading of a patch reports what it cannot understand. */
export type Complain = (path: string, refusal: Refusal) => void;

/** What premises walk: the newest change below a cell, and the cells below it by name. */
export interface Traversable<Cell = unknown> {
  /** Mark of the newest change anywhere below, `undefined` when there was none. */
  newest(cell: Cell): Mark | undefined;
  /** What stands below one token of a path; `undefined` when there is nothing of that name. */
  child?(cell: Cell, key: string): { readonly kind: Traversable; readonly cell: unknown } | undefined;
}

/**
 * What a field says beside its kind: a line for people and models, the roles that may write it (all when absent), and how
 * many things in it one patch may erase (any number when absent; 0 for none).
 */
export type FieldMeta = { readonly doc?: string; readonly writers?: readonly string[]; readonly eraseMax?: number };

/**
 * Something in a cell that ends by itself unless it is renewed: the lease of a claim, the deadline of a dispute. `token` tells
 * it from a later one at the same path: the fencing number of a grant, the revision that began a dispute. `holder` is the agent
 * whose word renews it.
 */
export type Timer = { readonly path: string; readonly token: number; readonly ms: number; readonly holder?: string };

/** Why a timer ran out: nobody renewed the lease, its holder left, or the deadline passed. */
export type ExpiryCause = 'lease' | 'left' | 'deadline';

/** A timer that ran out, as the log has it. `mark` is what the change gets. */
export type Expiry = { readonly token: number; readonly cause: ExpiryCause; readonly mark: Mark };

/** A place that an operation names, by its path, and what stands there: `undefined` where nothing does. */
export type Aim = readonly [path: string, value: Json | undefined];

/** `Cell` is private to the kind, `Op` too; others carry them as `unknown`. */
export interface FieldKind<Cell = unknown, Op = unknown> extends Traversable<Cell> {
  readonly meta?: FieldMeta;
  /** Of a field that does not load, what is unsound in it: then nothing else can be read (fault.ts). */
  readonly faults?: readonly Fault[];
  readonly name: string;
  readonly grade: Grade;
  /** Largest canonical text of what the field holds, in UTF-8 bytes, metadata not counted. */
  readonly bytesMax: number;
  /** What a patch may ask for, in the order in which people should read it. */
  readonly verbs: readonly string[];
  /** One line for a prompt: what the field takes. */
  readonly summary: string;
  /** The roles that the kind's own options name: a definition must declare them. */
  readonly roles?: readonly string[];
  /** How the value is computed, for a field that nobody writes. */
  readonly computed?: Computed;
  /** Set where `settle` may put artefacts aside. */
  readonly spills?: true;
  /** The kinds of what stands below, by name; `*` stands for keys that agents choose. */
  readonly parts?: { readonly [name: string]: FieldKind };

  /** The cell before any write. `born` is the mark of what made it empty (a dropped key), so that old writes cannot pass unseen. */
  empty(born: Mark | undefined): Cell;
  /** Reads the verbs of a patch. Complains and gives `undefined` when it cannot. */
  read(intent: Json, path: string, complain: Complain): Op | undefined;
  /** How many single operations the patch holds: the cap on operations counts these. */
  weigh(op: Op): number;
  /** How many things the operation asks to erase: values, elements, keys, rows. 0 for a plain write. */
  erases(op: Op): number;
  /** The places that the operation names. Without it: the whole value. Cost: that of their JSON. */
  aims?(cell: Cell, op: Op, path: string): readonly Aim[];
  /** Folds the operation in. After a refusal the cell given back is not used. */
  fold(cell: Cell, op: Op, path: string, attempt: Attempt): Cell;
  /**
   * Whether the agent may drop what the cell stands in: others may hold something in it, and then it refuses the operation. Without
   * it nothing in the cell is anybody's. Cost: that of looking at all that can be held below; it ends at the first key or row.
   */
  mayDrop?(cell: Cell, path: string, attempt: Attempt): boolean;
  /** The operation without what merely repeats the cell: values equal to the base are not writes. `undefined` when nothing is left. */
  withoutEcho(cell: Cell, op: Op): Op | undefined;
  /** The patch that `read` would turn into this operation. */
  write(op: Op): Json;
  /** Normalises once, at the seal: evicts beyond the cap, and says what. Idempotent. */
  settle?(cell: Cell, path: string, settling: Settling): Cell;

  /** The shortest time after which something in its own cells may end by itself, in milliseconds; a kind with parts leaves it to them. */
  readonly timerMs?: number;
  /** What in the cell ends by itself. */
  timers?(cell: Cell, path: string): readonly Timer[];
  /** Ends the thing below `tokens` that this token names; the same cell when it is not there any more. */
  expire?(cell: Cell, tokens: readonly string[], expiry: Expiry): Cell;
  /** The paths at which rivals stand, for status lines. */
  contested?(cell: Cell, path: string): readonly string[];

  /** What rules and programs read: cheap, no copy, never to be changed. */
  view(cell: Cell): unknown;
  /** The value as JSON, `null` when absent. */
  json(cell: Cell): Json;
  /** Canonical JSON of the whole cell, metadata included: what snapshots hold. */
  encode(cell: Cell): string;
  /** Inverse of `encode`. Throws `LOG_DAMAGED`. */
  decode(stored: Json): Cell;
  /** Digest of the whole cell as JSON (digest.ts): of `encode`, or of a tree of digests over it. */
  digest(cell: Cell, sha256: Sha256): string;

  /** JSON Schema of what `json` gives: closed objects, every key required. */
  valueSchema(): JsonSchema;
  /**
   * The patch that does to the cell what a patch format without verbs asks for. Gives `undefined` when nothing would change,
   * and after a complaint when the kind has no verb for it.
   */
  assign(cell: Cell, change: Change, path: string, complain: Complain): Json | undefined;
  /** Two to six patches that the declared types allow, the simplest first: what explanations and checkers try. */
  samples(): readonly Json[];
  /** JSON Schema of the verbs in the strict subset of model servers: closed, every key required and nullable. */
  modelSchema(): JsonSchema;
  /** The intent patch behind an answer in that schema: nulls dropped, lists of keyed items turned into objects. */
  fromModel(answer: Json): Json;
  /** What the schema digest covers: everything that changes the meaning of a log. */
  declaration(): Json;
}

/** A field kind that remembers what its view and its patch look like, for programs that are type-checked. */
export type Field<View = unknown, Intent = unknown> = FieldKind & {
  readonly '~types'?: { readonly view: View; readonly intent: Intent };
};

/** What a rule or a program reads in a field. */
export type ViewOf<F> = F extends Field<infer View, unknown> ? View : never;

/** What a patch may ask of a field. */
export type IntentOf<F> = F extends Field<unknown, infer Intent> ? Intent : never;

/** The places that an operation names: what an author is shown whose view is too old to be judged on. */
export function aimsOf(kind: FieldKind, cell: unknown, op: unknown, path: string): readonly Aim[] {
  return kind.aims?.(cell, op, path) ?? [[path, kind.json(cell)]];
}

/** The kinds that stand directly below one at `path`, by path; `*` stands for the keys and ids that agents choose. */
export function partsOf(kind: FieldKind, path: string): readonly (readonly [path: string, part: FieldKind])[] {
  const parts = kind.parts ?? {};
  return Object.entries(parts).map(([name, part]) => [`${path}${'*' in parts ? '' : '/*'}/${name}`, part]);
}

/** The kind at `path` and all kinds below it, each before what is below it. */
export function placesOf(kind: FieldKind, path: string): readonly (readonly [path: string, part: FieldKind])[] {
  return [[path, kind], ...partsOf(kind, path).flatMap(([below, part]) => placesOf(part, below))];
}

/** Every restriction of writers on a kind and below it: what an agent must satisfy that erases the whole. */
export function restrictionsOf(kind: FieldKind): readonly FieldMeta[] {
  const own = kind.meta?.writers === undefined ? [] : [kind.meta];
  return [...own, ...Object.values(kind.parts ?? {}).flatMap(restrictionsOf)];
}

/** What the schema digest covers of a kind, of who may write it and of how much one patch may erase. */
export function declared(kind: FieldKind): Json {
  const { writers, eraseMax } = kind.meta ?? {};
  const declaration = kind.declaration();
  if (!isJsonObject(declaration)) return declaration;
  return {
    ...declaration,
    ...(writers === undefined ? {} : { writers }),
    ...(eraseMax === undefined ? {} : { eraseMax }),
  };
}
