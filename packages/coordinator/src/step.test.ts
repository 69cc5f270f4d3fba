/** The coordinator and its log: one append at a time, settled before anybody hears of it. */
import { trieAt } from '@oplus/core';
import { expect, test } from 'vitest';
import { Desk, hello } from './testing/desk.ts';
import { step, takeLead } from './step.ts';

const kinds = (messages: readonly { readonly kind: string }[]): readonly string[] => messages.map(({ kind }) => kind);

test('[CO1] nobody hears of a round before its record has landed', () => {
  const desk = Desk.leading();
  const [ann, bob] = [desk.join('ann'), desk.join('bob')];
  expect([...ann.propose(1), ...bob.propose(1), ...desk.turn()]).toEqual([]);
  expect(kinds(desk.lose(false))).toEqual([]);
  expect(kinds(desk.answer())).toEqual([]);
  expect(kinds(desk.answer())).toEqual(['verdict', 'verdict']);
});

test('[CO1] what a round left out is refused only when the round has landed', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  const texts = [ann.write(1, { done: { inc: 1 } }), ann.write(1, { done: { inc: 2 } })].toSorted();
  desk.hear('ann', texts[1] as string);
  desk.hear('ann', texts[0] as string);
  expect(desk.turn()).toEqual([]);
  expect(desk.answer()).toMatchObject([
    { kind: 'verdict', n: 1 },
    { kind: 'refusal', revision: 2, issues: [{ code: 'equivocation' }] },
  ]);
});

test('[CO1] a proposal of a session that is taken over in the same round is refused only when that has landed', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  ann.propose(1);
  desk.hear('ann', hello('ann', 'ann-2', { after: 1 }));
  expect(desk.turn()).toEqual([]);
  expect(desk.answer()).toMatchObject([
    { kind: 'welcome', incarnation: 2, n: 0 },
    { kind: 'refusal', issues: [{ code: 'fenced' }] },
  ]);
});

test('[CO2] a lone proposal is sealed at once, and what comes meanwhile shares the next record', () => {
  const desk = Desk.leading();
  const hands = Array.from({ length: 12 }, (_, i) => desk.join(`w${i}`));
  const before = desk.log.length;
  hands[0]?.propose(1);
  desk.turn();
  expect(desk.asked?.kind).toBe('append');
  for (const hand of hands.slice(1)) {
    hand.propose(1);
    desk.turn();
  }
  expect(kinds(desk.answer())).toEqual(['verdict']);
  expect(kinds(desk.answer())).toEqual(Array.from({ length: 11 }, () => 'verdict'));
  expect(desk.log.length).toBe(before + 2);
});

test('[CO2] 64 proposals of one turn take one append', () => {
  const desk = Desk.leading();
  const hands = Array.from({ length: 64 }, (_, i) => desk.join(`w${i}`));
  const before = desk.log.length;
  for (const hand of hands) hand.propose(1);
  expect(kinds(desk.rest())).toEqual(Array.from({ length: 64 }, () => 'verdict'));
  expect(desk.log.length).toBe(before + 1);
});

test('[CO3] while an append or a read is under way nothing else is asked of the log', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  ann.propose(1);
  desk.turn();
  const { asked } = desk;
  for (let i = 0; i < 3; i += 1) desk.turn();
  expect(desk.asked).toBe(asked);
  desk.lose(true);
  const read = desk.asked;
  desk.hear('bob', hello('bob', 'bob-1'));
  desk.turn();
  expect(desk.asked).toBe(read);
});

test('[CO3] records after our own are read before anything more is appended', () => {
  const desk = Desk.leading();
  const [ann, bob] = [desk.join('ann'), desk.join('bob')];
  ann.propose(1);
  desk.turn();
  bob.propose(1);
  const zombie = `{"entries":[],"prev":"${'0'.repeat(64)}","term":1,"v":1}`;
  desk.lose(true);
  desk.log.push(zombie, zombie);
  // Both were void. Bob's round goes behind them.
  expect(kinds(desk.answer())).toEqual(['verdict']);
  expect(desk.asked).toMatchObject({ kind: 'append', tail: desk.log.length });
  expect(kinds(desk.answer())).toEqual(['verdict']);
});

test('[CO4] what the log holds after an unknown outcome has landed, and is not appended again', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  const before = desk.log.length;
  ann.propose(1);
  desk.turn();
  expect(desk.lose(true)).toEqual([]);
  expect(desk.asked).toMatchObject({ kind: 'readTail', from: before + 1 });
  expect(desk.answer()).toMatchObject([{ kind: 'verdict', verdict: { kind: 'committed' } }]);
  expect(desk.asked).toBe(undefined);
  expect(desk.announced.at(-1)).toBe(before + 1);
});

test('[CO4] what the log does not hold is appended again, byte for byte, however often', () => {
  const desk = Desk.leading();
  const [ann, bob] = [desk.join('ann'), desk.join('bob')];
  ann.propose(1);
  desk.turn();
  const first = desk.asked;
  for (let i = 0; i < 3; i += 1) {
    desk.lose(false);
    bob.propose(1);
    desk.turn();
    expect(desk.answer()).toEqual([]);
    expect(desk.asked).toEqual(first);
  }
  expect(kinds(desk.rest())).toEqual(['verdict', 'verdict']);
});

test('[CO4] an attempt that arrives late, after it was repeated, has landed once', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  ann.propose(1);
  desk.turn();
  const body = desk.asked?.kind === 'append' ? desk.asked.body : '';
  desk.lose(false);
  desk.answer();
  desk.log.push(body);
  expect(kinds(desk.answer())).toEqual([]); // conflict
  expect(kinds(desk.answer())).toEqual(['verdict']);
  expect(desk.log.filter((one) => one === body).length).toBe(1);
});

