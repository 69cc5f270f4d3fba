/**
 * Coordinators with one mistake each, to see that the properties notice. Every one is a mistake that a real one has made.
 */
import { canonical, trieAt } from '@oplus/core';
import type { Json, Space } from '@oplus/core';
import { step } from '@oplus/coordinator';
import type { CoordinatorState, Effect, Input, Step } from '@oplus/coordinator';
import { encodeVerdict } from '@oplus/protocol';
import { SPACE } from './cluster.ts';

export type PlantedStep = (state: CoordinatorState, input: Input) => Step;

/** Verdicts leave when the round is sealed, not when it is stored. */
export function verdictBeforeAppend(state: CoordinatorState, input: Input): Step {
  const next = step(state, input);
  const isNew = next.state.inFlight !== state.inFlight && next.effects.some((effect) => effect.kind === 'append');
  const decided = isNew ? (next.state.inFlight?.sealed ?? []).flatMap((sealed) => sealed.decided) : [];
  const early = decided.map(({ admitted: { proposal }, verdictText }): Effect => {
    const { agent, n } = proposal;
    return { kind: 'send', to: agent, body: encodeVerdict({ space: SPACE, agent, n }, verdictText) };
  });
  return { state: next.state, effects: [...early, ...next.effects] };
}

/** An append whose outcome is unknown is taken for lost: its proposals are sealed anew, at whatever tail the log has. */
export function resealAfterUnknown(state: CoordinatorState, input: Input): Step {
  const { inFlight } = state;
  if (inFlight === undefined || state.phase !== 'leading') return step(state, input);
  if (input.kind === 'conflict') {
    const moved = { ...inFlight, next: { ...inFlight.next, index: input.tail + 1 } };
    return { state: { ...state, inFlight: moved }, effects: [{ kind: 'append', tail: input.tail, body: inFlight.body }] };
  }
  if (input.kind !== 'unknown') return step(state, input);
  let again: CoordinatorState = { ...state, inFlight: undefined };
  for (const { decided } of inFlight.sealed) {
    for (const { admitted } of decided)
      again = step(again, { kind: 'message', from: admitted.proposal.agent, body: admitted.text }).state;
  }
  return step(again, { kind: 'turn' });
}

/** A proposal that was decided before is decided once more. */
export function noDedupe(state: CoordinatorState, input: Input): Step {
  return step(
    state,
    rewritten(input, (message) => {
      const decided = trieAt(agentsOf(state), String(message['agent']))?.n ?? 0;
      return message['kind'] === 'proposal' && Number(message['n']) <= decided ? { ...message, n: decided + 1 } : message;
    }),
  );
}

/** What the log stored somewhere counts, whatever stands before it. */
export function noVoidRule(state: CoordinatorState, input: Input): Step {
  const { inFlight } = state;
  if (input.kind !== 'appended' || inFlight === undefined) return step(state, input);
  return step({ ...state, inFlight: { ...inFlight, next: { ...inFlight.next, index: input.index } } }, input);
}

/** A hello takes the name over whenever it arrives. */
export function helloWithoutOrder(state: CoordinatorState, input: Input): Step {
  return step(
    state,
    rewritten(input, (message) => {
      const after = trieAt(agentsOf(state), String(message['agent']))?.incarnation ?? 0;
      return message['kind'] === 'hello' ? { ...message, after } : message;
    }),
  );
}

/** A term record that stands in the log is taken for one's own when its bytes are. */
export function termByLooks(state: CoordinatorState, input: Input): Step {
  const { inFlight } = state;
  if (state.phase !== 'taking' || input.kind !== 'tail' || inFlight === undefined) return step(state, input);
  const own = input.records.at(-1);
  return own?.body === inFlight.body ? step(state, { kind: 'appended', index: own.index }) : step(state, input);
}

/** Refusals do not say at which revision they were given. */
export function timelessRefusals(state: CoordinatorState, input: Input): Step {
  const next = step(state, input);
  const effects = next.effects.map((effect): Effect => {
    if (effect.kind !== 'send') return effect;
    const { revision, ...message } = JSON.parse(effect.body) as { readonly kind: string; readonly revision?: number };
    return message.kind === 'refusal' && revision !== undefined
      ? { ...effect, body: canonical(message as unknown as Json) }
      : effect;
  });
  return { state: next.state, effects };
}

/** What a round left out is said before the round is in the log. */
export function refusalsBeforeAppend(state: CoordinatorState, input: Input): Step {
  const { state: after, effects } = step(state, input);
  const { inFlight } = after;
  if (inFlight === undefined || inFlight === state.inFlight) return { state: after, effects };
  return { state: { ...after, inFlight: { ...inFlight, refusals: [] } }, effects: [...inFlight.refusals, ...effects] };
}

/** Whoever reads that another one leads goes on nevertheless. */
export function deafToFencing(state: CoordinatorState, input: Input): Step {
  const next = step(state, input);
  if (next.state.phase !== 'ended' || state.inFlight === undefined || input.kind !== 'tail') return next;
  const tail = state.shard.index + input.records.length;
  const inFlight = { ...state.inFlight, next: { ...state.inFlight.next, index: tail + 1 } };
  return { state: { ...state, inFlight }, effects: [{ kind: 'append', tail, body: inFlight.body }] };
}

function agentsOf(state: CoordinatorState): Space['agents'] {
  return (state.shard.spaces.get(SPACE) as Space).agents;
}

function rewritten(
  input: Input,
  rewrite: (message: { readonly [key: string]: Json }) => { readonly [key: string]: Json },
): Input {
  if (input.kind !== 'message') return input;
  return { ...input, body: canonical(rewrite(JSON.parse(input.body) as { readonly [key: string]: Json })) };
}
