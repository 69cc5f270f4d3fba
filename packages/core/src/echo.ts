/**
 * Echoes: parts of a patch that only repeat the view it was made on. Values equal to the base are not writes.
 */
import type { FieldKind } from './field-kind.ts';
import type { Json, JsonObject } from './json.ts';
import type { Space } from './space.ts';

/**
 * The patch without its echoes. `space` is the one that the view was made of. What cannot be read is left as it is: the
 * coordinator says what is wrong with it.
 */
export function withoutEchoes(space: Space, patch: JsonObject): JsonObject {
  const kept: { [name: string]: Json } = {};
  for (const [name, intent] of Object.entries(patch)) {
    const index = space.schema.indexOf.get(name);
    const kind = index === undefined ? undefined : (space.schema.kinds[index] as FieldKind);
    const op = kind?.read(intent, '', () => undefined);
    if (kind === undefined || index === undefined || op === undefined) {
      kept[name] = intent;
      continue;
    }
    const rest = kind.withoutEcho(space.cells[index], op);
    if (rest !== undefined) kept[name] = rest === op ? intent : kind.write(rest);
  }
  return kept;
}
