/**
 * `group`: several leaves as one atomic register, so that no value mixes what two agents set.
 *
 * It is a register of the object of its parts: `set` takes the whole, and the named rule merges it. SPEC: GRP1-GRP4.
 */
import { z } from 'zod';
import { all, fault, fieldFrom, placedAt, soundKind } from '../fault.ts';
import type { Field, FieldKind } from '../field-kind.ts';
import { FIELD_NAME_HINT, isFieldName } from '../field-name.ts';
import type { Json, JsonObject } from '../json.ts';
import { pointer } from '../json.ts';
import { valueType } from '../value-type.ts';
import { multi } from './multi.ts';
import type { MultiIntent, MultiOptions, MultiView } from './multi.ts';
import { owned } from './owned.ts';
import type { OwnedIntent, OwnedOptions, OwnedView } from './owned.ts';
import { cas, lww, priority } from './register.ts';
import type { RegisterIntent, RegisterOptions } from './register.ts';

/** The parts by name: plain names, types as of any leaf. */
export type GroupParts = { readonly [name: string]: z.ZodType };

/** One value of all parts. */
export type GroupValue<P extends GroupParts> = z.output<z.ZodObject<P, z.core.$strict>>;

/** The rule by which the whole merges, and that rule's own options. */
export type GroupOptions<T> =
  | ({ readonly rule: 'cas' | 'lww' | 'priority' } & RegisterOptions<T>)
  | ({ readonly rule: 'multi' } & MultiOptions<T>)
  | ({ readonly rule: 'owned' } & OwnedOptions<T>);

/** What a group of that rule reads as, and what a patch may ask of it. */
export type GroupField<T, R extends GroupOptions<T>['rule']> = R extends 'multi'
  ? Field<MultiView<T>, MultiIntent<T>>
  : R extends 'owned'
    ? Field<OwnedView<T>, OwnedIntent<T>>
    : Field<T | undefined, RegisterIntent<T>>;

/** Several leaves that change together or not at all. */
export function group<P extends GroupParts, const O extends GroupOptions<GroupValue<P>>>(
  parts: P,
  options: O,
): GroupField<GroupValue<P>, O['rule']> {
  return fieldFrom(() => groupOf(parts, options as GroupOptions<Json>) as GroupField<GroupValue<P>, O['rule']>);
}

function groupOf(parts: GroupParts, options: GroupOptions<Json>): FieldKind {
  const names = typeof parts === 'object' && parts !== null ? Object.keys(parts) : [];
  if (names.length === 0) throw fault('a group has no parts', "Use group({ x: type, y: type }, { rule: 'cas' }).");
  all(...names.map((name) => () => placedAt(pointer(name), () => checkPart(name, parts[name]))));
  const rule = soundKind(ruleOf(z.strictObject(parts) as unknown as z.ZodType<Json>, options));
  const declaration = rule.declaration() as JsonObject;
  return {
    ...rule,
    name: 'group',
    summary: `${names.join(', ')} together; ${rule.summary}`,
    declaration: () => ({ ...declaration, kind: 'group', rule: rule.name }),
  };
}

function checkPart(name: string, type: unknown): void {
  all(
    () => {
      if (!isFieldName(name)) throw fault(`${name} cannot name a part of a group`, FIELD_NAME_HINT);
    },
    () => valueType(type as z.ZodType<Json>, 'group'),
  );
}

const RULES: { readonly [rule: string]: (whole: z.ZodType<Json>, options: never) => FieldKind } = {
  cas,
  lww,
  priority,
  multi,
  owned,
};

function ruleOf(whole: z.ZodType<Json>, given: GroupOptions<Json>): FieldKind {
  const { rule, ...options } = given ?? {};
  const make = Object.hasOwn(RULES, rule) ? RULES[rule] : undefined;
  if (make === undefined) throw fault('a group has no rule of that name', `The rules are ${Object.keys(RULES).join(', ')}.`);
  return make(whole, options as never);
}
