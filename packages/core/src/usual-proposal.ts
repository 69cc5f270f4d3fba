/**
 * The usual proposal, known by its spelling.
 *
 * A worker writes canonical JSON, and mostly the same nine members in the same order. One pattern reads and checks such an
 * envelope at once, where the general way parses it, writes it again and walks it with a schema; what is left is to read the
 * patch. What does not fit takes the general way, which says what is wrong; a property test holds both ways equal. SPEC: GTE6.
 */
import type { JsonObject } from './json.ts';
import type { Admitted } from './proposal.ts';
import { readPlainJson } from './strict-json.ts';

/** The proposal of `from`, or `undefined` when the text has to take the general way. O(length). */
export function readUsualProposal(text: string, from: string): Admitted | undefined {
  const parts = ENVELOPE.exec(text) as Parts | null;
  if (parts === null || parts[1] !== from) return undefined;
  const patch = readPlainJson(parts[6], PATCH_DEPTH);
  if (patch === undefined) return undefined;
  const [, , digest, revision] = parts;
  return {
    // The sender's own name, not a slice of the text: what stays in the state would keep the whole text in memory.
    proposal: {
      agent: from,
      base: digest === undefined ? { revision: Number(revision) } : { digest, revision: Number(revision) },
      incarnation: Number(parts[4]),
      kind: 'proposal',
      n: Number(parts[5]),
      patch: patch as JsonObject,
      schema: parts[7],
      space: parts[8],
      v: 1,
    },
    text,
  };
}

type Parts = readonly [string, string, string | undefined, string, string, string, string, string, string];

/** The patch is a value inside the proposal. */
const PATCH_DEPTH = 1;

/**
 * agent, digest, revision, incarnation, n, patch, schema, space. Numbers of 15 digits are below 2^53; longer ones, escapes and
 * members that are seldom there take the general way. What the patch may hold is checked where it is read: it has to be one
 * whole object, so what follows it cannot be part of it.
 */
const ENVELOPE =
  /^\{"agent":"(?!constructor"|prototype")([a-z][a-z0-9-]{0,31})","base":\{(?:"digest":"([0-9a-f]{16})",)?"revision":(0|[1-9][0-9]{0,14})\},"incarnation":([1-9][0-9]{0,14}),"kind":"proposal","n":([1-9][0-9]{0,14}),"patch":(\{.*\}),"schema":"([0-9a-f]{16})","space":"([a-z0-9][a-z0-9-]{0,63})","v":1\}$/;
