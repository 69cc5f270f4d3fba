/**
 * Cells of the naive model, and what one proposal does to them.
 */
import type { Json, JsonObject } from '../json.ts';
import { isOf } from './spec.ts';
import type { FieldSpec } from './spec.ts';

type Stamp = { depth: number; priority: number; spin: number; agent: string; n: number };

/** One shape for all kinds; each uses its own part. `dots` lists every dot that changed the cell since it was made. */
export type NaiveCell = {
  value: Json | undefined;
  outcome: string | undefined;
  writer: string | undefined;
  writes: { value: Json | undefined; stamp: Stamp }[];
  adds: { [text: string]: string[] };
  entries: { value: Json; stamp: Stamp; at: number }[];
  children: { [key: string]: NaiveCell };
  /** Of a collection: key to the dot that dropped it last. */
  drops: { [key: string]: string[] };
  /** Of a collection below a dropped key: that drop. Of a row: its birth, and the drop of the row before it. */
  born: string[];
  birth: string[];
  dots: string[];
};

/** An empty cell; `dots` holds the drop that emptied it, if there was one. */
export function newCell(spec: FieldSpec, dots: readonly string[]): NaiveCell {
  const start = 'start' in spec ? (spec.start as Json) : undefined;
  return {
    value: start,
    outcome: undefined,
    writer: dots[0],
    writes: [],
    adds: {},
    entries: [],
    children: {},
    drops: {},
    born: [...dots],
    birth: [],
    dots: [...dots],
  };
}

/** One proposal at work. */
export class NaiveTrial {
  isRefused = false;
  readonly outcomes: { [path: string]: string } = {};
  readonly agent: string;
  readonly n: number;
  readonly past: ReadonlySet<string>;
  readonly stamp: Stamp;

  constructor(agent: string, n: number, past: ReadonlySet<string>, stamp: Stamp) {
    this.agent = agent;
    this.n = n;
    this.past = past;
    this.stamp = stamp;
  }

  sawAll(dots: readonly string[]): boolean {
    return dots.every((dot) => this.past.has(dot));
  }

  fold(spec: FieldSpec, cell: NaiveCell, intent: Json, path: string): void {
    const verbs = intent as JsonObject;
    switch (spec.kind) {
      case 'cas':
      case 'lww':
        return this.#set(spec, cell, verbs, path);
      case 'max':
        return this.#extreme(cell, verbs['raise'] as number, spec, (a, b) => a > b, path);
      case 'min':
        return this.#extreme(cell, verbs['lower'] as number, spec, (a, b) => a < b, path);
      case 'counter':
        return this.#add(cell, verbs['inc'] as number, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, path);
      case 'quota':
        return this.#add(cell, verbs['inc'] as number, spec.lo, spec.hi, path);
      case 'claim':
        return this.#claim(cell, verbs, path);
      case 'machine':
        return this.#move(spec, cell, verbs, path);
      case 'set':
        return this.#setOf(spec, cell, verbs, path);
      case 'log':
        return this.#append(spec, cell, verbs['append'] as readonly Json[], path);
      case 'map':
        return this.#map(spec, cell, verbs, path);
      case 'records':
        return this.#records(spec, cell, verbs, path);
    }
  }

