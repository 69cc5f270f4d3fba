/**
 * T6, no resurrection and no cross-incarnation effect, as a check of a play: what was dropped or removed comes back only by
 * one who saw that, or, in a set where adds win, by one whom the remove had not seen.
 *
 * It looks at patches, verdicts and values alone.
 */
import type { Json, JsonObject } from '../json.ts';
import { canonical } from '../json.ts';
import { stateJson } from '../space.ts';
import type { Space } from '../space.ts';
import type { Play } from './histories.ts';
import { isAmong, listed, saw } from './leaf.ts';
import type { Leaf } from './leaf.ts';
import { at, isBelow, leavesByRound } from './leaves.ts';

/** What came back in a play, or was reached across a drop, in words; `undefined` when nothing was. */
export function resurrected(played: Play): string | undefined {
  /** The newest drop of every key and row, by path; and the removes and adds of every element. */
  const drops = new Map<string, Drop>();
  const removes = new Map<string, Leaf>();
  const adds = new Map<string, Leaf[]>();
  for (const [round, leaves] of leavesByRound(played).entries()) {
    for (const leaf of leaves) {
      const reached = acrossADrop(leaf, drops);
      if (reached !== undefined) return `round ${round + 1}, ${leaf.path}: ${reached}`;
      noteElements(leaf, removes, adds);
    }
    const after = stateJson(played.spaces[round + 1] as Space);
    for (const [path, { drop, isBack }] of drops)
      if (!isBack && at(after, drop.tokens) !== undefined)
        return `round ${round + 1}: ${path} is there, and nobody who saw its drop made it`;
    const back = elementBack(after, removes, adds);
    if (back !== undefined) return `round ${round + 1}: ${back}`;
  }
  return undefined;
}

/** `isBack` once somebody who saw the drop made the thing anew. */
type Drop = { readonly drop: Leaf; isBack: boolean };

/** Whether an accepted operation reached a key or row, or what is below, without having seen that it was dropped. */
function acrossADrop(leaf: Leaf, drops: Map<string, Drop>): string | undefined {
  const kind = leaf.outcomes[leaf.path]?.kind;
  const isIdle = leaf.spec === 'drop' && (kind === 'unchanged' || kind === 'superseded');
  for (const [path, known] of drops) {
    if (!isBelow(leaf.path, path)) continue;
    if (isIssued(leaf, known.drop)) drops.delete(path);
    // Who saw the drop of a row may put it again, also with nothing in it but drops of what is not there.
    else if (saw(leaf, known.drop)) known.isBack ||= leaf.spec !== 'drop' || leaf.path !== path;
    else if (!isIdle) return `reaches across the drop by ${known.drop.proposal.agent} ${known.drop.proposal.n}`;
  }
  if (leaf.spec !== 'drop' || isIdle) return undefined;
  for (const path of drops.keys()) if (isBelow(path, leaf.path)) drops.delete(path);
  drops.set(leaf.path, { drop: leaf, isBack: false });
  return undefined;
}

/** Whether the operation added a row under an id of its own making, which happened to be that of the dropped one. */
function isIssued(leaf: Leaf, drop: Leaf): boolean {
  return Object.values(leaf.outcomes).some((outcome) => outcome.kind === 'merged' && outcome.id === drop.tokens.at(-1));
}

/** Elements of sets, by the path of the set and the element's canonical text. */
function noteElements(leaf: Leaf, removes: Map<string, Leaf>, adds: Map<string, Leaf[]>): void {
  if (leaf.spec === 'drop') {
    for (const noted of [removes, adds]) for (const key of noted.keys()) if (key.startsWith(`${leaf.path}/`)) noted.delete(key);
    return;
  }
  if (leaf.spec.kind !== 'set' && leaf.spec.kind !== 'remove-wins') return;
  for (const value of listed(leaf, 'add')) {
    const key = `${leaf.path}/ ${canonical(value)}`;
    adds.set(key, [...(adds.get(key) ?? []), leaf]);
  }
  for (const [i, value] of listed(leaf, 'remove').entries())
    if (leaf.outcomes[`${leaf.path}/remove/${i}`] === undefined) removes.set(`${leaf.path}/ ${canonical(value)}`, leaf);
}

/** Whether an element stands after its newest remove without an add that may stand beside that. */
function elementBack(after: JsonObject, removes: Map<string, Leaf>, adds: Map<string, Leaf[]>): string | undefined {
  for (const [key, remove] of removes) {
    const value = JSON.parse(key.slice(remove.path.length + 2)) as Json;
    if (!isAmong(at(after, remove.tokens), value)) continue;
    const isAddWins = remove.spec !== 'drop' && remove.spec.kind === 'set';
    const isKept = (adds.get(key) ?? []).some((add) => (isAddWins ? !saw(remove, add) : saw(add, remove)));
    if (!isKept) return `${key} is there again, and no add may stand beside its remove`;
  }
  return undefined;
}
