/**
 * One space driven through the real path, in one thread and without a log: the gate on the text of each proposal, then the
 * seal of the round, both timed. What a proposer does (its patch, its text) happens outside the measured time.
 */
import { Buffer } from 'node:buffer';

import { admit, canonical, invariant, seal, unbornSpace } from '@oplus/core';
import type { Admitted, Json, JsonObject, Sealed, Space, StateSchema } from '@oplus/core';

/** A proposal that agent number `agent` makes on the newest view, or on one that is `lag` revisions older. */
export type Ask = { readonly agent: number; readonly patch: JsonObject; readonly lag?: number };

export type DrivenRound = { readonly gateMs: number; readonly sealMs: number; readonly sealed: Sealed };

export interface Drive {
  readonly space: Space;
  /** Gates and seals one round. An agent may ask several times; its proposals keep their order. */
  round(asks: readonly Ask[]): DrivenRound;
}

/** A space after its genesis in which the agents have joined, in the role `agent`. */
export function openDrive(schema: StateSchema, agentCount: number): Drive {
  const names = Array.from({ length: agentCount }, (_, i) => `w${i}`);
  const counts = names.map(() => 0);
  let space = seal(unbornSpace('bench', schema), {
    term: 1,
    events: [{ kind: 'genesis', schema: schema.digest, nonce: 'bench' }],
    proposals: [],
  }).space;
  space = seal(space, {
    term: 1,
    events: names.map((agent) => ({ kind: 'join', agent, role: 'agent', session: `s-${agent}` }) as const),
    proposals: [],
  }).space;
  const oldest = space.revision;
  return {
    get space() {
      return space;
    },
    round(asks) {
      const texts = asks.map(textOf);
      const gateStart = performance.now();
      const proposals = texts.map(admitted);
      const sealStart = performance.now();
      const sealed = seal(space, { term: 1, events: [], proposals });
      const sealEnd = performance.now();
      ({ space } = sealed);
      invariant(sealed.decided.length === asks.length, 'every proposal of a round is decided');
      return { gateMs: sealStart - gateStart, sealMs: sealEnd - sealStart, sealed };
    },
  };

  function textOf({ agent, patch, lag = 0 }: Ask): { readonly agent: string; readonly text: string } {
    const n = (counts[agent] ?? 0) + 1;
    counts[agent] = n;
    const name = names[agent] as string;
    const revision = Math.max(oldest, space.revision - lag);
    const base = revision === space.revision ? { revision, digest: space.head.slice(0, 16) } : { revision };
    const envelope: Json = {
      kind: 'proposal',
      v: 1,
      space: space.name,
      agent: name,
      incarnation: 1,
      n,
      schema: schema.id,
      base,
      patch,
    };
    return { agent: name, text: asReceived(canonical(envelope)) };
  }
}

function admitted({ agent, text }: { readonly agent: string; readonly text: string }): Admitted {
  const gated = admit(text, agent);
  invariant(gated.ok, 'the bench speaks correctly');
  return gated.value;
}

/** The text in one piece, as it comes off a wire: one that was just put together is not, and whoever reads it first pays. */
function asReceived(text: string): string {
  return Buffer.from(text).toString();
}
