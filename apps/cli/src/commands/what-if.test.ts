import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { oplus } from '../testing/command.ts';
import type { Ended } from '../testing/command.ts';

let cwd = '';
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'oplus-what-if-'));
  await oplus(['run', 'warehouse', '--steps', '60', '--log', 'memory', '--barrier', '--dir', 'a'], { cwd });
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const whatIf = (...args: readonly string[]): Promise<Ended> => oplus(['what-if', 'a', ...args], { cwd });

type Document = { readonly [name: string]: unknown; readonly proposals: number; readonly same: number };

function documentOf({ stdout }: Ended): Document {
  return JSON.parse(stdout) as Document;
}

describe('what-if', () => {
  test('[CLI30] under the definition of the run nothing differs, and it ends with 0', async () => {
    const [text, json] = await Promise.all([whatIf('--field', '/shelves/*=cas'), whatIf('--field', '/shelves/*=cas', '--json')]);
    expect([text.code, json.code, text.stderr, json.stderr]).toEqual([0, 0, '', '']);
    const { proposals, same, ...rest } = documentOf(json);
    expect(same).toBe(proposals);
    expect(rest).toMatchObject({ v: 1, ok: true, finished: true, wouldCommit: 0, wouldReject: 0, otherwise: 0, fields: [] });
    expect(text.stdout).toMatch(new RegExp(`^as they were +${proposals}$`, 'm'));
    expect(text.stdout).toMatch(/^state +the same$/m);
  });

  test('[CLI30] another kind: counts, the first that differ in words, and 1', async () => {
    const quota = '/received={"kind":"quota","lo":0,"hi":3}';
    const [text, json] = await Promise.all([whatIf('--field', quota), whatIf('--field', quota, '--json')]);
    expect([text.code, json.code]).toEqual([1, 1]);
    const { proposals, same, wouldReject, differences, schema, fields } = documentOf(json) as Document & {
      readonly differences: readonly { readonly was: object; readonly would: object }[];
      readonly schema: { readonly was: string; readonly would: string };
    };
    expect(proposals - same).toBe(differences.length);
    expect(wouldReject).toBeGreaterThan(3);
    expect(schema.was).not.toBe(schema.would);
    expect(fields).toContain('/received');
    expect(differences[0]).toMatchObject({
      was: { kind: 'committed' },
      would: { kind: 'rejected', issues: [{ path: '/received', code: 'bound', rule: 'quota', have: 3 }] },
    });
    expect(text.stdout).toMatch(new RegExp(`^would be rejected +${String(wouldReject)}$`, 'm'));
    expect(text.stdout).toMatch(/^r\d+ w\d#\d+ {2}committed, would be rejected {2}\/\w/m);
    expect(text.stdout).toMatch(/^ {2}would {2}bound \/received \(quota\), there is 3: /m);
    expect(text.stdout).toMatch(/^state +another one at .*\/received/m);
    expect(text.stdout).toMatch(/^and \d+ more$/m);
    expect(text.stdout).toContain('Under other rules the agents would have read other states');
  });

  test('[CLI30] other caps: what would be rejected, and where the state would be another one', async () => {
    const json = await whatIf('--field', '/shelves={"cap":2}', '--json');
    expect(json.code).toBe(1);
    const { wouldReject, fields } = documentOf(json);
    expect(wouldReject).toBeGreaterThan(0);
    expect(fields).toContain('/shelves');
  });

  test('[CLI30] a module with an altered definition, rules and all', async () => {
    const state = new URL('../../../../skills/warehouse/src/state.ts', import.meta.url).href;
    const lax = `import { warehouseState } from '${state}';\nexport const lax = { ...warehouseState, invariants: {}, transitions: {} };\n`;
    await writeFile(join(cwd, 'lax.mjs'), lax);
    const free = documentOf(await whatIf('--definition', './lax.mjs', '--json'));
    expect(free).toMatchObject({ wouldReject: 0, wouldCommit: expect.any(Number) as number });
    expect(free['wouldCommit']).toBeGreaterThan(0);
    const frozen = lax.replace(
      'invariants: {}',
      `invariants: { shut: { reads: ['received'], check: ({ after }) => after.received < 3 || 'shut' } }`,
    );
    await writeFile(join(cwd, 'shut.mjs'), frozen);
    const shut = await whatIf('--definition', './shut.mjs');
    expect(shut.code).toBe(1);
    expect(shut.stdout).toMatch(/^ {2}would {2}invariant the patch \(shut\): shut$/m);
  });

  test.each([
    [[], 'name what is altered', '--field'],
    [['--field', '/shelves/*=lww', '--definition', './x.ts'], 'name what is altered', '--definition'],
    [['--field', '/shelvs/*=lww'], 'no field /shelvs/*', 'Did you mean /shelves/*?'],
    [['--field', '/shelves/S001=lww'], 'no field /shelves/S001', '/shelves'],
    [['--field', '/__proto__=lww'], 'no field /__proto__', '/shelves'],
    [['--field', 'shelves=lww'], 'is not a change of a field', '/shelves/*=lww'],
    [['--field', '/shelves'], 'is not a change of a field', '/shelves/*=lww'],
    [['--field', '/shelves={"cap":'], 'is not a change of a field', '/shelves/*=lww'],
    [['--field', '/shelves/*=lwww'], 'no kind of this package is called lwww', 'README'],
    [['--field', '/received=cas'], 'cannot be altered so', 'README'],
    [['--definition', './missing.ts'], 'there is no such file', 'skill'],
  ])('[CLI12] [CLI30] what-if %j is wrong usage, with a way out', async (args, message, hint) => {
    const { code, stdout, stderr } = await whatIf(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
  });

  test('[CLI30] a definition without a field of the run is wrong usage', async () => {
    const less = "export const less = { name: 'less', version: 1, fields: {} };\n";
    const state = new URL('../../../../skills/warehouse/src/state.ts', import.meta.url).href;
    await writeFile(
      join(cwd, 'less.mjs'),
      `import { warehouseState } from '${state}';\n${less.replace('fields: {}', 'fields: { received: warehouseState.fields.received }')}`,
    );
    const { code, stderr } = await whatIf('--definition', './less.mjs');
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('has no field called shelves') as string });
  });
});
