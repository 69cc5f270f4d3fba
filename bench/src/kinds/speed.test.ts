import { invariant } from '@oplus/core';
import type { Json } from '@oplus/core';
import { describe, expect, test } from 'vitest';
import * as Y from 'yjs';

import { speedPage } from './pages.ts';
import { BASELINE, ENTRANTS, measureSpeed } from './speed.ts';
import type { Peer } from './work.ts';
import { WORKS } from './work.ts';

const STEPS = 150;

describe.each(WORKS)('$name', (work) => {
  const expected = stepped(work.yjs(new Y.Doc(), STEPS), 0);

  test('[BEN16] Automerge holds what Yjs holds, wherever its steps begin', () => {
    expect(stepped(work.automerge(STEPS, 0), 0)).toEqual(expected);
    expect(stepped(work.automerge(STEPS, 70), 70)).toEqual(expected);
  });

  test.each(['Yjs, received', 'oplus, 1 a round', 'fold only'])('[BEN16] %s holds what Yjs holds', (name) => {
    expect(entrant(name).run(work, STEPS).json).toEqual(expected);
  });

  test('[BEN16] rounds of many hold the same, but for the order inside a round', () => {
    const { json } = entrant('oplus, 64 a round').run(work, STEPS);
    expect(unordered(json).length).toBe(unordered(expected).length);
    // Of writers of one key in one round another one may win.
    if (work.name !== 'overwrite one key') expect(unordered(json)).toEqual(unordered(expected));
  });
});

test('[BEN17] every row has every entrant, and the baseline is one', () => {
  let collected = 0;
  const [work] = WORKS;
  invariant(work !== undefined, 'there are rows');
  const rows = measureSpeed([work], { steps: 20, repeats: 2, collect: () => (collected += 1) });
  expect(rows.map((row) => row.entrant)).toEqual(ENTRANTS.map(({ name }) => name));
  expect(collected).toBe(2 * ENTRANTS.length);
  const baseline = rows.find((row) => row.entrant === BASELINE);
  expect(baseline?.ratio).toEqual({ min: 1, median: 1, max: 1 });
  expect(baseline?.gateMicros).toBeUndefined();
  expect(baseline?.hashMicros).toBeUndefined();
  for (const row of rows.filter(({ sealMicros }) => sealMicros !== undefined)) expect(row.hashMicros).toBeGreaterThan(0);
  const page = speedPage(rows, 20);
  expect(page.match(/^\| map set/gm)).toHaveLength(3);
  expect(page).not.toContain('n/m');
  expect(speedPage(rows.slice(0, 1), 20)).toContain('n/m');
});

function stepped(peer: Peer, from: number): Json {
  peer.open?.();
  for (let i = from; i < STEPS; i += 1) peer.step(i);
  return peer.json();
}

function entrant(name: string): (typeof ENTRANTS)[number] {
  const found = ENTRANTS.find((one) => one.name === name);
  invariant(found !== undefined, `an entrant is called ${name}`);
  return found;
}

/** The parts of a value, whatever their order. */
function unordered(json: Json): readonly string[] {
  const parts =
    typeof json === 'string' ? json.split(/(?=[(a-z])/) : typeof json === 'object' ? Object.entries(json ?? {}) : [json];
  return parts.map((part) => JSON.stringify(Array.isArray(json) && Array.isArray(part) ? part[1] : part)).sort();
}
