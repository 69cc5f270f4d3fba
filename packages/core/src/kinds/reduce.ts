/**
 * `reduce`: a value that a function of the author's makes of all updates, one after the other in canonical order.
 *
 * The function is tried when the definition loads: one that is not pure, or that leaves the type of its state, carries no field;
 * the grade is A where updates commute. What it does at run time is judged each time, on frozen values: it can refuse an update
 * by throwing, and it can change nothing that it was given. Its code is covered by the version of the definition, as that of rules
 * is. SPEC: RED1-RED8.
 */
import { changed } from '../change.ts';
import { affirmed } from '../dot.ts';
import { fault, fieldFrom } from '../fault.ts';
import type { Attempt, Complain, Field, FieldKind, Refusal } from '../field-kind.ts';
import { isOfType, readList, readOneVerb, strictObject, withoutNulls } from '../intent.ts';
import type { Json } from '../json.ts';
import { canonical, clipped, sameJson } from '../json.ts';
import { brokenLaw, certificateOf, reducerParts } from '../laws/certify.ts';
import type { Certificate, ReducerOptions } from '../laws/certify.ts';
import { reduceOnce } from '../laws/reduced-state.ts';
import { malformed, outOfBounds } from '../refusal.ts';
import { samplesOfType } from '../value-samples.ts';
import type { TypeFault, ValueType } from '../value-type.ts';
import { markedValue } from './marked-value.ts';
import type { MarkedValue } from './marked-value.ts';

/** One update, or a list of them. An update that is itself a list stands in a list. */
export type ReduceIntent<U> = { readonly apply: (U extends readonly Json[] ? never : U) | readonly U[] };

/**
 * A field merged by a function of one's own. The function gets frozen values and gives the next state; it knows nothing of who sent
 * an update or when. One that is not pure, or leaves the type of its state, does not load; the smallest case is told. Trying it takes some tens of milliseconds (`certify`).
 */
export function reduce<S extends Json, U extends Json>(options: ReducerOptions<S, U>): Field<S, ReduceIntent<U>> {
  return fieldFrom(() => reduceOf(options));
}

function reduceOf<S extends Json, U extends Json>(options: ReducerOptions<S, U>): FieldKind<Reduced, ReduceOp> {
  const { state, update, start } = reducerParts(options);
  const certificate = certificateOf(options, state, update, start);
  refuseBroken(certificate);
  const kind: FieldKind<Reduced, ReduceOp> = {
    name: 'reduce',
    grade: { letter: certificate.grade, why: certificate.why },
    bytesMax: state.bytesMax,
    verbs: ['apply'],
    summary: 'what a function makes of all updates; apply takes one, or a list',
    read: (intent, path, complain) => readUpdates(update, intent, path, complain),
    weigh: (op) => op.updates.length,
    erases: () => 0,
    fold: (cell, op, path, attempt) => {
      let value = cell.value;
      for (const [at, one] of op.updates.entries()) {
        const next = reduceOnce(options.reduce, state, value, one);
        if (!next.ok) {
          attempt.refuse(op.updates.length === 1 ? path : `${path}/apply/${at}`, refusalOf(next.fault, value, one));
          return cell;
        }
        value = next.value;
      }
      return after(cell, value, path, attempt);
    },
    withoutEcho: (_, op) => op,
    write,
    ...markedValue<Json>(start),
    valueSchema: () => state.jsonSchema,
    assign: (cell, change, path, complain) => {
      const wanted = changed(cell.value, change);
      if (sameJson(wanted, cell.value)) return undefined;
      complain(path, malformed('reduce', 'A reduced value is not set; it takes apply, with an update.', wanted));
      return undefined;
    },
    samples: () => {
      const updates = samplesOfType(update, 3);
      return [...updates.map((one) => write({ updates: [one] })), { apply: updates.slice(0, 2) }];
    },
    modelSchema: () => strictObject({ apply: { type: 'array', items: update.jsonSchema } }),
    fromModel: withoutNulls,
    declaration: () => ({ kind: 'reduce', state: state.jsonSchema, update: update.jsonSchema, start }),
  };
  return kind;
}

type Reduced = MarkedValue<Json>;
type ReduceOp = { readonly updates: readonly Json[] };

const SHOWN_CHARS_MAX = 80;

function refuseBroken(certificate: Certificate): void {
  const broken = brokenLaw(certificate, ['purity', 'closure']);
  const counterexample = broken?.counterexample;
  if (broken === undefined || counterexample === undefined) return;
  const what =
    broken.law === 'purity'
      ? 'the reducer is not pure'
      : 'the reducer does not give a state of its type for each state and update';
  const from = clipped(canonical(counterexample.state as Json), SHOWN_CHARS_MAX);
  const given = counterexample.updates.map((one) => clipped(canonical(one as Json), SHOWN_CHARS_MAX)).join(', then ');
  throw fault(
    `reduce: ${what}: from ${from} with ${given}, ${counterexample.lines.join('; ')}`,
    broken.law === 'purity'
      ? 'Give a new state that follows from state and update alone: no writing, clock, chance or memory.'
      : 'Keep the result within the type: slice a list to its cap, clamp a number, or give the state more room.',
  );
}

function readUpdates(type: ValueType, intent: Json, path: string, complain: Complain): ReduceOp | undefined {
  const read = readOneVerb(intent, 'reduce', ['apply'], path, complain);
  if (read === undefined) return undefined;
  if (!Array.isArray(read.value))
    return isOfType(type, read.value, 'reduce', `${path}/apply`, complain) ? { updates: [read.value] } : undefined;
  const updates = readList(type, read.value, 'reduce', `${path}/apply`, complain);
  if (updates === undefined || updates.length > 0) return updates === undefined ? undefined : { updates };
  complain(`${path}/apply`, malformed('reduce', 'apply takes an update, or a list of at least one.', read.value));
  return undefined;
}

function write({ updates }: ReduceOp): Json {
  const [first] = updates;
  return { apply: updates.length === 1 && !Array.isArray(first) ? (first as Json) : updates };
}

function after(cell: Reduced, value: Json, path: string, attempt: Attempt): Reduced {
  if (!sameJson(value, cell.value)) return { value, mark: affirmed(cell.mark, attempt.mark) };
  attempt.note(path, { kind: 'unchanged' });
  return cell;
}

function refusalOf(fault: TypeFault, have: Json, want: Json): Refusal {
  return { ...outOfBounds('reduce', have, want, `With this update the state ${fault.message}.`), code: fault.code };
}
