/**
 * Values as programs hold them: what JSON can say, and Map, Set, Date and instances of classes besides. Told, compared and copied.
 */
import type { Values } from '@oplus/core';

/** Values of any kind. Private fields of classes can be neither seen nor copied. */
export const LIVE_VALUES: Values = {
  text: (value) => {
    try {
      return textOf(value, []);
    } catch {
      return 'a value that cannot be read';
    }
  },
  copy: (value, isFrozen) => {
    try {
      return copyOf(value, isFrozen, new Map());
    } catch {
      return value;
    }
  },
};

/** True for an object literal, or what reads like one. */
export function isPlain(value: unknown): value is { readonly [key: string]: unknown } {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Keys of objects, entries of maps and items of sets are told in order: theirs means nothing. */
function textOf(value: unknown, above: readonly unknown[]): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol') return value.description ?? 'a symbol';
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value !== 'object' || value === null) return value === 0 ? '0' : String(value);
  if (above.includes(value)) return 'itself';
  const inner = (part: unknown): string => textOf(part, [...above, value]);
  if (Array.isArray(value)) return `[${Array.from(value, inner).join()}]`;
  if (value instanceof Date) return `Date ${Number.isNaN(value.getTime()) ? 'invalid' : value.toISOString()}`;
  if (value instanceof Set) return `Set {${[...value].map(inner).toSorted().join()}}`;
  if (value instanceof Map)
    return `Map {${[...value]
      .map(([key, item]) => `${inner(key)}:${inner(item)}`)
      .toSorted()
      .join()}}`;
  if (value instanceof RegExp) return `RegExp ${String(value)}`;
  if (value instanceof Error) return `${value.name} ${JSON.stringify(value.message)}`;
  if (ArrayBuffer.isView(value)) return `${nameOf(value)} [${String(value)}]`;
  const members = Object.entries(value)
    .filter(([key, item]) => item !== undefined && !key.startsWith('lc_'))
    .map(([key, item]) => `${JSON.stringify(key)}:${inner(item)}`);
  return `${isPlain(value) ? '' : `${nameOf(value)} `}{${members.toSorted().join()}}`;
}

function nameOf(value: object): string {
  return typeof value.constructor === 'function' ? value.constructor.name : 'Object';
}

function copyOf(value: unknown, isFrozen: boolean, known: Map<unknown, unknown>): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Promise) return value;
  if (known.has(value)) return known.get(value);
  const copy = emptyLike(value);
  known.set(value, copy);
  const inner = (part: unknown): unknown => copyOf(part, isFrozen, known);
  if (value instanceof Map) for (const [key, item] of value) (copy as Map<unknown, unknown>).set(inner(key), inner(item));
  if (value instanceof Set) for (const item of value) (copy as Set<unknown>).add(inner(item));
  if (ArrayBuffer.isView(value) || value instanceof RegExp) return copy;
  for (const key of Reflect.ownKeys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (property === undefined || (Array.isArray(value) && key === 'length')) continue;
    const isComputed = property.get !== undefined || property.set !== undefined;
    const { enumerable = true } = property;
    // What is frozen in the original is loose in the copy.
    const loose = { enumerable, writable: true, configurable: true, value: inner(property.value) };
    Object.defineProperty(copy, key, isComputed ? property : loose);
  }
  return isFrozen ? Object.freeze(copy) : copy;
}

function emptyLike(value: object): object {
  if (Array.isArray(value)) return Array.from({ length: value.length });
  if (value instanceof Date) return new Date(value);
  if (value instanceof Map) return new Map();
  if (value instanceof Set) return new Set();
  if (value instanceof RegExp) return new RegExp(value.source, value.flags);
  if (ArrayBuffer.isView(value)) return structuredClone(value);
  return Object.create(Object.getPrototypeOf(value) as object | null) as object;
}
