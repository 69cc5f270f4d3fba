import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { oplus, shell } from '../testing/command.ts';
import type { Ended } from '../testing/command.ts';

let cwd = '';
let ran: Ended;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'oplus-cli-'));
  ran = await oplus(['run', 'warehouse', '--steps', '80', '--log', 'memory', '--dir', 'a', '--json'], { cwd });
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

function documentOf({ stdout }: Ended): { readonly [key: string]: unknown } {
  expect(stdout.endsWith('\n')).toBe(true);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(stdout) as { readonly [key: string]: unknown };
}

test('[CLI20] run --json prints one document with every figure, and nothing else', () => {
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  const report = documentOf(ran);
  expect(report).toMatchObject({
    v: 1,
    ok: true,
    score: 1,
    agents: 4,
    steps: 80,
    seed: 42,
    routing: 'shared',
    log: 'memory',
    model: 'scripted',
    committed: 80,
    stalled: 0,
    events: 80,
    solved: 80,
    violations: 0,
    violationList: [],
    aborted: false,
    dir: 'a',
  });
  for (const name of ['proposals', 'rejected', 'concurrent', 'repaired', 'revision'])
    expect(report[name]).toEqual(expect.any(Number));
  expect(report['digest']).toMatch(/^[0-9a-f]{64}$/);
  expect(report['replayDigest']).toBe(report['digest']);
  expect(report['tokens']).toEqual({
    prompts: expect.any(Number),
    total: expect.any(Number),
    perStepMean: expect.any(Number),
    perStepMax: expect.any(Number),
    firstPromptMax: expect.any(Number),
    repairPromptMax: expect.any(Number),
    perEventMean: expect.any(Number),
    perEventMax: expect.any(Number),
  });
});

test('[CLI20] run prints a summary for people', async () => {
  const { code, stdout, stderr } = await oplus(
    ['run', 'warehouse', '--agents', '2', '--steps', '6', '--seed', '7', '--routing', 'zones', '--log', 'memory'],
    { cwd },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('2 agents, 6 steps, seed 7, routing zones, model scripted');
  for (const label of [
    'log',
    'score',
    'proposals',
    'merged',
    'tokens a step',
    'revision',
    'digest',
    'replay',
    'violations',
    'files',
  ]) {
    expect(stdout).toMatch(new RegExp(`^${label} +\\S`, 'm'));
  }
  expect(stdout).toMatch(/^replay +equal$/m);
  expect(stdout).toMatch(/^files +runs\/warehouse-7-[0-9a-f]{8}$/m);
});

test('[CLI29] with --barrier the same command writes the same log, byte for byte, in memory and in SQLite', async () => {
  const run = ['run', 'warehouse', '--steps', '12', '--barrier', '--json'];
  const both = [
    oplus([...run, '--log', 'memory', '--dir', 'm'], { cwd }),
    oplus([...run, '--log', 'sqlite', '--dir', 's'], { cwd }),
  ];
  const [memory, sqlite] = (await Promise.all(both)) as [Ended, Ended];
  expect(documentOf(memory)).toMatchObject({ ok: true, barrier: true });
  expect(documentOf(sqlite)['digest']).toBe(documentOf(memory)['digest']);
  const exported = (dir: string): Promise<string> => readFile(join(cwd, dir, 'log.jsonl'), 'utf8');
  expect(await exported('s')).toBe(await exported('m'));
});

test('[CLI24] replay finds the digest of the run again', async () => {
  const [text, json] = await Promise.all([oplus(['replay', 'a'], { cwd }), oplus(['replay', 'a', '--json'], { cwd })]);
  expect(text).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('equal to the digest of the run') });
  const { revision, digest, proposals, committed } = documentOf(ran);
  expect(documentOf(json)).toEqual({
    v: 1,
    ok: true,
    dir: 'a',
    finished: true,
    equal: true,
    void: 0,
    revision,
    digest,
    proposals,
    committed,
    reported: { revision, digest },
  });
});

test('[CLI24] a replay that comes to another state than the run said is a finding', async () => {
  const path = join(cwd, 'a', 'report.json');
  const report = await readFile(path, 'utf8');
  const { digest } = documentOf(ran);
  try {
    await writeFile(path, report.replace(String(digest), '0'.repeat(64)));
    const [text, json] = await Promise.all([oplus(['replay', 'a'], { cwd }), oplus(['replay', 'a', '--json'], { cwd })]);
    expect(text).toMatchObject({ code: 1, stderr: '', stdout: expect.stringContaining(`the run said ${'0'.repeat(64)}`) });
    expect(json.code).toBe(1);
    expect(documentOf(json)).toMatchObject({ ok: false, equal: false, digest });
  } finally {
    await writeFile(path, report);
  }
});

