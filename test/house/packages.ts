/**
 * Checks what would be published: each room is built from an empty `dist`, packed, and its tarball looked at by publint and
 * are-the-types-wrong. `npm run packages`.
 *
 * `tsc -b` leaves the files of deleted sources behind, hence the copy: what is packed here is made of the files of the tree alone. The licence is put into each room as it is packed.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readRooms } from './floors.ts';
import { ROOT, treeFiles } from './source.ts';

/** A file that must not be shipped: tests, and what the compiler keeps for itself. */
const UNSHIPPED = /\.test\.(?:ts|js|d\.ts)$|\.tsbuildinfo$/;

main();

function main(): void {
  const copy = mkdtempSync(join(tmpdir(), 'oplus-packages-'));
  try {
    copyTree(copy);
    run(copy, 'tsc', ['-b']);
    const tarballs = join(copy, 'tarballs');
    mkdirSync(tarballs);
    const packed = readRooms()
      .filter((room) => !room.isPrivate)
      .map(({ folder, name }) => ({ name, ...pack(join(copy, folder), tarballs) }));
    const faults = [...packed.flatMap(faultsOf), ...importFaults(packed, join(copy, 'consumer'))];
    for (const fault of faults) process.stdout.write(`${fault}\n`);
    process.stdout.write(`${readdirSync(tarballs).length} packages packed, ${faults.length} with faults\n`);
    if (faults.length > 0) process.exitCode = 1;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Copies the tree, and links what is installed; siblings resolve inside the copy. */
function copyTree(copy: string): void {
  for (const path of treeFiles()) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(ROOT, path), join(copy, path));
  }
  const installed = join(copy, 'node_modules');
  mkdirSync(join(installed, '@oplus'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== '@oplus') symlinkSync(join(ROOT, 'node_modules', name), join(installed, name));
  for (const { folder, name } of readRooms()) symlinkSync(join(copy, folder), join(installed, name));
  for (const { folder } of readRooms()) {
    cpSync(join(ROOT, 'LICENSE'), join(copy, folder, 'LICENSE'));
    linkOwn(join(ROOT, folder), join(copy, folder));
  }
}

/** Links the dependencies that one room has for itself, if any. */
function linkOwn(room: string, into: string): void {
  const own = join(room, 'node_modules');
  if (existsSync(own)) symlinkSync(own, join(into, 'node_modules'));
}

type Packed = { readonly name: string; readonly tarball: string; readonly files: readonly string[] };

function pack(folder: string, into: string): Omit<Packed, 'name'> {
  const said = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', into], {
    cwd: folder,
    encoding: 'utf8',
  });
  const [packed] = JSON.parse(said) as readonly {
    readonly filename: string;
    readonly files: readonly { readonly path: string }[];
  }[];
  if (packed === undefined) throw new Error(`nothing was packed in ${folder}`);
  return { tarball: join(into, packed.filename), files: packed.files.map((file) => file.path) };
}

function faultsOf({ name, tarball, files }: Packed): readonly string[] {
  const shipped = files.filter((file) => UNSHIPPED.test(file)).map((file) => `${name} ships ${file}`);
  const missing = ['package.json', 'README.md', 'SPEC.md', 'LICENSE', 'dist/index.js', 'dist/index.d.ts', 'src/index.ts'].filter(
    (file) => !files.includes(file),
  );
  return [
    ...shipped,
    ...missing.map((file) => `${name} does not ship ${file}`),
    ...complaints(name, 'publint', ['run', '--strict', tarball]),
    ...complaints(name, 'attw', ['--profile', 'esm-only', '--no-definitely-typed', '--no-emoji', '--format', 'ascii', tarball]),
  ];
}

/** Unpacks everything side by side, as a user would have it, and imports each package there. */
function importFaults(packed: readonly Packed[], consumer: string): readonly string[] {
  const installed = join(consumer, 'node_modules');
  mkdirSync(installed, { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== '@oplus') symlinkSync(join(ROOT, 'node_modules', name), join(installed, name));
  for (const { name, tarball } of packed) {
    mkdirSync(join(installed, name), { recursive: true });
    execFileSync('tar', ['-xzf', tarball, '-C', join(installed, name), '--strip-components=1']);
  }
  for (const { folder, name, isPrivate } of readRooms()) if (!isPrivate) linkOwn(join(ROOT, folder), join(installed, name));
  return packed.flatMap(({ name }) => {
    const script = `if (Object.keys(await import('${name}')).length === 0) throw new Error('it exports nothing')`;
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script],
      { cwd: consumer, encoding: 'utf8' },
    );
    return status === 0 ? [] : [`${name} cannot be imported\n${stderr}`];
  });
}

function complaints(name: string, program: string, args: readonly string[]): readonly string[] {
  const { status, stdout, stderr } = spawnSync(programPath(program), args, { encoding: 'utf8' });
  return status === 0 ? [] : [`${name}: ${program}\n${stdout}${stderr}`];
}

function run(cwd: string, program: string, args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(programPath(program), args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed\n${stdout}${stderr}`);
}

function programPath(program: string): string {
  return join(ROOT, 'node_modules/.bin', program);
}
