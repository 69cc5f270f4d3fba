/** Barrier mode: what was said decides, not when it arrived. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tagOf } from '@oplus/protocol';
import type { Downward } from '@oplus/protocol';
import { Desk, hello, leave, pass, proposal } from './testing/desk.ts';

const NAMES = ['ann', 'bob', 'cy', 'dee', 'eve'];

/** What each agent says in each round: a proposal with or without bulk, or nothing. In its last round an agent leaves. */
type Script = readonly (readonly ('small' | 'large' | 'pass')[])[];

/** Somebody speaks in every round: where all pass there is no next revision, and who has passed on one proposes on a later one. */
const scripts: fc.Arbitrary<Script> = fc.array(
  fc
    .array(fc.constantFrom('small' as const, 'large' as const, 'small' as const, 'pass' as const), {
      minLength: NAMES.length,
      maxLength: NAMES.length,
    })
    .filter((round) => round.some((word) => word !== 'pass')),
  { minLength: 1, maxLength: 5 },
);

/** Plays a script with the arrivals of each round shuffled, repeated and told in turns of any size. */
function play(script: Script, jitter: () => number): Desk {
  const desk = new Desk({ barrier: { agents: NAMES.length } });
  const arrive = (messages: readonly (readonly [string, string])[]): void => {
    const waiting = [...messages];
    const heard: (readonly [string, string])[] = [];
    while (waiting.length > 0) {
      const [message] = waiting.splice(jitter() % waiting.length, 1) as [readonly [string, string]];
      heard.push(message);
      desk.hear(...message);
      // A repetition of anything said so far, in this round or an earlier one.
      if (jitter() % 3 === 0) desk.hear(...(heard[jitter() % heard.length] as readonly [string, string]));
      if (said.length > 0 && jitter() % 3 === 0) desk.hear(...(said[jitter() % said.length] as readonly [string, string]));
      if (jitter() % 2 === 0) desk.turn();
      if (jitter() % 2 === 0 && desk.asked !== undefined) desk.answer();
    }
    said.push(...heard);
    desk.rest();
  };
  const said: (readonly [string, string])[] = [];
  desk.rest();
  arrive(NAMES.map((name) => [name, hello(name, `${name}-1`)]));
  const decided = new Map(NAMES.map((name) => [name, 0]));
  const open = new Map<string, string>();
  // Nobody leaves before it is answered: rounds of passes follow until everybody is.
  for (let at = 0; at < script.length || open.size > 0; at += 1) {
    const round = script[at] ?? NAMES.map(() => 'pass' as const);
    const { revision, head, schema, name: space } = desk.space;
    const base = { revision, digest: head.slice(0, 16) };
    arrive(
      NAMES.map((agent, i) => {
        // Whoever has not been answered says the same again.
        const text = open.get(agent);
        if (text !== undefined) return [agent, text];
        if (round[i] === 'pass') return [agent, pass(agent, 1, revision)];
        const n = (decided.get(agent) as number) + 1;
        const action = { name: 'keep', args: { data: 'x'.repeat(round[i] === 'large' ? 60_000 : 1) } };
        const patch = { done: { inc: i + 1 }, budget: { inc: 1 } };
        open.set(agent, proposal({ space, agent, incarnation: 1, n, schema: schema.id, base, patch, action }));
        return [agent, open.get(agent) as string];
      }),
    );
    for (const agent of NAMES) {
      const newest = Math.max(
        0,
        ...desk.sent.flatMap(({ message }): readonly number[] => (isVerdictOf(message, agent) ? [message.n] : [])),
      );
      if (newest > (decided.get(agent) as number)) open.delete(agent);
      decided.set(agent, newest);
    }
  }
  arrive(NAMES.map((name) => [name, leave(name, 1)]));
  return desk;
}

/** One line a record: what differs is where they part, not what they hold. */
function digestsOf(desk: Desk): readonly string[] {
  return desk.log.map((body) => tagOf(body));
}

function isVerdictOf(message: Downward, agent: string): message is Extract<Downward, { kind: 'verdict' }> {
  return message.kind === 'verdict' && message.agent === agent;
}

test('[CO18][T3] the same words give the same log, byte for byte, in whatever order and however often they arrive', () => {
  fc.assert(
    fc.property(scripts, fc.array(fc.nat(1000), { minLength: 1, maxLength: 50 }), (script, jitters) => {
      let at = 0;
      const shuffled = play(script, () => jitters[(at += 1) % jitters.length] as number);
      expect(digestsOf(shuffled)).toEqual(digestsOf(play(script, () => 0)));
    }),
    { numRuns: 150 },
  );
});

test('[CO18] a round waits for everybody, and a repetition of what is decided is not a word', () => {
  const desk = new Desk({ barrier: { agents: 2 } });
  desk.rest();
  desk.hear('ann', hello('ann', 'ann-1'));
  expect(desk.rest()).toEqual([]);
  desk.hear('bob', hello('bob', 'bob-1'));
  expect(desk.rest()).toHaveLength(2);
  const say = (agent: string, n: number): string => {
    const { revision, schema, name } = desk.space;
    return proposal({
      space: name,
      agent,
      incarnation: 1,
      n,
      schema: schema.id,
      base: { revision },
      patch: { done: { inc: 1 } },
    });
  };
  const first = say('ann', 1);
  desk.hear('ann', first);
  expect(desk.rest()).toEqual([]);
  desk.hear('bob', say('bob', 1));
  desk.turn();
  desk.hear('ann', first); // arrives while its round is under way
  expect(desk.rest()).toHaveLength(2);
  desk.hear('bob', say('bob', 2));
  expect(desk.rest()).toEqual([]);
  desk.hear('ann', pass('ann', 1, 1)); // on a revision that is over
  expect(desk.rest()).toEqual([]);
  desk.hear('ann', pass('ann', 1, 2));
  expect(desk.rest()).toMatchObject([{ kind: 'verdict', agent: 'bob', n: 2 }]);
});

test('[CO18] whoever leaves has spoken, and nobody waits for it afterwards', () => {
  const desk = new Desk({ barrier: { agents: 2 } });
  desk.rest();
  for (const name of ['ann', 'bob']) desk.hear(name, hello(name, `${name}-1`));
  desk.rest();
  desk.hear('bob', leave('bob', 1));
  expect(desk.rest()).toEqual([]);
  desk.hear('ann', pass('ann', 1, 1));
  expect(desk.rest()).toMatchObject([{ kind: 'left', agent: 'bob' }]);
  const { schema } = desk.space;
  desk.hear(
    'ann',
    proposal({
      space: 'board',
      agent: 'ann',
      incarnation: 1,
      n: 1,
      schema: schema.id,
      base: { revision: 2 },
      patch: { done: { inc: 1 } },
    }),
  );
  expect(desk.rest()).toMatchObject([{ kind: 'verdict' }]);
});

test('[CO18] passes of those who are not there are not kept', () => {
  const desk = new Desk({ barrier: { agents: 1 } });
  desk.rest();
  desk.join('ann');
  for (const body of [pass('bob', 1, 1), pass('ann', 2, 1), pass('ann', 1, 9)])
    desk.hear(body.includes('bob') ? 'bob' : 'ann', body);
  expect(desk.state.waiting.size).toBe(0);
});
