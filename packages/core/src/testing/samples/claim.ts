/**
 * What the tests know of `claim`. The value of a naive cell is the holder.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { claim } from '../../kinds/claim.ts';
import type { NaiveTrial } from '../naive-cell.ts';
import type { SampleKind } from '../sample-kind.ts';

type ClaimSpec = { readonly kind: 'claim'; readonly leaseMs?: number };

/** `fence` is that of the newest claim or handoff that made a holder. */
type Held = { last: JsonObject | null; fence: number };

const LEASED: ClaimSpec = { kind: 'claim', leaseMs: 100 };

export const claimSample: SampleKind<ClaimSpec, Held> = {
  kind: 'claim',
  simple: [{ kind: 'claim' }],
  later: [
    LEASED,
    { kind: 'map', of: LEASED, cap: 2 },
    { kind: 'records', cells: { n: { kind: 'counter', start: 0 }, x: LEASED, y: { kind: 'map', of: LEASED, cap: 2 } }, cap: 2 },
  ],
  random: () => ({ kind: 'claim' }),
  field: ({ leaseMs }) => claim({ outcomeCharsMax: 3, ...(leaseMs === undefined ? {} : { leaseMs }) }) as Field,
  intent: (_, choice) =>
    choice.of<Json>([
      { claim: true },
      { release: true },
      { claim: true },
      { release: { outcome: 'ok' } },
      { handoff: { to: 'bob' } },
    ]),
  own: () => ({ last: null, fence: 0 }),
  fold: (trial, _, cell, verbs, path) => {
    if ('claim' in verbs) {
      if (cell.value === trial.agent) return trial.note(path, 'unchanged');
      if (cell.value !== undefined) return trial.refuse();
      cell.value = trial.agent;
      cell.own.fence = fenceOf(trial);
    } else {
      if (cell.value !== trial.agent || !trial.saw(cell.writer)) return trial.refuse();
      const { release, handoff } = verbs;
      const outcome = typeof release === 'object' ? ((release as JsonObject)['outcome'] as string) : null;
      cell.own.last = { holder: trial.agent, how: handoff === undefined ? 'released' : 'handed over', outcome };
      if (handoff !== undefined) cell.own.fence = fenceOf(trial);
      cell.value = handoff === undefined ? undefined : ((handoff as JsonObject)['to'] as string);
    }
    cell.writer = trial.dot;
    trial.change(cell);
  },
  mayDrop: ({ agent }, _, { value }) => value === undefined || value === agent,
  expire: (spec, cell, tokens, { token, cause, dot }) => {
    const isNamed = tokens.length === 0 && cell.value !== undefined && cell.own.fence === token;
    if (spec.leaseMs === undefined || !isNamed || cause === 'deadline') return false;
    cell.own.last = { holder: cell.value as string, how: cause === 'lease' ? 'expired' : 'left', outcome: null };
    cell.value = undefined;
    cell.writer = dot;
    cell.dots.push(dot);
    return true;
  },
  json: (_, { value, own }) => ({ holder: value ?? null, last: own.last }),
  outside: () => undefined,
  invisible: (_, { intent, proposal }, rivals, json) => {
    const handed = intent['handoff'] === undefined ? null : ((intent['handoff'] as JsonObject)['to'] as Json);
    const wanted = intent['claim'] === true ? proposal.agent : handed;
    return rivals.length > 0 || (json as JsonObject)['holder'] === wanted ? undefined : 'is not there';
  },
};

/** A grant is known by its revision, and in that by how many proposals came before it. */
function fenceOf({ at: [revision, turn] }: NaiveTrial): number {
  return revision * 4096 + turn;
}
