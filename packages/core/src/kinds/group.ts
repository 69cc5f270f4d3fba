/**
 * `group`: several leaves as one atomic register, so that no value mixes what two agents set.
 *
 * It is a register of the object of its parts: `set` takes the whole, and the named rule merges it. SPEC: GRP1-GRP4.
 */
import { z } from 'zod';
import { OplusError } from '../error.ts';
import type { Field, FieldKind } from '../field-kind.ts';
import { FIELD_NAME_HINT, isFieldName } from '../field-name.ts';
import type { Json, JsonObject } from '../json.ts';
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

/** Several leaves that change together or not at all. Throws `SCHEMA_INVALID` without parts, for odd names and unknown rules. */
export function group<P extends GroupParts, const O extends GroupOptions<GroupValue<P>>>(
  parts: P,
  options: O,
): GroupField<GroupValue<P>, O['rule']> {
  const names = Object.keys(parts);
  const odd = names.find((name) => !isFieldName(name));
  if (names.length === 0 || odd !== undefined)
    throw new OplusError('SCHEMA_INVALID', odd === undefined ? 'a group has no parts' : `${odd} cannot name a part of a group`, {
      hint: FIELD_NAME_HINT,
    });
  const whole = z.strictObject(parts) as unknown as z.ZodType<Json>;
  const rule = ruleOf(whole, options as GroupOptions<Json>);
  const declaration = rule.declaration() as JsonObject;
  const kind: FieldKind = {
    ...rule,
    name: 'group',
    summary: `${names.join(', ')} together; ${rule.summary}`,
    declaration: () => ({ ...declaration, kind: 'group', rule: rule.name }),
  };
  return kind as GroupField<GroupValue<P>, O['rule']>;
}

function ruleOf(whole: z.ZodType<Json>, options: GroupOptions<Json>): FieldKind {
  switch (options.rule) {
    case 'cas':
      return cas(whole, options);
    case 'lww':
      return lww(whole, options);
    case 'priority':
      return priority(whole, options);
    case 'multi':
      return multi(whole, options);
    case 'owned':
      return owned(whole, options);
    default:
      throw new OplusError('SCHEMA_INVALID', 'a group has no rule of that name', {
        hint: 'The rules are cas, lww, priority, multi and owned.',
      });
  }
}
