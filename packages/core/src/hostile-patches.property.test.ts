import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { FieldKind } from './field-kind.ts';
import { fromJsonPatch, fromMergePatch, fromPaperAnswer } from './imports.ts';
import type { Imported } from './imports.ts';
import type { Issue } from './issue.ts';
import { EXCERPT_CHARS_MAX, ISSUES_MAX } from './issue.ts';
import type { Json } from './json.ts';
import { canonical, isJsonObject, pointer, utf8Bytes } from './json.ts';
import { admit } from './proposal.ts';
import { seal } from './seal.ts';
import type { AgentRecord, Space } from './space.ts';
import { stateJson } from './space.ts';
import type { FieldSpec } from './testing/index.ts';
import { choiceOf, fieldOf, histories, intentFrom, numbersFrom, play, runsOf, SAMPLE_KINDS } from './testing/index.ts';
import { trieAt } from './trie.ts';

/**
 * What nobody should send, at every kind of the registry, alone and nested: values of other shapes, hostile keys, damaged
 * patches of the kind's own, and foreign patches whose paths lead to prototypes.
 */
const RUNS = runsOf(2_000);

/** Generated histories take their time on a busy machine. */
vi.setConfig({ testTimeout: 3_600_000 });

/** Text, so that `__proto__` is a key of its own, as it is in a message. */
const parsed = (text: string): Json => JSON.parse(text) as Json;

/** Keys of prototypes, odd keys, keys that stand in sample states, and every verb. */
const KEYS: readonly string[] = [
  ...'__proto__ constructor prototype toString hasOwnProperty valueOf length then toJSON'.split(' '),
  ...',-,0,01,1e3, ,a/b~c,~2,nosuch,f,k,r,9,x,n,find,with,amount,outcome,key,change,id'.split(','),
  'k'.repeat(65),
  ...new Set(SAMPLE_KINDS.flatMap((sample) => sample.simple.flatMap((spec) => fieldOf(spec).verbs))),
];

const WORDS = ['a', 'x'.repeat(3_000), '__proto__', 'ada', '\ud800', '\u0000', '\u200b', '10', 'null', '[]'];

/** More keys than a verdict lists issues. */
const MANY = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`many ${i}`, { nosuch: 1 }]));

/** What programs forget: the first of these are tried most. */
const VALUES: readonly Json[] = [
  null,
  [],
  {},
  '',
  0,
  true,
  MANY,
  { at: MANY },
  { set: 'x'.repeat(3_000) },
  false,
  -1,
  0.5,
  1e300,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  ...WORDS,
  [null],
  [{}],
  [['k', { set: 'a' }]],
  { set: 'a' },
  { inc: 1 },
  { at: {} },
  Array.from({ length: 70 }, (_, i) => i),
  Array.from({ length: 20 }).reduce<Json>((inner) => [inner], 'deep'),
  Array.from({ length: 20 }).reduce<Json>((inner) => ({ at: { k: inner } }), 'deep'),
  parsed('{"__proto__":{"polluted":true}}'),
  parsed('{"constructor":{"prototype":{"polluted":true}}}'),
  parsed('{"at":{"__proto__":{"set":{"polluted":true}}}}'),
  parsed('{"set":{"__proto__":{"polluted":true},"toJSON":1}}'),
];

/** JSON with the keys that our patches have, and those that nobody should have. */
const tree: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...VALUES),
    fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(fc.constantFrom(...KEYS), tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;

/** The value with one thing wrong somewhere in it. */
function damaged(value: Json, next: () => number): Json {
  const wrong = VALUES[next() % (next() % 2 === 0 ? 6 : VALUES.length)] as Json;
  const key = KEYS[next() % KEYS.length] as string;
  const at = next();
  switch (next() % 8) {
    case 0:
    case 1:
      return wrong;
    case 2:
      return isJsonObject(value) ? Object.fromEntries([...Object.entries(value), [key, wrong]]) : [value];
    case 3:
      return isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([, part]) => [key, part])) : { [key]: value };
    case 4:
      return Array.isArray(value) ? [...(value as Json[]), ...(value as Json[]), wrong] : { [key]: value };
    default: {
      if (typeof value !== 'object' || value === null) return wrong;
      const entries = Object.entries(value);
      const parts = entries.map(([name, part], i): readonly [string, Json] => [
        name,
        i === at % entries.length ? damaged(part as Json, next) : (part as Json),
      ]);
      return Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts);
    }
  }
}

