/**
 * A stage: a space with agents on it, where patches are tried as if two had sent them at once. Nothing is logged.
 */
import type { JsonObject, Json } from './json.ts';
import { canonical } from './json.ts';
import type { Admitted, Proposal } from './proposal.ts';
import { seal } from './seal.ts';
import type { Sealed } from './seal.ts';
import type { Space } from './space.ts';
import { unbornSpace } from './space.ts';
import type { StateSchema } from './state-schema.ts';
import { trieAt } from './trie.ts';

/** A space at revision 0 in which these agents have joined, each in its role. */
export function stageOf(schema: StateSchema, roles: { readonly [agent: string]: string }): Space {
  const joins = Object.entries(roles).map(([agent, role]) => ({ kind: 'join', agent, role, session: 'stage' }) as const);
  const events = [{ kind: 'genesis', schema: schema.digest, nonce: '' } as const, ...joins];
  return seal(unbornSpace('stage', schema), { term: 1, events, proposals: [] }).space;
}

/** The round in which these agents propose these patches on the newest revision. An agent proposes once. */
export function proposeAtOnce(space: Space, patches: readonly (readonly [agent: string, patch: JsonObject])[]): Sealed {
  const proposals = patches.map(([agent, patch]): Admitted => {
    const record = trieAt(space.agents, agent);
    const proposal: Proposal = {
      kind: 'proposal',
      v: 1,
      space: space.name,
      agent,
      incarnation: record?.incarnation ?? 1,
      n: (record?.n ?? 0) + 1,
      schema: space.schema.id,
      base: { revision: space.revision },
      patch,
    };
    return { proposal, text: canonical(proposal as unknown as Json) };
  });
  return seal(space, { term: 1, events: [], proposals });
}
