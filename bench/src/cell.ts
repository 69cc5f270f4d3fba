/**
 * One cell of the table in a process of its own: it waits for its plan, measures, answers and ends. All writers live here, so
 * its CPU is the clients', and that of its children the servers'. It ends with its parent, and its servers with it.
 */
import { OplusError } from '@oplus/core';

import { CONTENDERS } from './contenders/registry.ts';
import type { Figure, Plan } from './measure.ts';
import { measure } from './measure.ts';

/** What the parent sends once. */
export type CellOrder = { readonly contender: string; readonly plan: Plan };

/** What the parent gets back once. */
export type CellAnswer =
  | { readonly kind: 'figure'; readonly figure: Figure }
  | { readonly kind: 'failed'; readonly message: string; readonly hint: string | undefined };

process.once('message', (order: CellOrder) => void answer(order));
process.once('disconnect', () => process.exit(1));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

async function answer({ contender: name, plan }: CellOrder): Promise<void> {
  let message: CellAnswer;
  try {
    const contender = CONTENDERS.find((candidate) => candidate.name === name);
    if (contender === undefined) throw new OplusError('USAGE', `no contender ${name}`);
    message = { kind: 'figure', figure: await measure(contender, plan) };
  } catch (error) {
    message = { kind: 'failed', message: String(error), hint: error instanceof OplusError ? error.hint : undefined };
  }
  process.send?.(message, undefined, undefined, () => process.exit(0));
}