test('[CLI25] log shows every event and proposal in aligned columns, refusals with their issues', async () => {
  const { code, stdout, stderr } = await oplus(['log', 'a'], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.trimEnd().split('\n');
  const decided = lines.filter((line) => /^r\d+ +w\d#/.test(line));
  const { proposals, rejected } = documentOf(ran);
  expect(decided).toHaveLength(proposals as number);
  expect(lines[0]).toMatch(/^r0 +genesis +schema [0-9a-f]{16}$/);
  expect(lines.filter((line) => /^r\d+ +w\d +(?:join|leave)$/.test(line))).toHaveLength(8);
  expect(new Set(decided.map((line) => line.search(/committed|rejected/))).size).toBe(1);
  expect(new Set(decided.map((line) => line.search(/Store|Ship|Move|Wait/))).size).toBe(1);
  expect(new Set(decided.filter((line) => line.includes(' /')).map((line) => line.indexOf(' /'))).size).toBeLessThanOrEqual(2);
  const issues = lines.filter((line) => /^ +\w+ \/\S+ \(/.test(line));
  expect(issues.length).toBeGreaterThanOrEqual(rejected as number);
});

test('[CLI25] log --json prints one line for each, and --agent, --rejected and --path choose', async () => {
  const lines = async (...args: readonly string[]): Promise<readonly { readonly [key: string]: unknown }[]> => {
    const { code, stdout, stderr } = await oplus(['log', 'a', '--json', ...args], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as { readonly [key: string]: unknown }]));
  };
  const { proposals, rejected } = documentOf(ran);
  const all = await lines();
  expect(all).toHaveLength((proposals as number) + 9);
  expect(all.every((line) => line['v'] === 1 && Number.isInteger(line['revision']))).toBe(true);
  const refused = await lines('--rejected');
  expect(refused).toHaveLength(rejected as number);
  expect(refused.every((line) => (line['verdict'] as { readonly kind: string }).kind === 'rejected')).toBe(true);
  const mine = await lines('--agent', 'w2', '--path', '/shelves/S001');
  expect(mine.length).toBeGreaterThan(0);
  expect(
    mine.every(
      (line) => JSON.stringify(line['proposal']).includes('"S001"') && JSON.stringify(line['proposal']).includes('"agent":"w2"'),
    ),
  ).toBe(true);
  const stranger = await oplus(['log', 'a', '--agent', 'w22'], { cwd });
  expect(stranger).toMatchObject({ code: 2, stderr: expect.stringContaining('hint: Did you mean w2?') });
});

test('[CLI6] a reader that has seen enough is no failure', async () => {
  const { stdout, stderr } = await shell('$OPLUS log a --json | head -1; echo "${PIPESTATUS[0]}"', { cwd });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[0] as string)).toMatchObject({ revision: 0 });
  expect(lines[1]).toBe('0');
  expect(stderr).toBe('');
});

test('[CLI26] show prints the state, at a revision and below a path', async () => {
  const [text, early, json] = await Promise.all([
    oplus(['show', 'a', '--path', '/received'], { cwd }),
    oplus(['show', 'a', '--at', 'r1', '--path', '/received', '--json'], { cwd }),
    oplus(['show', 'a', '--json'], { cwd }),
  ]);
  expect(text).toMatchObject({ code: 0, stderr: '' });
  const { revision, digest } = documentOf(ran);
  const whole = documentOf(json) as { readonly value: { readonly received: number } };
  expect(whole).toMatchObject({ v: 1, ok: true, dir: 'a', finished: true, revision, digest, path: '' });
  expect(text.stdout.split('\n')).toEqual([`r${String(revision)}  ${String(digest)}`, String(whole.value.received), '']);
  expect(documentOf(early)).toMatchObject({ revision: 1, value: 0 });
});

test.each([
  [['show', 'a', '--path', '/shelvs'], 'nothing stands at /shelvs', 'Did you mean /shelves?'],
  [['show', 'a', '--path', '/received/x'], 'nothing stands at /received/x', 'without parts'],
  [['show', 'a', '--at', '9999'], 'the run has no revision r9999', 'The newest is r'],
  [['diff', '--dir', 'a', '1', '9999'], 'the run has no revision r9999', 'The newest is r'],
  [['log', 'nowhere'], 'there is no such folder', 'oplus run warehouse --dir nowhere'],
  [['replay', '.'], 'the folder holds no run', 'oplus run'],
])('[CLI12] oplus %j says what there is instead', async (args, message, hint) => {
  const { code, stderr } = await oplus(args, { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain(`error[USAGE]: ${message}`);
  expect(stderr.split('\n').find((line) => line.startsWith('  hint: '))).toContain(hint);
});

test('[CLI26] diff prints what changed between two revisions, and ends as diff does', async () => {
  const [text, json, same] = await Promise.all([
    oplus(['diff', '--dir', 'a', '1'], { cwd }),
    oplus(['diff', '1', '2', '--dir', 'a', '--json'], { cwd }),
    oplus(['diff', 'r2', '2', '--dir', 'a'], { cwd }),
  ]);
  expect(text.code).toBe(1);
  expect(text.stdout).toMatch(/^r1 -> r\d+: \d+ changed$/m);
  expect(text.stdout).toMatch(/^- \/received 0$/m);
  expect(text.stdout).toMatch(/^\+ \/received \d+$/m);
  expect(json.code).toBe(1);
  const changes = documentOf(json)['changes'] as readonly { readonly path: string }[];
  expect(changes.map(({ path }) => path)).toContain('/received');
  expect(same).toMatchObject({ code: 0, stdout: 'r2 -> r2: 0 changed\n' });
});

test('[CLI23] without a folder the newest run is meant, and before there is one the next command is named', async () => {
  const none = await oplus(['log'], { cwd: join(cwd, 'a') });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('hint: Make one with: oplus run warehouse') });
  await oplus(['run', 'warehouse', '--steps', '3', '--log', 'memory', '--dir', 'runs/last', '--json'], { cwd });
  expect(documentOf(await oplus(['replay', '--json'], { cwd }))).toMatchObject({ dir: join('runs', 'last'), ok: true });
});
