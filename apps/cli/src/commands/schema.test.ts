import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { inFolder, oplus } from '../testing/command.ts';

const board = fileURLToPath(new URL('../../examples/board.ts', import.meta.url));
const broken = fileURLToPath(new URL('../../examples/broken-board.ts', import.meta.url));

type Explained = {
  readonly ok: boolean;
  readonly digest: string;
  readonly fields: readonly { readonly [key: string]: unknown }[];
};

describe('oplus schema', () => {
  test('[SCM1] explain shows every field of a shipped skill and of a module, with two writers at once', () =>
    inFolder(async (cwd) => {
      const shipped = await oplus(['schema', 'explain', 'warehouse'], { cwd });
      expect({ code: shipped.code, stderr: shipped.stderr }).toEqual({ code: 0, stderr: '' });
      for (const part of ['/received  counter, grade B', '/shelves/*  cas, grade B', 'two at once, on', 'rejected, conflict: '])
        expect(shipped.stdout).toContain(part);
      const own = await oplus(['schema', 'explain', board, '--path', '/tasks'], { cwd });
      expect(own.code).toBe(0);
      expect(own.stdout).toContain('/tasks/*/owner  claim, grade B');
      expect(own.stdout).toContain('bo {"claim":true} -> rejected, held: ana holds it.');
      expect(own.stdout).not.toContain('/stock');
    }));

  test('[SCM1] with --json each field has path, kind, cap, grade, why and verbs', () =>
    inFolder(async (cwd) => {
      for (const name of ['warehouse', board]) {
        const { code, stdout } = await oplus(['schema', 'explain', name, '--json'], { cwd });
        expect(code).toBe(0);
        const document = JSON.parse(stdout) as Explained;
        expect(document.ok).toBe(true);
        expect(document.fields.length).toBeGreaterThan(3);
        for (const one of document.fields) {
          expect(one).toMatchObject({
            path: expect.stringMatching(/^\/./) as string,
            kind: expect.stringMatching(/./) as string,
            cap: { bytes: expect.any(Number) as number },
            grade: expect.stringMatching(/^[AB]$/) as string,
            why: expect.stringMatching(/./) as string,
            verbs: expect.arrayContaining([expect.any(String) as string]) as string[],
            example: { told: [{ agent: expect.any(String) as string }, {}] },
          });
        }
      }
    }));

  test('[SCM2] check names grades and what the log decides, with the two patches', () =>
    inFolder(async (cwd) => {
      const { code, stdout } = await oplus(['schema', 'check', board], { cwd });
      expect(code).toBe(0);
      for (const part of [
        /^ok {2}board version 1 loads/m,
        /^ {4}grade A: none$/m,
        /^confluent {2}few tags: .* \(\d+ states, \d+ pairs tried\)$/m,
        /^decided by the log {2}stock is never negative: /m,
        /^ {4}on {3}\{"stock":1,.*\n {4}one {2}\{"stock":\{"inc":-1\}\}\n {4}two {2}\{"stock":\{"inc":-1\}\}\n {4}the second is refused: nothing is left in stock$/m,
      ])
        expect(stdout).toMatch(part);
      const shipped = await oplus(['schema', 'check', 'warehouse', '--json', '--states', '40'], { cwd });
      const { invariants } = JSON.parse(shipped.stdout) as {
        readonly invariants: readonly { readonly verdict: string; readonly pairs: number }[];
      };
      expect(invariants.length).toBeGreaterThan(0);
      for (const { verdict, pairs } of invariants) expect(verdict === 'not measured').toBe(pairs === 0);
    }));

  test('[SCM3] a broken definition ends with 3, and every fault of it with path, rule and hint', () =>
    inFolder(async (cwd) => {
      for (const command of ['check', 'explain', 'json']) {
        const { code, stderr } = await oplus(['schema', command, broken], { cwd });
        expect(code).toBe(3);
        expect(stderr).toMatch(
          /^error\[SCHEMA_INVALID\]: lattice: done and failed have no least upper bound\n {2}at: \/fields\/progress\n {2}hint: /,
        );
        expect(stderr.match(/^error\[SCHEMA_INVALID\]: .+\n {2}at: \/.+\n {2}hint: .+$/gm)).toHaveLength(6);
        const told = JSON.parse((await oplus(['schema', command, broken, '--json'], { cwd })).stdout) as {
          readonly ok: boolean;
          readonly error: { readonly faults: readonly { readonly [part: string]: string }[] };
        };
        expect(told.ok).toBe(false);
        expect(told.error.faults.map(({ path, rule, hint }) => [path, rule?.split(':')[0], hint !== ''])).toEqual([
          ['/fields/progress', 'lattice', true],
          ['/fields/tags', 'set', true],
          ['/fields/tasks/*/phase', 'machine', true],
          ['/fields/tasks/*/title', 'cas', true],
          ['/fields/total', 'reduce', true],
          ['/invariants/stock fits the shelf', 'stock fits the shelf fails on the initial state', true],
        ]);
      }
      const file = join(cwd, 'late.mjs');
      await writeFile(file, 'export const late = { name: "late", version: 1, fields: { n: { kind: "list" } } };\n');
      const late = await oplus(['schema', 'explain', file, '--json'], { cwd });
      expect(late.code).toBe(3);
      expect(JSON.parse(late.stdout)).toMatchObject({ ok: false, error: { code: 'SCHEMA_INVALID', path: '/fields/n' } });
    }));

  test('[SCM4] the contract reads back to the same digest; a patch schema holds what a role may write', () =>
    inFolder(async (cwd) => {
      const plain = await oplus(['schema', 'explain', board, '--json'], { cwd });
      const contract = await oplus(['schema', 'json', board], { cwd });
      const head = JSON.parse(contract.stdout) as {
        readonly 'x-state': { readonly digest: string; readonly rules: readonly unknown[] };
      };
      expect(head['x-state'].digest).toBe((JSON.parse(plain.stdout) as Explained).digest);
      const file = join(cwd, 'board.json');
      await writeFile(file, contract.stdout);
      const read = await oplus(['schema', 'explain', file, '--json'], { cwd });
      const [again, first] = [read, plain].map(({ stdout }) => JSON.parse(stdout) as Explained & { readonly rules: unknown });
      expect([again?.digest, again?.rules]).toEqual([first?.digest, first?.rules]);
      const paths = (one: Explained | undefined): ReadonlySet<unknown> => new Set(one?.fields.map(({ path }) => path));
      expect(paths(again)).toEqual(paths(first));
      const checked = await oplus(['schema', 'check', file], { cwd });
      expect(checked.stdout).toMatch(/^not measured {2}stock is never negative: /m);
      const patch = await oplus(['schema', 'json', board, '--patch', '--role', 'hand', '--json'], { cwd });
      expect(Object.keys((JSON.parse(patch.stdout) as { readonly properties: object }).properties)).toEqual(['stock', 'tasks']);
    }));

  test('[SCM5] unknown skills, files, fields and modules without a definition are answered with what there is', () =>
    inFolder(async (cwd) => {
      const said = async (...args: readonly string[]): Promise<readonly [number | null, string]> => {
        const { code, stderr } = await oplus(['schema', ...args], { cwd });
        return [code, stderr];
      };
      expect(await said('explain', 'warehous')).toEqual([2, expect.stringContaining('Did you mean warehouse?')]);
      expect(await said('explain', 'warehouse', '--path', '/shelve')).toEqual([
        2,
        expect.stringContaining('Did you mean /shelves?'),
      ]);
      expect(await said('json', board, '--patch', '--role', 'hnd')).toEqual([2, expect.stringContaining('Did you mean hand?')]);
      await writeFile(
        join(cwd, 'two.mjs'),
        'const of = { version: 1, fields: {} };\nexport const one = { name: "one", ...of }, two = { name: "two", ...of };\n',
      );
      expect(await said('check', './two.mjs')).toEqual([2, expect.stringContaining('two.mjs#one')]);
      expect(await said('check', './two.mjs#two')).toEqual([3, expect.stringContaining('a state without fields')]);
      await writeFile(join(cwd, 'slip.mjs'), 'export const x = { name: "x", version: 1, fieldz: {} };\n');
      expect(await said('check', './slip.mjs')).toEqual([3, expect.stringContaining('at: /fields')]);
      await writeFile(join(cwd, 'odd.mjs'), 'export const x = 1;\nundefined.keep;\n');
      expect(await said('check', './odd.mjs')).toEqual([
        2,
        expect.stringMatching(/TypeError: Cannot read.*\n {2}at: .*odd\.mjs:2/),
      ]);
      expect(await said('check', './nothing.ts')).toEqual([2, expect.stringContaining('there is no such file')]);
      await writeFile(join(cwd, 'empty.mjs'), 'export const x = 1;\n');
      expect(await said('check', './empty.mjs')).toEqual([2, expect.stringContaining('exports no state definition')]);
      await writeFile(join(cwd, 'bad.json'), '{');
      expect(await said('check', './bad.json')).toEqual([2, expect.stringContaining('the file is not JSON')]);
    }));
});
