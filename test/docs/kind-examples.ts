/**
 * One example for every field kind: its declaration as an author writes it, and two agents who write at once.
 *
 * `code` is the text on the page and is what runs. `known` says the rule in the words of those who know the field.
 */
import type { JsonObject } from '@oplus/core';

export type KindExample = {
  readonly kind: string;
  /** Where several entries show one kind. */
  readonly title?: string;
  readonly plain: string;
  readonly known: string;
  readonly code: string;
  /** What happened before, one round each: agent and patch. */
  readonly before?: readonly (readonly [agent: string, patch: JsonObject])[];
  /** The two that write on the same view. */
  readonly atOnce: readonly [JsonObject, JsonObject];
  /** Roles of ana and bo; both are `agent` when left out. */
  readonly roles?: readonly [string, string];
};

export const KIND_EXAMPLES: readonly KindExample[] = [
  {
    kind: 'cas',
    plain:
      'One value. You may replace what you have seen; if somebody changed it meanwhile, you are told and look again. The default for single values.',
    known: 'compare-and-set, optimistic concurrency, `If-Match`',
    code: "cas(z.string().max(40), { start: 'draft' })",
    atOnce: [{ set: 'ship on Monday' }, { set: 'ship on Friday' }],
  },
  {
    kind: 'lww',
    plain:
      'One value; of two that are set at once the one of the fresher reader stands, and the other is told so. For what is only ever roughly right, such as a mood or a position.',
    known: 'last-writer-wins register; the order is that of stamps (depth read, priority, spin, agent, n), not of clocks',
    code: 'lww(z.string().max(40))',
    atOnce: [{ set: 'going well' }, { set: 'stuck' }],
  },
  {
    kind: 'multi',
    plain: 'Keeps both values side by side until somebody who has seen them decides. For findings that must not be lost.',
    known: 'multi-value register (Dynamo, Riak siblings, `getConflicts` of Automerge)',
    code: 'multi(z.string().max(40))',
    atOnce: [{ set: 'port 80 is open' }, { set: 'port 80 is filtered' }],
  },
  {
    kind: 'priority',
    plain: "One value; a role with a higher priority wins, also over later readers. For a supervisor's decision.",
    known: 'priority register: last-writer-wins with the key (priority, stamp)',
    code: 'priority(z.string().max(40))',
    atOnce: [{ set: 'stop' }, { set: 'go on' }],
    roles: ['lead', 'agent'],
  },
  {
    kind: 'owned',
    plain:
      'Whoever sets it first owns it; others are refused until it is released, unless their role may force. Equal values share the ownership.',
    known: 'field ownership as in server-side apply of Kubernetes',
    code: "owned(z.string().max(40), { force: ['lead'] })",
    before: [['ana', { set: 'blue' }]],
    atOnce: [{ set: 'navy' }, { set: 'red' }],
  },
  {
    kind: 'claim',
    plain:
      'Held by one agent at a time: a task, a lock. It can be released with a word for the next holder or handed over. With a lease it ends by itself when the holder has left, or has proposed nothing for that long. While it is held, others do not drop the key or the row that it stands in [CLM12].',
    known: 'lease with a fencing token; the token says where in the log the grant stands',
    code: 'claim({ leaseMs: 60_000 })',
    atOnce: [{ claim: true }, { claim: true }],
  },
  {
    kind: 'group',
    plain: 'Several values that only make sense together: they are set whole, so no mix of two agents can come about.',
    known: 'atomic struct, `mapType=atomic`',
    code: "group({ x: z.int().min(0).max(99), y: z.int().min(0).max(99) }, { rule: 'lww' })",
    atOnce: [{ set: { x: 1, y: 2 } }, { set: { x: 8, y: 9 } }],
  },
  {
    kind: 'max',
    plain: 'A number that only rises: the highest that anybody reported.',
    known: 'max join',
    code: 'max({ lo: 0, hi: 100 })',
    atOnce: [{ raise: 40 }, { raise: 70 }],
  },
  {
    kind: 'min',
    plain: 'A number that only falls: the cheapest offer so far.',
    known: 'min join',
    code: 'min({ lo: 0, hi: 100 })',
    atOnce: [{ lower: 40 }, { lower: 70 }],
  },
  {
    kind: 'counter',
    plain: 'A sum. Agents add and subtract; nobody can set it, so nothing is lost [CNT1].',
    known: 'PN-counter; exactly-once comes from the dots',
    code: 'counter()',
    atOnce: [{ inc: 5 }, { inc: -2 }],
  },
  {
    kind: 'quota',
    plain: 'A sum within bounds: a budget, a stock. What would cross a bound is refused, with the room there is.',
    known: 'bounded counter, by admission',
    code: 'quota({ lo: 0, hi: 100, start: 100 })',
    atOnce: [{ inc: -60 }, { inc: -60 }],
  },
  {
    kind: 'escrow',
    title: 'quota in escrow mode',
    plain:
      'A budget that is dealt out: everybody spends from a share of their own, so nobody has to ask, and the whole is never overspent [ESC2].',
    known: 'bounded counter with escrow rights (Balegas et al. 2015)',
    code: "quota({ mode: 'escrow', lo: 0, start: 100, shares: 8, granters: ['lead'] })",
    before: [
      ['ana', { grant: { to: 'ana', amount: 50 } }],
      ['ana', { grant: { to: 'bo', amount: 30 } }],
    ],
    atOnce: [{ inc: -20 }, { inc: -40 }],
    roles: ['lead', 'agent'],
  },
  {
    kind: 'lattice',
    plain: 'A status that only moves forward; two different steps at once lead to the state that follows both.',
    known: 'finite join-semilattice; checked to be one when it loads',
    code: "lattice({ start: 'open', edges: { open: ['done', 'failed'], done: ['disputed'], failed: ['disputed'], disputed: [] } })",
    atOnce: [{ advance: 'done' }, { advance: 'failed' }],
  },
  {
    kind: 'machine',
    plain:
      'A status that moves along a table of your own, back and forth if you like. A move is judged from where things stand now.',
    known: 'state machine, transitions checked on the merged value',
    code: "machine({ start: 'open', moves: { open: ['doing'], doing: ['open', 'done'], done: [] } })",
    before: [['ana', { to: 'doing' }]],
    atOnce: [{ to: 'done' }, { to: 'open' }],
  },
  {
    kind: 'vote',
    plain: 'One ballot each, which its agent may change; the decision is taken once, when the quorum is there, and stays.',
    known: 'map of ballots with a latched quorum',
    code: "vote({ options: ['merge', 'wait'], voters: 3, quorum: 2 })",
    atOnce: [{ vote: 'merge' }, { vote: 'merge' }],
  },
  {
    kind: 'grow-set',
    plain: 'Values are added and stay [GST1].',
    known: 'G-set',
    code: "growSet(z.enum(['http', 'ssh', 'smtp']), { cap: 3 })",
    atOnce: [{ add: ['http'] }, { add: ['ssh'] }],
  },
  {
    kind: 'set',
    plain:
      'Values are added and removed. Who removes takes away only what they saw: a value that is added again at the same time stays.',
    known: 'OR-set, add-wins, without tombstones',
    code: 'set(z.string().max(20), { cap: 16 })',
    before: [['ana', { add: ['flaky'] }]],
    atOnce: [{ add: ['flaky'] }, { remove: ['flaky'] }],
  },
  {
    kind: 'remove-wins',
    plain:
      'As a set, and a remove beats an add that did not know of it; who has seen the remove may add again. For permissions: in doubt, without.',
    known: 'remove-wins set, tombstones up to the horizon',
    code: 'removeWins(z.string().max(20), { cap: 16 })',
    before: [['ana', { add: ['key-1'] }]],
    atOnce: [{ add: ['key-1'] }, { remove: ['key-1'] }],
  },
  {
    kind: 'top-k',
    plain: 'The best k values by a number in each, whoever added them. What falls off is told [TOP3].',
    known: 'top-k by a total order on immutable values',
    code: "topK(z.strictObject({ score: z.int().min(0).max(100), plan: z.string().max(20) }), { k: 1, by: 'score' })",
    atOnce: [{ add: [{ score: 60, plan: 'patch' }] }, { add: [{ score: 80, plan: 'rewrite' }] }],
  },
  {
    kind: 'log',
    title: 'log in commit order',
    plain:
      'The newest entries, in the order in which they were committed: what a reader has seen stays in front of what comes later.',
    known: 'bounded append-only list, sequenced',
    code: 'log(z.string().max(40), { keep: 3 })',
    before: [['ana', { append: ['cloned', 'built'] }]],
    atOnce: [{ append: ['tests pass'] }, { append: ['tests fail'] }],
  },
  {
    kind: 'log',
    title: 'log in stamp order',
    plain: 'The newest entries by what their authors had read: the same list whatever the timing, also when an entry comes late.',
    known: 'bounded list ordered by stamp; keep-last-k is a homomorphism',
    code: "log(z.string().max(40), { keep: 3, order: 'stamp' })",
    before: [['ana', { append: ['cloned', 'built'] }]],
    atOnce: [{ append: ['tests pass'] }, { append: ['tests fail'] }],
  },
  {
    kind: 'map',
    plain: 'Keys of your own choice, each with a value of one kind. Two agents who make the same key share it.',
    known: 'map with add-wins keys; children merge by their own rule',
    code: 'map(counter(), { cap: 32 })',
    atOnce: [{ at: { tests: { inc: 3 } } }, { at: { tests: { inc: 4 } } }],
  },
  {
    kind: 'records',
    plain:
      'Rows by id with named cells. A dropped row is gone: whoever still writes to it is told, and a new row of that name is another row.',
    known: 'rows with incarnations: id and birth dot; a drop of what one has seen wins over a later patch of it',
    code: 'records({ title: cas(z.string().max(40)), points: counter() }, { cap: 32 })',
    before: [['ana', { put: { t1: { title: { set: 'write the docs' } } } }]],
    atOnce: [{ patch: { t1: { points: { inc: 3 } } } }, { drop: ['t1'] }],
  },
  {
    kind: 'text',
    plain:
      'A text that several edit. Give what you want replaced; edits of different places merge, of one place the second is refused. For prose that counts; for loose notes there is `document`.',
    known: 'sequence with edits by content on a base; overlap is detected, not glued',
    code: "text({ charsMax: 400, start: 'The team meets on Monday at nine.' })",
    atOnce: [{ replace: { find: 'Monday', with: 'Tuesday' } }, { replace: { find: 'Monday', with: 'Friday' } }],
  },
  {
    kind: 'document',
    plain:
      'Notes of any shape, under a cap of bytes. Values that are written at once contend and are shown. For one text that many edit there is `text`.',
    known: 'JSON CRDT (Automerge); for working notes, not for what controls',
    code: 'document({ bytesMax: 2000 })',
    atOnce: [{ merge: { port: 80, host: 'a' } }, { merge: { port: 443 } }],
  },
  {
    kind: 'reduce',
    plain:
      'Your own pure function from the value and an update to the next value. It is tried when it loads; what is not pure carries no field.',
    known: 'reducer as in LangGraph, with its laws checked and its grade computed',
    code: `reduce({
  state: z.array(z.string().max(20)).max(3),
  update: z.string().max(20),
  start: [],
  reduce: (seen, one) => (seen.includes(one) ? seen : [...seen, one].slice(-3)),
})`,
    atOnce: [{ apply: 'alpha' }, { apply: 'beta' }],
  },
  {
    kind: 'derived',
    plain: 'Computed from other fields after every commit [DRV1]; nobody writes it [DRV2].',
    known: 'materialised view',
    code: "derived(z.string().max(20), { from: { done: counter() }, compute: ({ done }) => (done > 1 ? 'ready' : 'open') })",
    atOnce: [{ inc: 1 }, { inc: 1 }],
  },
];
