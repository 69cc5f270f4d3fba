/**
 * What the tests know of `group`: a group of two parts is what its rule makes of a `pair`.
 */
import { z } from 'zod';
import type { Field } from '../../field-kind.ts';
import { group } from '../../kinds/group.ts';
import type { GroupOptions, GroupValue } from '../../kinds/group.ts';
import type { KindOf, SampleKind } from '../sample-kind.ts';
import type { FieldSpec } from '../spec.ts';

type GroupSpec = { readonly kind: 'group'; readonly rule: 'cas' | 'lww' | 'priority' | 'multi' | 'owned'; readonly cap?: number };

const PARTS = { id: z.int().min(0).max(9), note: z.string().max(3) };

export function groupSample(kindOf: KindOf): SampleKind<GroupSpec> {
  const of = (spec: GroupSpec): FieldSpec => ({ ...spec, kind: spec.rule, of: 'pair' });
  const rule = (spec: GroupSpec): SampleKind => kindOf(of(spec));
  return {
    kind: 'group',
    simple: [
      { kind: 'group', rule: 'cas' },
      { kind: 'group', rule: 'multi', cap: 2 },
    ],
    random: (choice) => {
      const named = choice.of<GroupSpec['rule']>(['cas', 'lww', 'priority', 'multi', 'owned']);
      return { kind: 'group', rule: named, ...(named === 'multi' ? { cap: 2 + choice.upTo(2) } : {}) };
    },
    field: (spec) => group(PARTS, spec as GroupOptions<GroupValue<typeof PARTS>>) as Field,
    intent: (spec, choice) => rule(spec).intent(of(spec), choice),
    own: (spec) => rule(spec).own?.(of(spec)),
    fold: (trial, spec, cell, verbs, path) => rule(spec).fold(trial, of(spec), cell, verbs, path),
    mayDrop: (trial, spec, cell) => rule(spec).mayDrop?.(trial, of(spec), cell) ?? true,
    json: (spec, cell) => rule(spec).json(of(spec), cell),
    outside: (spec, json) => rule(spec).outside(of(spec), json),
    replacedUnseen: (spec, leaf, writers) => rule(spec).replacedUnseen?.(of(spec), leaf, writers),
    invisible: (spec, leaf, rivals, json) => rule(spec).invisible?.(of(spec), leaf, rivals, json),
  };
}
