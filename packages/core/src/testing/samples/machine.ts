/**
 * What the tests know of `machine`.
 */
import type { Field } from '../../field-kind.ts';
import type { Json } from '../../json.ts';
import { machine } from '../../kinds/machine.ts';
import type { SampleKind } from '../sample-kind.ts';

type MachineSpec = {
  readonly kind: 'machine';
  readonly start: string;
  readonly moves: { readonly [state: string]: readonly string[] };
};

export const machineSample: SampleKind<MachineSpec> = {
  kind: 'machine',
  simple: [{ kind: 'machine', start: 'todo', moves: { todo: ['doing'], doing: ['todo', 'done'], done: [] } }],
  random: (choice) => ({
    kind: 'machine',
    start: 'todo',
    moves: { todo: ['doing'], doing: ['todo', 'done'], done: choice.upTo(2) === 0 ? [] : ['todo'] },
  }),
  field: (spec) => machine(spec) as Field,
  intent: (_, choice) =>
    choice.of<Json>([
      { to: 'doing' },
      { to: 'done' },
      { to: 'todo' },
      { from: 'doing', to: 'done' },
      { from: 'todo', to: 'doing' },
      { from: 'todo', to: 'done' },
      { from: 'done', to: 'doing' },
    ]),
  fold: (trial, spec, cell, verbs, path) => {
    const { to, from } = verbs as { readonly to: string; readonly from?: string };
    if (to === cell.value && (from === undefined || from === cell.value)) return trial.note(path, 'unchanged');
    const isAllowed = (spec.moves[cell.value as string] ?? []).includes(to);
    if (!isAllowed || (from !== undefined && from !== cell.value)) return trial.refuse();
    cell.value = to;
    trial.change(cell);
  },
  json: (_, cell) => cell.value ?? null,
  outside: (spec, json) => (Object.hasOwn(spec.moves, json as string) ? undefined : `is ${String(json)}`),
  invisible: (_, leaf, rivals, json) => (rivals.length > 0 || json === leaf.intent['to'] ? undefined : 'is not there'),
};
