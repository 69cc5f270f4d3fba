/**
 * `machine`: a state that moves along a declared table, cycles allowed.
 *
 * The table is checked on the merged value, not on the base: of two concurrent moves the first in canonical order is made,
 * the second is judged from where that leads. SPEC: MCH1-MCH4.
 */
import { z } from 'zod';
import { changed } from '../change.ts';
import { summed } from '../dot.ts';
import { fieldFrom, refuseFaults } from '../fault.ts';
import type { Attempt, Complain, Field, FieldKind } from '../field-kind.ts';
import { checkOptions } from '../field-options.ts';
import { readVerbs, strictObject, withoutNulls } from '../intent.ts';
import type { Json } from '../json.ts';
import { malformed, named } from '../refusal.ts';
import { markedValue } from './marked-value.ts';
import type { MarkedValue } from './marked-value.ts';

/** `moves` lists, for every state, the states that may follow it. */
export type MachineOptions<S extends string> = {
  readonly start: NoInfer<S>;
  readonly moves: { readonly [state in S]: readonly NoInfer<S>[] };
};

export type MachineIntent<S extends string> = { readonly to: S; readonly from?: S };

/** A state that moves along a table, in which every state can be reached from the start. */
export function machine<S extends string>(options: MachineOptions<S>): Field<S, MachineIntent<S>> {
  return fieldFrom(() => machineOf(options));
}

const OPTIONS = z.object({ start: z.string(), moves: z.record(z.string(), z.array(z.string())) });
const USAGE = "Use machine({ start: 'open', moves: { open: ['shut'], shut: ['open'] } }).";

function machineOf<S extends string>(options: MachineOptions<S>): FieldKind<Machine, MachineOp> {
  checkOptions('machine', USAGE, OPTIONS, options);
  const moves: ReadonlyMap<string, readonly string[]> = new Map(Object.entries<readonly string[]>(options.moves));
  checkTable(options.start, moves);
  const states = [...moves.keys()].sort();
  const kind: FieldKind<Machine, MachineOp> = {
    name: 'machine',
    grade: { letter: 'B', why: 'of two concurrent moves the first in the log is made and the other is judged from there' },
    bytesMax: 3 * Math.max(...states.map((state) => state.length)) + 2,
    verbs: ['to', 'from'],
    summary: `one of ${states.join(', ')}; moves along a table`,
    read: (intent, path, complain) => readMove(states, intent, path, complain),
    weigh: () => 1,
    erases: () => 0,
    fold: (cell, op, path, attempt) => fold(moves, cell, op, path, attempt),
    withoutEcho: (cell, op) => (op.to === cell.value && op.from === undefined ? undefined : op),
    write: (op) => ({ to: op.to, ...(op.from === undefined ? {} : { from: op.from }) }),
    ...markedValue<string>(options.start),
    valueSchema: () => ({ type: 'string', enum: states }),
    assign: (cell, change, path, complain) => {
      const value = changed(cell.value, change);
      if (value === cell.value) return undefined;
      if (isState(states, value)) return { to: value };
      complain(path, malformed('machine', `The states are ${states.join(', ')}.`, value));
      return undefined;
    },
    samples: () => {
      const first = moves.get(options.start) ?? [];
      const others = states.filter((state) => state !== options.start && !first.includes(state));
      return [...first, ...others, options.start].slice(0, 4).map((to) => ({ to }));
    },
    modelSchema: () => strictObject({ to: { type: 'string', enum: states }, from: { type: 'string', enum: states } }),
    fromModel: withoutNulls,
    declaration: () => ({ kind: 'machine', start: options.start, moves: Object.fromEntries(moves) }),
  };
  return kind;
}

type Machine = MarkedValue<string>;
type MachineOp = { readonly to: string; readonly from: string | undefined };

function checkTable(start: string, moves: ReadonlyMap<string, readonly string[]>): void {
  const refuse = (...rules: readonly string[]): void =>
    refuseFaults(
      rules.map((rule) => ({
        path: '',
        rule: `machine: ${rule}`,
        hint: 'List every state as a key of moves, with the states that may follow it.',
      })),
    );
  refuse(
    ...(moves.has(start) ? [] : [`the start ${start} is no state`]),
    ...[...moves].flatMap(([state, targets]) =>
      targets.filter((target) => !moves.has(target)).map((target) => `${state} moves to ${target}, which is no state`),
    ),
  );
  const reached = new Set([start]);
  for (const state of reached) for (const target of moves.get(state) ?? []) reached.add(target);
  refuse(...[...moves.keys()].filter((state) => !reached.has(state)).map((state) => `nothing leads to ${state}`));
}

function readMove(states: readonly string[], intent: Json, path: string, complain: Complain): MachineOp | undefined {
  const verbs = readVerbs(intent, 'machine', ['to', 'from'], path, complain);
  if (verbs === undefined) return undefined;
  const { to, from } = verbs;
  if (isState(states, to) && (from === undefined || isState(states, from))) return { to, from };
  complain(path, malformed('machine', `The states are ${states.join(', ')}; to is required.`, isState(states, to) ? from : to));
  return undefined;
}

function isState(states: readonly string[], value: Json | undefined): value is string {
  return typeof value === 'string' && states.includes(value);
}

function fold(
  moves: ReadonlyMap<string, readonly string[]>,
  cell: Machine,
  op: MachineOp,
  path: string,
  attempt: Attempt,
): Machine {
  // Who names the state to move from wants to be the one who moves: the state being there already is not the same.
  if (op.to === cell.value && (op.from === undefined || op.from === cell.value)) {
    attempt.note(path, { kind: 'unchanged' });
    return cell;
  }
  const targets = moves.get(cell.value) ?? [];
  if ((op.from !== undefined && op.from !== cell.value) || !targets.includes(op.to)) {
    attempt.refuse(path, {
      code: 'transition',
      rule: 'machine',
      have: cell.value,
      want: op.to,
      ...named(cell.mark, attempt.agent),
      recovery: attempt.sees(cell.mark) ? 'change' : 're-read',
      hint: targets.length === 0 ? `${cell.value} is final.` : `From ${cell.value} it may move to ${targets.join(', ')}.`,
    });
    return cell;
  }
  return { value: op.to, mark: summed(cell.mark, attempt.mark) };
}
