/**
 * The floors of the house, and each room's manifest and references as they stand.
 */
import { dirname } from 'node:path';
import type { Import } from './source.ts';
import { jsonOf, parse, treeFiles } from './source.ts';

/** Every room with its floor: it may depend on rooms of lower floors only. */
export const FLOORS: { readonly [folder: string]: number } = {
  'packages/core': 0,
  'packages/fields-document': 1,
  'packages/protocol': 1,
  'packages/coordinator': 2,
  'packages/worker': 2,
  'packages/transport-memory': 2,
  'packages/transport-socket': 2,
  'packages/transport-sqlite': 2,
  'packages/transport-nats': 2,
  'packages/agent': 3,
  'packages/model-openai': 4,
  'packages/team': 4,
  'skills/warehouse': 4,
  bench: 5,
  'apps/cli': 5,
};

/** One room as its files say; `references` are those of its sources, as folders. A private room ships nothing. */
export type Room = {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly dependencies: { readonly [name: string]: string };
  readonly devDependencies: { readonly [name: string]: string };
  readonly peerDependencies: { readonly [name: string]: string };
  readonly references: readonly string[];
  readonly isPrivate: boolean;
  /** True when its testing folder is shipped under `/testing`. */
  readonly offersTesting: boolean;
};

/** Reads every workspace of the tree. */
export function readRooms(): readonly Room[] {
  const manifests = treeFiles((path) => /^(?:(?:packages|skills|apps)\/[^/]+|bench)\/package\.json$/.test(path));
  return manifests.map((path) => {
    const folder = dirname(path);
    const manifest = jsonOf(path);
    return {
      folder,
      name: manifest['name'] as string,
      version: manifest['version'] as string,
      dependencies: (manifest['dependencies'] ?? {}) as { readonly [name: string]: string },
      devDependencies: (manifest['devDependencies'] ?? {}) as { readonly [name: string]: string },
      peerDependencies: (manifest['peerDependencies'] ?? {}) as { readonly [name: string]: string },
      references: referencesOf(folder),
      isPrivate: manifest['private'] === true,
      offersTesting: './testing' in (manifest['exports'] as object),
    };
  });
}

/** Dependencies that do not lead to a lower floor, or, of tests, to a floor above. */
export function climbsOf(rooms: readonly Room[], floors: { readonly [folder: string]: number }): readonly string[] {
  const byName = new Map(rooms.map((room) => [room.name, room]));
  const floorOf = (folder: string): number => floors[folder] ?? Number.NaN;
  const climbs = (room: Room, table: { readonly [name: string]: string }, mayMeet: boolean): readonly string[] =>
    Object.keys(table)
      .flatMap((name) => byName.get(name) ?? [])
      .filter(({ folder }) => !(floorOf(folder) < floorOf(room.folder) || (mayMeet && floorOf(folder) === floorOf(room.folder))))
      .map(({ folder }) => `${room.folder} -> ${folder}`);
  return rooms.flatMap((room) => [...climbs(room, room.dependencies, false), ...climbs(room, room.devDependencies, true)]);
}

/** What the sources of a room import from outside it, by the kind of file. `subpath` is `/testing` or nothing. */
export type Use = {
  readonly file: string;
  readonly kind: 'source' | 'testing' | 'test';
  readonly package: string;
  readonly subpath: string;
};

/** Every import of a package by the files of a room. */
export function usesOf(room: Room): readonly Use[] {
  return treeFiles((path) => path.startsWith(`${room.folder}/`) && path.endsWith('.ts')).flatMap((file) =>
    parse(file)
      .imports.filter(({ from }) => !from.startsWith('.'))
      .map((one) => ({ file, kind: kindOf(file), ...packageOf(one) })),
  );
}

function kindOf(file: string): Use['kind'] {
  if (file.endsWith('.test.ts') || file.includes('/examples/')) return 'test';
  return file.includes('/src/testing/') ? 'testing' : 'source';
}

function packageOf({ from }: Import): { readonly package: string; readonly subpath: string } {
  const tokens = from.split('/');
  const length = from.startsWith('@') ? 2 : 1;
  const rest = tokens.slice(length);
  return { package: tokens.slice(0, length).join('/'), subpath: rest.length === 0 ? '' : `/${rest.join('/')}` };
}

function referencesOf(folder: string): readonly string[] {
  const references = (jsonOf(`${folder}/tsconfig.json`)['references'] ?? []) as readonly { readonly path: string }[];
  return references.map(({ path }) => new URL(path, `file:///${folder}/`).pathname.slice(1));
}
