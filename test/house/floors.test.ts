import { expect, test } from 'vitest';
import type { Room } from './floors.ts';
import { climbsOf, FLOORS, readRooms, usesOf } from './floors.ts';
import { jsonOf } from './source.ts';

const rooms = readRooms();
const byName = new Map(rooms.map((room) => [room.name, room]));

test('[HSE1] the table of floors lists the workspaces, and the root tsconfig builds each', () => {
  expect(rooms.map((room) => room.folder).toSorted()).toEqual(Object.keys(FLOORS).toSorted());
  const built = (jsonOf('tsconfig.json')['references'] as readonly { readonly path: string }[]).map(({ path }) => path);
  expect(built.filter((path) => !path.endsWith('.json')).toSorted()).toEqual(Object.keys(FLOORS).toSorted());
});

test('[HSE2] a room depends on lower floors only, its tests also on their own', () => {
  expect(climbsOf(rooms, FLOORS)).toEqual([]);
});

test('[HSE15] a dependency on the same or on a higher floor is noticed', () => {
  const [a, b] = [plain('a'), plain('b')];
  const floors = { a: 1, b: 1 };
  expect(climbsOf([{ ...a, dependencies: { b: '1' } }, b], floors)).toEqual(['a -> b']);
  expect(climbsOf([{ ...a, devDependencies: { b: '1' } }, b], floors)).toEqual([]);
  expect(climbsOf([{ ...a, devDependencies: { b: '1' } }, b], { a: 1, b: 2 })).toEqual(['a -> b']);
  expect(climbsOf([{ ...a, dependencies: { b: '1' } }, b], { a: 1 })).toEqual(['a -> b']);
});

test('[HSE3] references are the workspace dependencies, in both directions', () => {
  for (const room of rooms) {
    const declared = siblings(room.dependencies).map((sibling) => sibling.folder);
    expect({ room: room.folder, references: room.references.toSorted() }).toEqual({
      room: room.folder,
      references: declared.toSorted(),
    });
  }
});

test('[HSE4] what is imported is declared, and declared siblings are imported', () => {
  const faults = rooms.flatMap((room) => {
    const uses = usesOf(room).filter((use) => use.package !== room.name && !use.package.startsWith('node:'));
    const known = (kind: string): readonly string[] => [
      ...Object.keys(room.dependencies),
      ...(kind === 'source' ? [] : Object.keys(room.peerDependencies)),
      ...(kind === 'test' || room.isPrivate || (kind === 'testing' && !room.offersTesting)
        ? [...Object.keys(room.devDependencies), 'vitest', 'fast-check']
        : []),
    ];
    const undeclared = uses
      .filter((use) => !known(use.kind).includes(use.package))
      .map((use) => `${use.file} imports ${use.package}, undeclared`);
    const used = new Set(uses.filter((use) => use.kind === 'source').map((use) => use.package));
    const unused = siblings(room.dependencies)
      .filter((sibling) => !used.has(sibling.name))
      .map((sibling) => `${room.folder} declares ${sibling.name}, unused`);
    return [...undeclared, ...unused];
  });
  expect(faults).toEqual([]);
});

test('[HSE5] testing is imported by tests and by other testing folders alone', () => {
  const faults = rooms.flatMap((room) =>
    usesOf(room)
      .filter((use) => use.kind === 'source' && use.subpath === '/testing')
      .map((use) => `${use.file} imports ${use.package}/testing`),
  );
  expect(faults).toEqual([]);
});

test('[HSE6] one version, and siblings by exactly that version', () => {
  const version = jsonOf('package.json')['version'];
  for (const room of rooms) {
    expect({ room: room.folder, version: room.version }).toEqual({ room: room.folder, version });
    for (const table of [room.dependencies, room.devDependencies]) {
      for (const sibling of siblings(table))
        expect({ room: room.folder, names: table[sibling.name] }).toEqual({ room: room.folder, names: version });
    }
  }
});

test('[HSE7] the core imports zod and nothing else', () => {
  const core = byName.get('@oplus/core') as Room;
  const used = usesOf(core).filter((use) => use.kind === 'source');
  expect([...new Set(used.map((use) => use.package))]).toEqual(['zod']);
  expect(Object.keys(core.dependencies)).toEqual(['zod']);
});

function siblings(table: { readonly [name: string]: string }): readonly Room[] {
  return Object.keys(table).flatMap((name) => byName.get(name) ?? []);
}

function plain(name: string): Room {
  return {
    folder: name,
    name,
    version: '1',
    dependencies: {},
    devDependencies: {},
    peerDependencies: {},
    references: [],
    isPrivate: false,
    offersTesting: false,
  };
}
