/**
 * Faults of definitions: what is unsound in one, where, and what to do about it, all of them at once.
 *
 * A constructor of a field cannot know where its field will stand, so it does not throw: it gives a field that carries its faults.
 * Each container adds the token under which it holds such a field, and loading the definition throws them all (decision 0021).
 * Whatever else is done with it throws them too. SPEC: SCH17-SCH19.
 */
import { OplusError } from './error.ts';
import type { Fault } from './error.ts';
import type { Field, FieldKind } from './field-kind.ts';

/** Most faults that one error lists. */
export const FAULTS_MAX = 20;

/** `SCHEMA_INVALID` with at least one fault, of which the first `FAULTS_MAX` are listed. Path and hint are those of the first. */
export function unsound(faults: readonly Fault[], cause?: unknown): OplusError {
  const listed = faults.slice(0, FAULTS_MAX);
  const [{ path, rule, hint } = NOTHING] = listed;
  const count = listed.length < FAULTS_MAX ? `${listed.length}` : `${FAULTS_MAX} or more`;
  const lines = listed.map((one) => `${one.path}: ${one.rule}`);
  const message = listed.length === 1 ? rule : [`${count} faults in the definition`, ...lines].join('\n');
  return new OplusError('SCHEMA_INVALID', message, { path, hint, faults: listed, cause });
}

/** One fault: of what is being checked itself, or of what stands at `path` below it. */
export function fault(rule: string, hint: string, path = '', cause?: unknown): OplusError {
  return unsound([{ path, rule, hint }], cause);
}

/** Throws these faults, if there are any. */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw unsound(faults);
}

/** What all parts give. When some throw faults, throws those of all. */
export function all<T extends readonly unknown[]>(...parts: { readonly [K in keyof T]: () => T[K] }): T {
  const faults: Fault[] = [];
  const given = parts.map((part) => {
    try {
      return part();
    } catch (cause) {
      faults.push(...faultsOf(cause));
      return undefined;
    }
  });
  refuseFaults(faults);
  return given as unknown as T;
}

/** What the part gives, or its faults with `path` before theirs. */
export function placedAt<T>(path: string, part: () => T): T {
  try {
    return part();
  } catch (cause) {
    throw unsound(faultsOf(cause).map((one) => ({ ...one, path: `${path}${one.path}` })));
  }
}

/** The faults that the part throws; none when it is sound. */
export function faultsIn(part: () => unknown): readonly Fault[] {
  try {
    part();
    return [];
  } catch (cause) {
    return faultsOf(cause);
  }
}

/** The field that `make` gives, or one that carries the faults which it throws. */
export function fieldFrom<F extends Field>(make: () => F): F {
  try {
    return make();
  } catch (cause) {
    return faulty(faultsOf(cause)) as F;
  }
}

/** The kind behind what was given as a field. Throws the faults that it carries, and one for what is no field. */
export function soundKind(given: unknown): FieldKind {
  const kind = given as FieldKind | null | undefined;
  if (Array.isArray(kind?.faults)) throw unsound(kind.faults as readonly Fault[]);
  if (typeof kind?.fold === 'function' && Number.isFinite(kind.bytesMax)) return kind;
  throw fault(
    'it is not a field kind with a cap',
    'Use the kinds of this package: cas(type), counter(), set(type, { cap }), ...',
  );
}

const NOTHING: Fault = { path: '', rule: 'nothing is wrong', hint: '' };

/** Anything else that was thrown is no fault of the definition, and is thrown on. */
function faultsOf(cause: unknown): readonly Fault[] {
  if (cause instanceof OplusError && cause.code === 'SCHEMA_INVALID' && cause.faults !== undefined) return cause.faults;
  throw cause;
}

/** A field of which nothing but its faults can be read. */
function faulty(faults: readonly Fault[]): Field {
  return new Proxy({ faults } as unknown as Field, {
    get: (field, key) => {
      if (key !== 'faults' && typeof key === 'string') throw unsound(faults);
      return Reflect.get(field, key) as unknown;
    },
  });
}