/** The patch as a model answers it, with lists of keyed changes, before something in it goes wrong. */
function answered(intent: Json): Json {
  if (!isJsonObject(intent)) return intent;
  return Object.fromEntries(
    Object.entries(intent).map(([key, value]) => {
      if (!isJsonObject(value)) return [key, value];
      if (!['at', 'put', 'patch'].includes(key)) return [key, answered(value)];
      return [key, Object.entries(value).map(([name, change]) => ({ key: name, change: answered(change) }))];
    }),
  );
}

/** A space in which something stands, one thing to send to one of its fields, and numbers for more. */
type Attack = { readonly space: Space; readonly name: string; readonly intent: Json; readonly next: () => number };

/** Checks a property on attacks. What fast-check prints is the plain data that they are made of. */
function underAttack(check: (attack: Attack) => void): void {
  fc.assert(
    fc.property(histories(), fc.option(tree), fc.nat(0x7fffffff), (history, wild, seed) => {
      const next = numbersFrom(seed);
      const { state, spaces } = play({ ...history, rounds: history.rounds.slice(0, 2) });
      const names = Object.keys(state.specs);
      const name = names[next() % names.length] as string;
      const valid = intentFrom(state.specs[name] as FieldSpec, choiceOf(next()));
      check({ space: spaces.at(-1) as Space, name, intent: wild ?? (next() % 4 === 0 ? valid : damaged(valid, next)), next });
    }),
    { numRuns: RUNS },
  );
}

function kindAt({ space, name }: Attack): readonly [FieldKind, unknown] {
  const index = space.schema.indexOf.get(name) as number;
  return [space.schema.kinds[index] as FieldKind, space.cells[index]];
}

const clean = [Object.prototype, Array.prototype, Function.prototype].map((one) => Reflect.ownKeys(one).length);

afterEach(() => {
  expect([Object.prototype, Array.prototype, Function.prototype].map((one) => Reflect.ownKeys(one).length)).toEqual(clean);
});

/** Two excerpts, a path and a hint. */
const ISSUE_BYTES_MAX = EXCERPT_CHARS_MAX * 2 + 1_200;

function isBounded(issues: readonly Issue[]): boolean {
  return (
    issues.length <= ISSUES_MAX && issues.every((issue) => utf8Bytes(canonical(issue as unknown as Json)) <= ISSUE_BYTES_MAX)
  );
}

