/**
 * Verdicts in words: one line for each issue of a rejection, and for each outcome of a commit that is more than a merge.
 */
import type { JsonObject, Json, Verdict } from '@oplus/core';
import { pointer } from '@oplus/core';
import type { Colours } from './terminal.ts';

/** Nothing for a plain commit. */
export function verdictLines(verdict: Verdict, colour: Colours): readonly string[] {
  if (verdict.kind === 'rejected') {
    return verdict.issues.map(({ code, path, rule, have, by, hint }) => {
      const there = have === undefined ? '' : `, there is ${JSON.stringify(have)}`;
      const whose = by === undefined ? '' : ` by ${by}`;
      return `${colour.yellow(code)} ${path === '' ? 'the patch' : path} (${rule})${there}${whose}: ${hint}`;
    });
  }
  return Object.entries(verdict.outcomes ?? {}).map(
    ([path, outcome]) => `${outcome.kind} ${path}${outcome.kind === 'superseded' ? ` by ${outcome.by}` : ''}`,
  );
}

/** What a patch touches, as pointers: `/received`, `/shelves/S001`. */
export function fieldsOf(patch: JsonObject): readonly string[] {
  return Object.entries(patch).flatMap(([field, verbs]) => {
    const keys = Object.entries(verbs as JsonObject).flatMap(([verb, value]) => (KEYED.has(verb) ? keysOf(value) : []));
    return keys.length === 0 ? [pointer(field)] : [...new Set(keys)].map((key) => pointer(field, key));
  });
}

/** Verbs whose value is keyed by what stands below the field. */
const KEYED: ReadonlySet<string> = new Set(['at', 'put', 'patch', 'drop']);

function keysOf(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.filter((key): key is string => typeof key === 'string');
  return typeof value === 'object' && value !== null ? Object.keys(value) : [];
}
