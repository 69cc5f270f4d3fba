/**
 * Patches that came in the strict form, as they would be written by hand.
 *
 * A grammar makes a model write every key, so what it does not use stands there as null, or as an object full of nulls. The
 * kind drops the nulls (`fromModel`); an object of verbs of which none is left is then no part of the patch either. Whether an
 * empty object is such a leftover or means something (a row without values) is asked of the kind, one place at a time.
 */
import type { FieldKind, Json } from '@oplus/core';
import { isJsonObject, withoutOptionalNulls } from '@oplus/core';

/** The verbs behind an answer in the strict form; `undefined` when it uses none. Never complains: reading the result does. */
export function patchByHand(kind: FieldKind, said: Json): Json | undefined {
  if (said === null) return undefined;
  const intent = kind.fromModel(withoutOptionalNulls(kind.modelSchema(), said));
  if (holdsEmptyObject(said)) return intent; // Written out as nothing: not a leftover of nulls, so the kind shall judge it.
  const used = withoutLeftovers(kind, intent, (inner) => inner);
  return isEmptyObject(used) ? undefined : used;
}

/** A key that stands twice in one list of `{key, change}`: as an object the second would silently replace the first. */
export function repeatedKey(said: Json): string | undefined {
  if (Array.isArray(said)) {
    const seen = new Set<string>();
    for (const item of said as readonly Json[]) {
      const key = isJsonObject(item) && 'change' in item ? item['key'] : undefined;
      if (typeof key === 'string' && seen.has(key)) return key;
      if (typeof key === 'string') seen.add(key);
      const below = repeatedKey(item);
      if (below !== undefined) return below;
    }
    return undefined;
  }
  if (!isJsonObject(said)) return undefined;
  for (const child of Object.values(said)) {
    const below = repeatedKey(child);
    if (below !== undefined) return below;
  }
  return undefined;
}

/** `wrap` builds a patch that holds only the place of `value`. */
function withoutLeftovers(kind: FieldKind, value: Json, wrap: (inner: Json) => Json): Json {
  if (Array.isArray(value))
    return (value as readonly Json[]).map((item) => withoutLeftovers(kind, item, (inner) => wrap([inner])));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, child]) => {
      const wrapChild = (inner: Json): Json => wrap({ [key]: inner });
      if (isEmptyObject(child)) return isReadable(kind, wrapChild(child)) ? [[key, child]] : [];
      return [[key, withoutLeftovers(kind, child, wrapChild)]];
    }),
  );
}

function isReadable(kind: FieldKind, intent: Json): boolean {
  return kind.read(intent, '', () => undefined) !== undefined;
}

function isEmptyObject(value: Json): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function holdsEmptyObject(value: Json): boolean {
  if (Array.isArray(value)) return (value as readonly Json[]).some(holdsEmptyObject);
  if (!isJsonObject(value)) return false;
  const children = Object.values(value);
  return children.length === 0 || children.some(holdsEmptyObject);
}
