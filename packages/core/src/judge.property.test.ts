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
      { numRuns: 10_000 },
    );
  });

  test('[JDG14] whatever passes the gate gets a verdict: no patch makes the seal throw', () => {
    const leaf = fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    );
    const verbs = fc.constantFrom(
      'set',
      'unset',
      'inc',
      'add',
      'remove',
      'append',
      'at',
      'drop',
      'put',
      'patch',
      'to',
      'from',
      'raise',
      'claim',
      'release',
      'handoff',
      'k',
      'x',
      'n',
      '9',
      'f',
    );
    const tree = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(verbs, tie('value'), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value;
    fc.assert(
      fc.property(
        histories(),
        fc.dictionary(fc.constantFrom('f', 'f0', 'f1', 'f2', 'gauge', 'zz'), tree, { noNullPrototype: true, maxKeys: 3 }),
        (history, patch) => {
          const { state, spaces } = play({ ...history, rounds: history.rounds.slice(0, 1) });
          const space = spaces[0];
          if (space === undefined) return;
          const gated = canonical(patch as JsonObject);
          const proposal = {
            kind: 'proposal',
            v: 1,
            space: 'space',
            agent: 'ada',
            incarnation: 1,
            n: 1,
            schema: state.schema.id,
            base: { revision: 0 },
            patch: JSON.parse(gated) as JsonObject,
          } as const;
          let admitted: ReturnType<typeof admittedOf>;
          try {
            admitted = admittedOf(proposal);
          } catch {
            return; // Turned away at the gate: a string with hidden characters, a number spelled twice.
          }
          if (seal(space, { term: 1, events: [], proposals: [admitted] }).decided.length !== 1) throw new Error('no verdict');
        },
      ),
      { numRuns: 10_000 },
    );
  });
});
