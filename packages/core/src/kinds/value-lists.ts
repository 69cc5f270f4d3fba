/**
 * What kinds share whose patches list values under `add` and `remove`: reading, writing, and the words of other formats.
 */
import type { Change } from '../change.ts';
import { changed } from '../change.ts';
import type { Aim, Complain, FieldKind } from '../field-kind.ts';
import { isOnceEach, readList, readVerbs, strictObject, withoutNulls } from '../intent.ts';
import type { Json } from '../json.ts';
import { canonical, escapeToken } from '../json.ts';
import { malformed } from '../refusal.ts';
import { samplesOfType } from '../value-samples.ts';
import type { ValueType } from '../value-type.ts';

/** Values to add and to remove, each once. */
export type ValueLists = { readonly add: readonly Json[]; readonly remove: readonly Json[] };

type ListVerb = keyof ValueLists;

type Shared = 'verbs' | 'read' | 'weigh' | 'erases' | 'write' | 'samples' | 'modelSchema' | 'fromModel' | 'valueSchema';

/** The members that such kinds have in common. `sizeMax` is the largest number of values that stand. */
export function valueLists(
  rule: string,
  type: ValueType,
  verbs: readonly ListVerb[],
  sizeMax: number,
): Pick<FieldKind<unknown, ValueLists>, Shared> {
  const list = { type: 'array', items: type.jsonSchema };
  return {
    verbs,
    read: (intent, path, complain) => {
      const given = readVerbs(intent, rule, verbs, path, complain);
      if (given === undefined) return undefined;
      const add = readList(type, given['add'], rule, `${path}/add`, complain);
      const remove = readList(type, given['remove'], rule, `${path}/remove`, complain);
      if (add === undefined || remove === undefined) return undefined;
      return isOnceEach([...add, ...remove].map(canonical), rule, path, complain) ? { add, remove } : undefined;
    },
    weigh: (op) => op.add.length + op.remove.length,
    erases: (op) => op.remove.length,
    write: writeLists,
    samples: () => {
      const values = samplesOfType(type, verbs.length > 1 ? 2 : 3);
      const adds = values.map((value) => ({ add: [value] }));
      return verbs.includes('remove') ? [...adds, { remove: values.slice(0, 1) }] : adds;
    },
    modelSchema: () => strictObject(Object.fromEntries(verbs.map((verb) => [verb, list]))),
    fromModel: withoutNulls,
    valueSchema: () => ({ ...list, maxItems: sizeMax }),
  };
}

/** The values that an operation lists, each at the path of its element, where `has` says that it stands. */
export function listedAims(op: ValueLists, path: string, has: (text: string) => boolean): readonly Aim[] {
  return [...op.add, ...op.remove].map((value) => {
    const text = canonical(value);
    return [`${path}/${escapeToken(typeof value === 'string' ? value : text)}`, has(text) ? value : undefined];
  });
}

/** The patch that leads from the values that stand to those that a change asks for. Complains about a remove that has no verb. */
export function assignedLists(
  rule: string,
  verbs: readonly ListVerb[],
  now: readonly Json[],
  change: Change,
  path: string,
  complain: Complain,
): Json | undefined {
  const wanted = changed(now, change) ?? [];
  if (!Array.isArray(wanted)) {
    complain(path, malformed(rule, 'This takes a list of values.', wanted));
    return undefined;
  }
  const have = byText(now);
  const want = byText(wanted as readonly Json[]);
  const add = [...want].filter(([text]) => !have.has(text)).map(([, value]) => value);
  const remove = [...have].filter(([text]) => !want.has(text)).map(([, value]) => value);
  if (remove.length > 0 && !verbs.includes('remove')) {
    complain(path, malformed(rule, 'Nothing is removed here: give the values that stand, and the new ones.', remove[0]));
    return undefined;
  }
  return add.length + remove.length === 0 ? undefined : writeLists({ add, remove });
}

function writeLists(op: ValueLists): Json {
  return {
    ...(op.add.length === 0 ? {} : { add: op.add }),
    ...(op.remove.length === 0 ? {} : { remove: op.remove }),
  };
}

function byText(values: readonly Json[]): ReadonlyMap<string, Json> {
  return new Map(values.map((value) => [canonical(value), value]));
}
