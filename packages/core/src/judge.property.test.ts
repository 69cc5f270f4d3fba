import fc from 'fast-check';
import { describe, test, vi } from 'vitest';
import { withoutEchoes } from './echo.ts';
import type { Json, JsonObject } from './json.ts';
import { canonical } from './json.ts';
import { seal } from './seal.ts';
import { stateJson } from './space.ts';
import { admittedOf, choiceOf, histories, intentFrom, play } from './testing/index.ts';

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 300_000 });

describe('judge', () => {
  test('[JDG13] parts that repeat the view are no writes: without them the outcome on that view is the same', () => {
    fc.assert(
      fc.property(histories(), fc.nat(0x7fffffff), (history, what) => {
        const { state, spaces, rounds } = play(history);
        const space = spaces.at(-1);
        if (space === undefined) return;
        const choice = choiceOf(what);
        const patch: { [name: string]: Json } = {};
        for (const [name, spec] of Object.entries(state.specs)) patch[name] = intentFrom(spec, choice);
        const sent = rounds.flatMap((round) => round.proposals).filter(({ proposal }) => proposal.agent === 'ada');
        const incarnation = sent.at(-1)?.proposal.incarnation ?? 1;
        const outcome = (asked: JsonObject): string => {
          const proposal = admittedOf({
            kind: 'proposal',
            v: 1,
            space: 'space',
            agent: 'ada',
            incarnation,
            n: sent.length + 1,
            schema: state.schema.id,
            base: { revision: space.revision },
            patch: asked,
            action: { name: 'go', args: {} },
          });
          const sealed = seal(space, { term: 1, events: [], proposals: [proposal] });
          const [decided] = sealed.decided;
          return `${String(decided?.verdict.kind)} ${canonical(stateJson(sealed.space))}`;
        };
        const [whole, lean] = [outcome(patch), outcome(withoutEchoes(space, patch))];
        if (whole !== lean) throw new Error(`${canonical(patch)}\n${whole}\n${canonical(withoutEchoes(space, patch))}\n${lean}`);
      }),
      { numRuns: 3000 },
    );
  });
});
