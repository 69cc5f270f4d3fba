/**
 * What the tests know of `claim`. The value of a naive cell is the holder.
 */
import type { Field } from '../../field-kind.ts';
import type { Json, JsonObject } from '../../json.ts';
import { claim } from '../../kinds/claim.ts';
import type { SampleKind } from '../sample-kind.ts';

type ClaimSpec = { readonly kind: 'claim' };

export const claimSample: SampleKind<ClaimSpec, { outcome: string | null }> = {
  kind: 'claim',
  simple: [{ kind: 'claim' }],
  random: () => ({ kind: 'claim' }),
  field: () => claim({ outcomeCharsMax: 3 }) as Field,
  intent: (_, choice) =>
    choice.of<Json>([
      { claim: true },
      { release: true },
      { claim: true },
      { release: { outcome: 'ok' } },
      { handoff: { to: 'bob' } },
    ]),
  own: () => ({ outcome: null }),
  fold: (trial, _, cell, verbs, path) => {
    if ('claim' in verbs) {
      if (cell.value === trial.agent) return trial.note(path, 'unchanged');
      if (cell.value !== undefined) return trial.refuse();
      cell.value = trial.agent;
    } else {
      if (cell.value !== trial.agent || !trial.saw(cell.writer)) return trial.refuse();
      const { release, handoff } = verbs;
      if (release !== undefined && release !== true) cell.own.outcome = (release as JsonObject)['outcome'] as string;
      cell.value = handoff === undefined ? undefined : ((handoff as JsonObject)['to'] as string);
    }
    cell.writer = trial.dot;
    trial.change(cell);
  },
  json: (_, { value, own }) => ({ holder: value ?? null, ...(own.outcome === null ? {} : { outcome: own.outcome }) }),
  outside: () => undefined,
  invisible: (_, { intent, proposal }, rivals, json) => {
    const handed = intent['handoff'] === undefined ? null : ((intent['handoff'] as JsonObject)['to'] as Json);
    const wanted = intent['claim'] === true ? proposal.agent : handed;
    return rivals.length > 0 || (json as JsonObject)['holder'] === wanted ? undefined : 'is not there';
  },
};