test('[CO5] void records are passed over, and the same bytes appended behind them', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  ann.propose(1);
  desk.turn();
  const body = desk.asked?.kind === 'append' ? desk.asked.body : '';
  desk.log.push(`{"entries":[],"prev":"${'0'.repeat(64)}","term":9,"v":1}`);
  desk.answer();
  desk.answer();
  expect(desk.asked).toEqual({ kind: 'append', tail: desk.log.length, body });
  expect(kinds(desk.answer())).toEqual(['verdict']);
  expect(desk.announced.at(-1)).toBe(desk.log.length);
});

test('[CO5][CO7] a coordinator that finds another leader ends, and appends and answers nothing more', () => {
  const first = Desk.leading();
  const ann = first.join('ann');
  const second = Desk.leading({ log: first.log });
  ann.propose(1);
  first.turn();
  first.answer();
  first.answer();
  expect(first.ended).toMatchObject({ code: 'FENCED', message: 'term 2 took over' });
  const length = first.log.length;
  expect([
    ...ann.propose(1),
    ...ann.propose(2),
    ...first.turn(),
    ...first.hear('ann', 'x'),
    ...first.tell({ kind: 'appended', index: 1 }),
  ]).toEqual([]);
  expect([first.asked, first.log.length]).toEqual([undefined, length]);
  expect(second.hear('ann', ann.write(1))).toEqual([]);
  expect(second.rest()).toMatchObject([{ kind: 'verdict', verdict: { kind: 'committed' } }]);
});

test('[CO5] our own record counts although another leader wrote behind it, and is answered', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  ann.propose(1);
  desk.turn();
  desk.lose(true);
  Desk.leading({ log: desk.log });
  expect(kinds(desk.answer())).toEqual(['verdict']);
  expect(desk.ended?.code).toBe('FENCED');
});

test('[CO6] two candidates write the same term record, and only the one whose append was acknowledged leads it', () => {
  const log: string[] = [];
  const [one, two] = [new Desk({ log }), new Desk({ log })];
  expect(one.asked).toEqual(two.asked);
  two.answer();
  expect(two.state).toMatchObject({ phase: 'leading', term: 1 });
  one.answer(); // conflict
  one.answer(); // finds its own bytes, which are those of the other
  expect(one.state).toMatchObject({ phase: 'taking', term: 2 });
  one.answer();
  expect(one.state).toMatchObject({ phase: 'leading', term: 2 });
});

test('[CO6] a term record whose outcome was unknown is left behind for the next term', () => {
  const desk = new Desk();
  desk.lose(true);
  desk.answer();
  expect(desk.state).toMatchObject({ phase: 'taking', term: 2 });
  desk.lose(false);
  desk.answer();
  expect(desk.state).toMatchObject({ phase: 'taking', term: 2 });
  desk.answer();
  expect(desk.state).toMatchObject({ phase: 'leading', term: 2 });
  desk.rest();
  expect(desk.space.revision).toBe(0);
});

test('[CO6] a candidate whose log grows under it takes the lead behind what has come', () => {
  const desk = Desk.leading();
  const late = new Desk({ log: desk.log });
  desk.join('ann');
  late.answer();
  late.answer();
  expect(late.state).toMatchObject({ phase: 'taking', term: 2 });
  late.rest();
  expect(trieAt(late.space.agents, 'ann')?.isLive).toBe(true);
});

test('[CO8] a record that was stored elsewhere is settled by reading', () => {
  const first = Desk.leading();
  const ann = first.join('ann');
  const second = Desk.leading({ log: first.log });
  ann.propose(1);
  first.turn();
  const body = first.asked?.kind === 'append' ? first.asked.body : '';
  first.asked = undefined;
  // A log that does not look at the tail.
  expect(first.tell({ kind: 'appended', index: first.log.push(body) })).toEqual([]);
  expect(first.answer()).toEqual([]);
  expect(first.ended?.code).toBe('FENCED');
  second.hear('ann', ann.write(1));
  expect(kinds(second.rest())).toEqual(['verdict']);
  expect(trieAt(second.space.agents, 'ann')?.n).toBe(1);
});

test('[CO20] a log that went backwards ends the coordinator', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  desk.log.splice(2);
  ann.propose(1);
  desk.turn();
  expect(desk.answer()).toEqual([]);
  expect(desk.ended).toMatchObject({
    code: 'LOG_DAMAGED',
    message: 'the log went backwards: record 3 was acknowledged, the newest is 2',
  });
});

test('[CO20] a tail that cannot be folded ends the coordinator', () => {
  const desk = Desk.leading();
  const ann = desk.join('ann');
  ann.propose(1);
  desk.turn();
  desk.log.push('nonsense');
  desk.answer();
  expect(desk.answer()).toEqual([]);
  expect(desk.ended?.code).toBe('LOG_DAMAGED');
});

test('[CO7] the step is pure: it may be told again from any state', () => {
  const { state } = takeLead({ shard: new Desk().state.shard, recent: new Map() }, { nonces: new Map(), barrier: undefined });
  const [one, two] = [step(state, { kind: 'appended', index: 1 }), step(state, { kind: 'appended', index: 1 })];
  expect(one).toEqual(two);
  expect(step(state, { kind: 'unknown' }).effects).toEqual([{ kind: 'readTail', from: 1 }]);
});
