import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, ROOT, treeFiles } from './source.ts';

const doors = treeFiles((path) => /^(?:packages|skills|apps)\/[^/]+\/src\/(?:testing\/)?index\.ts$/.test(path));

test.for(doors)('[HSE16] the exported names of %s are those of its snapshot', async (door) => {
  const names = parse(door).exports.map(({ name, isType }) => (isType ? `type ${name}` : name));
  const file = door.replace(/^(.*)\/src\/(?:(testing)\/)?index\.ts$/, (_, room: string, inner: string | undefined) =>
    [room.replace('/', '-'), inner ?? []].flat().join('-'),
  );
  await expect(`${names.toSorted().join('\n')}\n`).toMatchFileSnapshot(join(ROOT, 'test/house/exports', `${file}.txt`));
});
