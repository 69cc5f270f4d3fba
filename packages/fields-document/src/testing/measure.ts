/**
 * Times merges, one proposal a seal, on documents of several sizes: `node --conditions=@oplus/source
 * packages/fields-document/src/testing/measure.ts`.
 */
import { hash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { admit, canonical, decodeSpace, encodeSpace, loadState, seal, unbornSpace, utf8Bytes } from '@oplus/core';
import type { Admitted, Json, JsonObject, Space, SystemEvent } from '@oplus/core';
import { loadDocumentKind } from '../document-loader.ts';

const AGENTS = ['a', 'b', 'c', 'd'];
const MERGES = 300;

const started = performance.now();
const { document } = await loadDocumentKind();
console.log(`engine loaded in ${(performance.now() - started).toFixed(0)} ms`);
for (const bytes of [200, 10_000, 100_000]) measure(bytes);

/** One size: merges that saw everything, merges on a view 8 revisions old, and a snapshot read and written to. */
function measure(bytes: number): void {
  const schema = loadState({ name: 'notes', version: 1, fields: { notes: document({ bytesMax: 4 * bytes }) } }, (text) =>
    hash('sha256', text, 'hex'),
  );
  const counts = new Map<string, number>();
  const proposal = (space: Space, agent: string, lag: number, merge: JsonObject): Admitted => {
    const n = (counts.get(agent) ?? 0) + 1;
    counts.set(agent, n);
    const base = { revision: Math.max(0, space.revision - lag) };
    const whole = {
      kind: 'proposal',
      v: 1,
      space: 'notes',
      agent,
      incarnation: 1,
      n,
      schema: schema.id,
      base,
      patch: { notes: { merge } },
    };
    const gated = admit(canonical(whole as unknown as Json), agent);
    if (!gated.ok) throw new Error(canonical(gated.issues as unknown as Json));
    return gated.value;
  };
  // One who joined and is silent keeps old views within the horizon.
  const joins = [...AGENTS, 'z'].map((agent): SystemEvent => ({ kind: 'join', agent, role: 'agent', session: 'first' }));
  const genesis: SystemEvent = { kind: 'genesis', schema: schema.digest, nonce: 'n' };
  let space = seal(unbornSpace('notes', schema), { term: 1, events: [genesis, ...joins], proposals: [] }).space;
  const ask = (agent: string, lag: number, merge: JsonObject): void => {
    const sealed = seal(space, { term: 1, events: [], proposals: [proposal(space, agent, lag, merge)] });
    if (sealed.decided[0]?.verdict.kind !== 'committed') throw new Error(sealed.text);
    space = sealed.space;
  };
  const count = Math.ceil(bytes / 50);
  for (let at = 0; at < count; at += 500) {
    const rows = Array.from({ length: Math.min(500, count - at) }, (_, i) => [
      `note-${at + i}`,
      `a line of about forty characters, ${at + i}`,
    ]);
    ask('a', 0, { [`part-${at / 500}`]: Object.fromEntries(rows) as JsonObject });
  }
  const size = utf8Bytes(canonical(schema.kinds[0]?.json(space.cells[0]) ?? null));
  const keyOf = (i: number): JsonObject => ({ 'part-0': { [`note-${i % Math.min(count, 500)}`]: `changed ${i}` } });
  const current = timed(() => {
    for (let i = 0; i < MERGES; i += 1) ask(AGENTS[i % 4] as string, 0, keyOf(i));
  });
  const late = timed(() => {
    for (let i = 0; i < MERGES; i += 1) ask(AGENTS[i % 4] as string, 8, keyOf(i * 7));
  });
  const text = encodeSpace(space);
  const reload = timed(() => {
    space = decodeSpace(schema, JSON.parse(text) as Json);
    ask('a', 0, keyOf(1));
  });
  const rate = (ms: number): string => `${Math.round((MERGES / ms) * 1000)}/s, ${(ms / MERGES).toFixed(2)} ms each`;
  console.log(`${size} bytes: seen all ${rate(current)}; 8 behind ${rate(late)}; from a snapshot ${reload.toFixed(0)} ms`);
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