describe('hostile patches', () => {
  test('[JDG14][JDG11][T7] whatever passes the gate gets a verdict, which is bounded, and a refusal leaves no mark', () => {
    const tally = { gate: 0, rejected: 0, committed: 0 };
    underAttack(({ space, name, intent, next }) => {
      const agent = ['ada', 'bob'][next() % 2] as string;
      const { n, incarnation } = trieAt(space.agents, agent) as AgentRecord;
      const patch = next() % 8 === 0 ? damaged({ [name]: intent }, next) : { [name]: intent };
      const premises = next() % 8 === 0 ? [pointer(name, KEYS[next() % KEYS.length] as string, 'k')] : undefined;
      const base = { revision: next() % (space.revision + 1) };
      const dot = { space: 'space', agent, incarnation, n: n + 1 };
      const proposal = { kind: 'proposal', v: 1, ...dot, schema: space.schema.id, base, patch, premises };
      const gated = admit(JSON.stringify(proposal), agent);
      if (!gated.ok) {
        tally.gate += 1;
        expect(isBounded(gated.issues)).toBe(true);
        return;
      }
      const sealed = seal(space, { term: 1, events: [], proposals: [gated.value] });
      const [decided] = sealed.decided;
      if (decided === undefined) throw new Error('no verdict');
      tally[decided.verdict.kind] += 1;
      expect(utf8Bytes(decided.verdictText)).toBeLessThan(ISSUES_MAX * ISSUE_BYTES_MAX);
      if (decided.verdict.kind === 'committed') return;
      expect(isBounded(decided.verdict.issues)).toBe(true);
      expect(sealed.space.digests).toEqual(space.digests);
    });
    expect(Math.min(tally.gate, tally.rejected, tally.committed)).toBeGreaterThan(RUNS / 100);
  });

  test('[JDG14] what has not passed the gate is read without a throw too: an operation, or a complaint', () => {
    underAttack((attack) => {
      const [kind, cell] = kindAt(attack);
      const before = kind.encode(cell);
      let complaints = 0;
      const op = kind.read(attack.intent, '/f', () => (complaints += 1));
      expect(op === undefined).toBe(complaints > 0);
      if (op === undefined) return;
      expect([kind.weigh(op), kind.erases(op)].every((count) => Number.isSafeInteger(count) && count >= 0)).toBe(true);
      kind.withoutEcho(cell, op);
      kind.write(op);
      expect(kind.encode(cell)).toBe(before);
    });
  });

  test('[STS3] whatever a model answers is made JSON without a throw, for the reader to judge', () => {
    underAttack((attack) => {
      const [kind] = kindAt(attack);
      for (const answer of [attack.intent, damaged(answered(attack.intent), attack.next)])
        kind.read(kind.fromModel(answer), '/f', () => undefined);
    });
  });

  test('[IMP2][IMP4] a merge patch is done, refused, or asks for what stands already', () => {
    const tally = { empty: 0, done: 0 };
    underAttack(({ space, name, intent, next }) => {
      const now = stateJson(space)[name] as Json;
      for (const wanted of [intent, damaged(now, next), now]) {
        const imported = fromMergePatch(space, { [name]: wanted });
        // To erase what somebody holds or owns is to give it up, and comes to nothing where nobody does.
        if (!imported.ok || wanted === null || isHeld(space.schema.kinds[space.schema.indexOf.get(name) as number])) continue;
        if (Object.keys(imported.patch).length > 0) tally.done += 1;
        else {
          tally.empty += 1;
          if (canonical(bare(merged(now, wanted))) !== canonical(bare(now)))
            throw new Error(`${canonical(wanted)} is no change of ${canonical(now)}`);
        }
      }
    });
    expect(Math.min(tally.empty, tally.done)).toBeGreaterThan(RUNS / 100);
  });

  test('[IMP9][SURPRISE 32] no foreign patch makes an import throw or reaches a prototype, by path or by from', () => {
    underAttack(({ space, name, intent, next }) => {
      const values = stateJson(space);
      const state = canonical(values);
      const path = (): string => {
        const tokens = Array.from({ length: next() % 4 }, () => KEYS[next() % KEYS.length] as string);
        return next() % 8 === 0 ? (tokens[0] ?? '') : pointer(name, ...tokens);
      };
      const operations = Array.from({ length: 1 + (next() % 3) }, (): Json => {
        const op = ['add', 'replace', 'remove', 'test', 'move', 'copy', '__proto__'][next() % 7] as string;
        return { op, path: path(), from: path(), value: next() % 2 === 0 ? intent : (VALUES[next() % VALUES.length] as Json) };
      });
      const imports: readonly Imported[] = [
        fromMergePatch(space, { [name]: intent }),
        fromMergePatch(space, { [name]: damaged(values[name] as Json, next) }),
        fromMergePatch(space, intent),
        fromPaperAnswer(space, { state_patch: { [name]: intent }, action: intent }),
        fromJsonPatch(space, operations),
        fromJsonPatch(space, intent),
      ];
      for (const imported of imports) {
        if (imported.ok) expect(JSON.parse(JSON.stringify(imported.patch))).toEqual(imported.patch);
        else expect(imported.issues).not.toEqual([]);
      }
      expect(canonical(stateJson(space))).toBe(state);
    });
  });
});

/** RFC 7396, in its own words. */
function merged(target: Json, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const result = new Map(Object.entries(isJsonObject(target) ? target : {}));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, merged(result.get(key) ?? null, value));
  }
  return Object.fromEntries(result);
}

/** True for what agents hold or own, also below. */
function isHeld(kind: FieldKind | undefined): boolean {
  return ['claim', 'owned', 'group'].includes(kind?.name ?? '') || Object.values(kind?.parts ?? {}).some(isHeld);
}

/** As far as a merge patch can tell: members that are null or hold nothing are as good as absent, and a list is what is in it. */
function bare(value: Json): Json {
  if (Array.isArray(value)) return value.length === 0 ? null : [...new Set(value.map((item) => canonical(item as Json)))].sort();
  if (!isJsonObject(value)) return value === '' ? null : value;
  const parts = Object.entries(value).map(([key, part]): [string, Json] => [key, bare(part)]);
  const kept = parts.filter(([, part]) => part !== null);
  return kept.length === 0 ? null : Object.fromEntries(kept);
}