  get #dot(): string {
    return `${this.agent} ${this.n}`;
  }

  #refuse(): void {
    this.isRefused = true;
  }

  #set(spec: FieldSpec & { kind: 'cas' | 'lww' }, cell: NaiveCell, verbs: JsonObject, path: string): void {
    const value = 'set' in verbs ? verbs['set'] : undefined;
    if (value !== undefined && !isOf(spec.of, value)) return this.#refuse();
    if (spec.kind === 'lww') {
      const current = cell.writes.toSorted((a, b) => winOrder(a.stamp, b.stamp)).at(-1);
      const isSame = isEqual(current === undefined ? cell.value : current.value, value);
      if (current !== undefined && winOrder(current.stamp, this.stamp) > 0) {
        this.outcomes[path] = isSame ? 'unchanged' : 'superseded';
        return;
      }
      if (isSame) this.outcomes[path] = 'unchanged';
      else if (cell.writer !== undefined && !this.past.has(cell.writer)) this.outcomes[path] = 'merged';
      const isFirst = cell.writes.length === 0;
      cell.writes.push({ value, stamp: this.stamp });
      if (isSame && !isFirst) return;
      cell.writer = this.#dot;
      cell.dots.push(this.#dot);
      return;
    }
    if (isEqual(cell.value, value)) {
      this.outcomes[path] = 'unchanged';
      return;
    }
    if (cell.writer !== undefined && !this.past.has(cell.writer)) return this.#refuse();
    cell.value = value;
    cell.writer = this.#dot;
    cell.dots.push(this.#dot);
  }

  #extreme(
    cell: NaiveCell,
    to: number,
    range: { lo: number; hi: number },
    isBetter: (a: number, b: number) => boolean,
    path: string,
  ): void {
    if (to < range.lo || to > range.hi) return this.#refuse();
    if (!isBetter(to, cell.value as number)) {
      this.outcomes[path] = 'unchanged';
      return;
    }
    cell.value = to;
    cell.dots.push(this.#dot);
  }

  #add(cell: NaiveCell, by: number, lo: number, hi: number, path: string): void {
    if (by === 0) {
      this.outcomes[path] = 'unchanged';
      return;
    }
    const sum = (cell.value as number) + by;
    if (sum < lo || sum > hi) return this.#refuse();
    cell.value = sum;
    cell.dots.push(this.#dot);
  }

  #claim(cell: NaiveCell, verbs: JsonObject, path: string): void {
    if ('claim' in verbs) {
      if (cell.value === this.agent) {
        this.outcomes[path] = 'unchanged';
        return;
      }
      if (cell.value !== undefined) return this.#refuse();
      cell.value = this.agent;
    } else {
      const isStale = cell.writer !== undefined && !this.past.has(cell.writer);
      if (cell.value !== this.agent || isStale) return this.#refuse();
      const { release, handoff } = verbs;
      if (release !== undefined && release !== true) cell.outcome = (release as JsonObject)['outcome'] as string;
      cell.value = handoff === undefined ? undefined : ((handoff as JsonObject)['to'] as string);
    }
    cell.writer = this.#dot;
    cell.dots.push(this.#dot);
  }

  #move(spec: FieldSpec & { kind: 'machine' }, cell: NaiveCell, verbs: JsonObject, path: string): void {
    const { to, from } = verbs as { to: string; from?: string };
    if (to === cell.value && (from === undefined || from === cell.value)) {
      this.outcomes[path] = 'unchanged';
      return;
    }
    const isAllowed = (spec.moves[cell.value as string] ?? []).includes(to);
    if (!isAllowed || (from !== undefined && from !== cell.value)) return this.#refuse();
    cell.value = to;
    cell.dots.push(this.#dot);
  }

  #setOf(spec: FieldSpec & { kind: 'set' }, cell: NaiveCell, verbs: JsonObject, path: string): void {
    const add = (verbs['add'] ?? []) as readonly Json[];
    const remove = (verbs['remove'] ?? []) as readonly Json[];
    const all = [...add, ...remove].map((value) => textOf(value));
    if (new Set(all).size < all.length || ![...add, ...remove].every((value) => isOf(spec.of, value))) return this.#refuse();
    const before = Object.keys(cell.adds).length;
    let isChanged = false;
    for (const [at, value] of remove.entries()) {
      const dots = cell.adds[textOf(value)];
      if (dots === undefined) {
        this.outcomes[`${path}/remove/${at}`] = 'unchanged';
        continue;
      }
      const kept = dots.filter((dot) => !this.past.has(dot));
      if (kept.length > 0) this.outcomes[`${path}/remove/${at}`] = 'superseded';
      if (kept.length < dots.length) isChanged = true;
      if (kept.length > 0) cell.adds[textOf(value)] = kept;
      else delete cell.adds[textOf(value)];
    }
    for (const [at, value] of add.entries()) {
      const dots = cell.adds[textOf(value)] ?? [];
      if (dots.length > 0) this.outcomes[`${path}/add/${at}`] = 'unchanged';
      cell.adds[textOf(value)] = [...dots.filter((dot) => !this.past.has(dot)), this.#dot];
      isChanged = true;
    }
    const after = Object.keys(cell.adds).length;
    if (after > spec.cap && after > before) return this.#refuse();
    if (isChanged) cell.dots.push(this.#dot);
  }

  #append(spec: FieldSpec & { kind: 'log' }, cell: NaiveCell, values: readonly Json[], path: string): void {
    if (!values.every((value) => isOf(spec.of, value))) return this.#refuse();
    let isChanged = false;
    for (const [at, value] of values.entries()) {
      const known =
        spec.id === undefined
          ? undefined
          : cell.entries.find((entry) => isEqual((entry.value as JsonObject)['id'], (value as JsonObject)['id']));
      if (known !== undefined) {
        this.outcomes[`${path}/append/${at}`] = isEqual(known.value, value) ? 'unchanged' : 'superseded';
        continue;
      }
      cell.entries.push({ value, stamp: this.stamp, at });
      isChanged = true;
    }
    if (spec.order === 'stamp') cell.entries.sort((a, b) => winOrder(a.stamp, b.stamp) || a.at - b.at);
    if (isChanged) cell.dots.push(this.#dot);
  }

  #map(spec: FieldSpec & { kind: 'map' }, cell: NaiveCell, verbs: JsonObject, path: string): void {
    const before = Object.keys(cell.children).length;
    let isChanged = false;
    for (const key of (verbs['drop'] ?? []) as readonly string[]) {
      const child = cell.children[key];
      if (child === undefined) this.outcomes[`${path}/${tokenOf(key)}`] = 'unchanged';
      else if (!this.sawAll(child.dots)) this.outcomes[`${path}/${tokenOf(key)}`] = 'superseded';
      else {
        delete cell.children[key];
        cell.drops[key] = [this.#dot];
        isChanged = true;
      }
    }
    for (const [key, intent] of Object.entries((verbs['at'] ?? {}) as JsonObject)) {
      const known = cell.children[key];
      if (known === undefined && !(cell.drops[key] ?? cell.born ?? []).every((dot) => this.past.has(dot))) {
        this.#refuse();
        continue;
      }
      const child = known ?? newCell(spec.of, cell.drops[key] ?? cell.born);
      const count = child.dots.length;
      this.fold(spec.of, child, intent, `${path}/${tokenOf(key)}`);
      if (child.dots.length === count) {
        // Nothing changed; but a write at an absent key makes it, when its start value is something.
        if (known !== undefined || child.value === undefined) continue;
        child.dots.push(this.#dot);
        child.writer = this.#dot;
      }
      cell.children[key] = child;
      delete cell.drops[key];
      isChanged = true;
    }
    const after = Object.keys(cell.children).length;
    if (after > spec.cap && after > before) return this.#refuse();
    if (isChanged) cell.dots.push(this.#dot);
  }

  #records(spec: FieldSpec & { kind: 'records' }, cell: NaiveCell, verbs: JsonObject, path: string): void {
    const before = Object.keys(cell.children).length;
    const count = cell.dots.length;
    for (const id of (verbs['drop'] ?? []) as readonly string[]) {
      const row = cell.children[id];
      if (row === undefined) this.outcomes[`${path}/${tokenOf(id)}`] = 'unchanged';
      else if (!this.sawAll(row.birth) || !this.sawAll(row.dots)) this.#refuse();
      else {
        delete cell.children[id];
        cell.drops[id] = [this.#dot];
        this.#once(cell);
      }
    }
    for (const [at, change] of ((verbs['add'] ?? []) as readonly JsonObject[]).entries()) {
      const id = `${this.agent}-${this.n}-${at}`;
      if (cell.children[id] !== undefined) this.#refuse();
      else this.#begin(spec, cell, id, change, path);
      this.outcomes[`${path}/add/${at}`] = 'merged';
    }
    for (const [id, change] of Object.entries((verbs['put'] ?? {}) as JsonObject)) {
      const row = cell.children[id];
      const past = row === undefined ? (cell.drops[id] ?? cell.born) : row.born;
      const isKnown = row !== undefined && this.sawAll(row.birth);
      if (!isKnown && !this.sawAll(past)) this.#refuse();
      else if (row === undefined) this.#begin(spec, cell, id, change as JsonObject, path);
      else this.#change(spec, cell, row, id, change as JsonObject, path);
    }
    for (const [id, change] of Object.entries((verbs['patch'] ?? {}) as JsonObject)) {
      const row = cell.children[id];
      if (row === undefined || !this.sawAll(row.birth)) this.#refuse();
      else this.#change(spec, cell, row, id, change as JsonObject, path);
    }
    const after = Object.keys(cell.children).length;
    if (after > spec.cap && after > before) this.#refuse();
    if (count > cell.dots.length) throw new Error('dots never go away');
  }

  #begin(spec: FieldSpec & { kind: 'records' }, cell: NaiveCell, id: string, change: JsonObject, path: string): void {
    const row = newCell(spec, []);
    row.birth = [this.#dot];
    row.born = cell.drops[id] ?? cell.born;
    row.dots = [this.#dot];
    for (const [name, inner] of Object.entries(spec.cells)) row.children[name] = newCell(inner, []);
    cell.children[id] = row;
    delete cell.drops[id];
    this.#once(cell);
    this.#change(spec, cell, row, id, change, path);
  }

  #change(
    spec: FieldSpec & { kind: 'records' },
    cell: NaiveCell,
    row: NaiveCell,
    id: string,
    change: JsonObject,
    path: string,
  ): void {
    for (const [name, intent] of Object.entries(change)) {
      const inner = row.children[name] as NaiveCell;
      const count = inner.dots.length;
      this.fold(spec.cells[name] as FieldSpec, inner, intent, `${path}/${tokenOf(id)}/${name}`);
      if (inner.dots.length === count) continue;
      row.dots.push(this.#dot);
      this.#once(cell);
    }
  }

  #once(cell: NaiveCell): void {
    if (!cell.dots.includes(this.#dot)) cell.dots.push(this.#dot);
  }
}

function winOrder(a: Stamp, b: Stamp): number {
  if (a.depth !== b.depth) return a.depth - b.depth;
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.spin !== b.spin) return a.spin - b.spin;
  if (a.agent !== b.agent) return a.agent < b.agent ? -1 : 1;
  return a.n - b.n;
}

function tokenOf(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  return textOf(a ?? null) === textOf(b ?? null) && (a === undefined) === (b === undefined);
}

/** JSON with the keys of the only object type in use, `pair`, in order. */
function textOf(value: Json): string {
  return JSON.stringify(value, (_, part: Json) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
