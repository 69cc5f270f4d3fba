/**
 * A second, naive document over plain values: a list of merges, each with what it touched; everything is computed from the
 * whole list each time. It shares nothing with the kind but the spin of stamps.
 */
import type { Json, JsonObject, Stamp } from '@oplus/core';
import type { CausalHistory } from './causal-history.ts';

/** What stands at one place of the tree. */
type Node = { readonly values: readonly Json[]; readonly isObject: boolean; readonly members: ReadonlyMap<string, Node> };
type Entry = { readonly seen: ReadonlySet<number>; readonly stamp: Stamp; readonly touches: readonly Touch[] };
type Touch = { readonly tokens: readonly string[]; readonly value: Json | typeof OBJECT | undefined };

const OBJECT = Symbol('an object');

/** What the document shows when all these merges were made, and which of them changed something. */
export function naiveDocument(history: CausalHistory): { readonly json: JsonObject; readonly didChange: readonly boolean[] } {
  const log: Entry[] = [];
  for (const { agent, stamp, viewed, patch } of history) {
    // An agent's earlier merges bring what they had seen, if they changed anything.
    const own = [...viewed].filter((index) => history[index]?.agent === agent && (log[index]?.touches.length ?? 0) > 0);
    const seen = new Set([...viewed, ...own.flatMap((index) => [...(log[index]?.seen ?? [])])]);
    const touches: Touch[] = [];
    mergeInto(touches, nodeAt(log, [...seen], []), patch, []);
    log.push({ seen, stamp, touches });
  }
  const root = nodeAt(log, [...log.keys()], []);
  const contested: [string, Json][] = [];
  const value = plain(root, '', contested);
  return { json: { value, contested: Object.fromEntries(contested) }, didChange: log.map(({ touches }) => touches.length > 0) };
}

function nodeAt(log: readonly Entry[], visible: readonly number[], tokens: readonly string[]): Node {
  const standing = visible.filter((index) => {
    const own = valueAt(log, index, tokens);
    return (
      own !== undefined &&
      own !== 'untouched' &&
      !visible.some((later) => log[later]?.seen.has(index) === true && valueAt(log, later, tokens) !== 'untouched')
    );
  });
  standing.sort((a, b) => compare(log[b]?.stamp as Stamp, log[a]?.stamp as Stamp));
  const values = standing.map((index) => valueAt(log, index, tokens) as Json | typeof OBJECT);
  const distinct = values.filter((value, i) => values.findIndex((other) => same(other, value)) === i);
  const isRoot = tokens.length === 0;
  const keys = new Set(
    visible.flatMap((index) =>
      (log[index]?.touches ?? [])
        .filter((touch) => touch.tokens.length > tokens.length && tokens.every((token, i) => touch.tokens[i] === token))
        .map((touch) => touch.tokens[tokens.length] as string),
    ),
  );
  const members = [...keys].map((key): [string, Node] => [key, nodeAt(log, visible, [...tokens, key])]);
  const alive = members.filter(([, node]) => node.values.length > 0);
  return {
    values: (isRoot ? [OBJECT] : distinct) as readonly Json[],
    isObject: isRoot || distinct[0] === OBJECT,
    members: new Map(alive),
  };
}

function valueAt(log: readonly Entry[], index: number, tokens: readonly string[]): Touch['value'] | 'untouched' {
  const touch = log[index]?.touches.findLast(
    (one) => one.tokens.length === tokens.length && one.tokens.every((token, i) => token === tokens[i]),
  );
  return touch === undefined ? 'untouched' : touch.value;
}

/** Merges below an object; true when anything changed. */
function mergeInto(touched: Touch[], node: Node | undefined, patch: JsonObject, tokens: readonly string[]): boolean {
  let isChanged = false;
  for (const [key, value] of Object.entries(patch)) {
    const at = [...tokens, key];
    const member = node?.members.get(key);
    const isContested = (member?.values.length ?? 0) > 1;
    if (value === null) {
      if (member === undefined) continue;
      erase(touched, member, at);
    } else if (typeof value === 'object' && !Array.isArray(value)) {
      const isOld = member?.isObject === true;
      if (!isOld) erase(touched, member, at);
      const didChange = mergeInto(touched, isOld ? member : undefined, value as JsonObject, at);
      if (isOld && !isContested && !didChange) continue;
      touched.push({ tokens: at, value: OBJECT });
    } else {
      if (member !== undefined && !isContested && same(member.values[0] as Json, value)) continue;
      erase(touched, member, at);
      touched.push({ tokens: at, value });
    }
    isChanged = true;
  }
  return isChanged;
}

function erase(touched: Touch[], node: Node | undefined, tokens: readonly string[]): void {
  if (node === undefined) return;
  touched.push({ tokens, value: undefined });
  for (const [key, member] of node.members) erase(touched, member, [...tokens, key]);
}

function plain(node: Node, place: string, contested: [string, Json][] | undefined): JsonObject {
  const entries = [...node.members].map(([key, member]): [string, Json] => {
    const at = `${place}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const values = member.values.map((value, i): Json =>
      (value as unknown) === OBJECT ? plain(member, at, i === 0 ? contested : undefined) : value,
    );
    if (values.length > 1) contested?.push([at, values]);
    return [key, values[0] as Json];
  });
  return Object.fromEntries(entries);
}

function same(a: Json | typeof OBJECT, b: Json | typeof OBJECT): boolean {
  return a === b || (a !== OBJECT && b !== OBJECT && JSON.stringify(a) === JSON.stringify(b));
}

function compare(a: Stamp, b: Stamp): number {
  if (a.depth !== b.depth) return a.depth - b.depth;
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.spin !== b.spin) return a.spin - b.spin;
  return a.agent === b.agent ? a.n - b.n : a.agent < b.agent ? -1 : 1;
}
