/**
 * `remove-wins`: a set of which a remove also holds against adds that have not seen it. For revocations.
 *
 * A value is present iff some add has seen every remove of it. So a remove deletes the adds before it, and is remembered, as
 * a tombstone, against those that come later without having seen it; one that saw every remove makes the value present
 * again, and they stay remembered against the others. Removes are forgotten when no base can predate them (graves.ts), and
 * of one agent's the latest stands for all: who saw it saw the earlier ones. Source: Shapiro et al. 2011, "A comprehensive
 * study of CRDTs", §3.3; the mistakes to avoid are those of CRDT-Redis #2 and #9. SPEC: RMW1-RMW8.
 */
import type { z } from 'zod';
import type { Mark } from '../dot.ts';
import { leafDigest } from '../digest.ts';
import { affirmed, decodeMark, encodeMark } from '../dot.ts';
import { fieldFrom } from '../fault.ts';
import type { Attempt, Field, FieldKind, Grade } from '../field-kind.ts';
import { cappedType } from '../field-options.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonical } from '../json.ts';
import { conflict, gone, outOfBounds, superseded } from '../refusal.ts';
import type { Trie } from '../trie.ts';
import { emptyTrie, trieAt, trieDigest, trieWith, trieWithout } from '../trie.ts';
import { cardinalityOf } from '../value-samples.ts';
import { setView } from './collection-view.ts';
import type { SetView } from './collection-view.ts';
import type { Element } from './element.ts';
import { decodeElements, elementValues, encodeElement, encodeElements, unseenOf, withAdd } from './element.ts';
import type { Graves } from './graves.ts';
import { decodeGraves, encodeGraves, graveOf, GRAVES_MAX, gravesDigest, NO_GRAVES, withGrave } from './graves.ts';
import type { SetIntent, SetOptions } from './set.ts';
import type { ValueLists } from './value-lists.ts';
import { assignedLists, listedAims, valueLists } from './value-lists.ts';

/** A set in which a remove beats every add that has not seen it. `cap` is the largest number of values that stand. */
export function removeWins<T extends Json>(of: z.ZodType<T>, options: SetOptions): Field<SetView<T>, SetIntent<T>> {
  return fieldFrom(() => removeWinsOf(of, options));
}

function removeWinsOf(of: z.ZodType<Json>, options: SetOptions): FieldKind<RevocableSet, ValueLists> {
  const type = cappedType(of, 'remove-wins', 'Use removeWins(type, { cap: 64 }).', options);
  const { cap } = options;
  const kind: FieldKind<RevocableSet, ValueLists> = {
    name: 'remove-wins',
    ...valueLists('remove-wins', type, VERBS, cap),
    grade: gradeOf(cardinalityOf(type.jsonSchema), cap),
    bytesMax: 2 + cap * (type.bytesMax + 1),
    summary: `at most ${cap} different values; a remove also holds against adds that have not seen it`,
    empty: (born) => ({ live: emptyTrie(), graves: NO_GRAVES, mark: born, born }),
    aims: (cell, op, path) => listedAims(op, path, (text) => trieAt(cell.live, text) !== undefined),
    fold: (cell, op, path, attempt) => fold(cap, cell, op, path, attempt),
    withoutEcho: (_, op) => (op.add.length + op.remove.length === 0 ? undefined : op),
    newest: (cell) => cell.mark,
    view: (cell) => setView(cell.live, (element) => element.value),
    json: (cell) => elementValues(cell.live),
    encode: (cell) =>
      `{"born":${encodeMark(cell.born)},"graves":${encodeGraves(cell.graves)},"items":${encodeElements(cell.live)},"mark":${encodeMark(cell.mark)}}`,
    decode: (stored) => {
      const { born, graves, items, mark } = stored as JsonObject;
      return { live: decodeElements(items), graves: decodeGraves(graves), mark: decodeMark(mark), born: decodeMark(born) };
    },
    digest: ({ live, graves, mark, born }, sha256) => {
      const digests = `"${trieDigest(live, encodeElement, sha256)}",${gravesDigest(graves, sha256)}`;
      return leafDigest(`[${digests},${encodeMark(mark)},${encodeMark(born)}]`, sha256);
    },
    assign: (cell, change, path, complain) =>
      assignedLists('remove-wins', VERBS, elementValues(cell.live), change, path, complain),
    declaration: () => ({ kind: 'remove-wins', cap, of: type.jsonSchema }),
  };
  return kind;
}

/** `graves` holds the removes of each value, also while it stands. `born` is the mark of what made the set empty. */
type RevocableSet = {
  readonly live: Trie<Element>;
  readonly graves: Graves<readonly Mark[]>;
  readonly mark: Mark | undefined;
  readonly born: Mark | undefined;
};

const VERBS = ['add', 'remove'] as const;

function gradeOf(cardinality: number, cap: number): Grade {
  return cardinality <= cap && cardinality < GRAVES_MAX
    ? { letter: 'A', why: 'a value is there when an add has seen every remove of it, and there is room for every value' }
    : {
        letter: 'B',
        why: `adds and removes commute (A); the log decides who gets the last room, and which views are too old once ${GRAVES_MAX} removes are remembered`,
      };
}

function fold(cap: number, cell: RevocableSet, op: ValueLists, path: string, attempt: Attempt): RevocableSet {
  if (!attempt.sees(cell.born)) {
    attempt.refuse(path, gone('remove-wins', cell.born, attempt.agent));
    return cell;
  }
  let { live, graves } = cell;
  for (const [at, value] of op.remove.entries()) {
    const key = canonical(value);
    const over = unseenOf(trieAt(live, key)?.marks ?? [], attempt).at(-1);
    if (over !== undefined) attempt.note(`${path}/remove/${at}`, { kind: 'merged', over: { agent: over.agent, n: over.n } });
    live = trieWithout(live, key);
    graves = withGrave(graves, key, [...othersOf(removesOf(graves, key), attempt), attempt.mark], attempt.horizon);
  }
  for (const [at, value] of op.add.entries()) {
    const key = canonical(value);
    const addPath = `${path}/add/${at}`;
    const element = trieAt(live, key);
    const remove = unseenOf(removesOf(graves, key), attempt).at(-1);
    if (remove === undefined) live = trieWith(live, key, withAdd(element, value, attempt));
    if (element !== undefined) attempt.note(addPath, { kind: 'unchanged' });
    else if (remove?.agent === '') attempt.refuse(addPath, conflict('remove-wins', undefined, value, remove, attempt.agent));
    else if (remove !== undefined) attempt.note(addPath, superseded(remove.agent, null));
  }
  if (live.size > cap && live.size > cell.live.size) {
    const hint = `At most ${cap} values; remove some first.`;
    attempt.refuse(path, outOfBounds('remove-wins', cell.live.size, { add: op.add.length }, hint));
    return cell;
  }
  if (live === cell.live && graves === cell.graves) return cell;
  const mark = affirmed(cell.mark, attempt.mark);
  return { live, graves, mark, born: cell.born };
}

/** The removes of a value that are remembered; one without an agent where some may have been forgotten. */
function removesOf(graves: Graves<readonly Mark[]>, key: string): readonly Mark[] {
  const grave = graveOf(graves, key);
  return grave === undefined ? [] : 'agent' in grave ? [grave] : grave;
}

/** The removes by others that a base may still predate. */
function othersOf(removes: readonly Mark[], attempt: Attempt): readonly Mark[] {
  return removes.filter((mark) => mark.agent !== attempt.agent && mark.revision > attempt.horizon);
}
