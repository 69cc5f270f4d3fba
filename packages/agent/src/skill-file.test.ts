import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OplusError } from '@oplus/core';
import { expect, test } from 'vitest';
import { parseSkillFile, readSkillFolder, SKILL_BYTES_MAX } from './skill-file.ts';

const read = (text: string, folder = 'pdf-tools') => parseSkillFile(new TextEncoder().encode(text), folder);
const headed = (header: string, body = 'Do it.') => `---\n${header}\n---\n${body}\n`;
const MINIMAL = headed('name: pdf-tools\ndescription: Works on PDF files.');

function refusal(call: () => unknown): OplusError {
  try {
    call();
  } catch (error) {
    if (error instanceof OplusError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

test('[SKL1] a minimal skill is name, description and procedure', () => {
  expect(read(MINIMAL)).toMatchObject({
    name: 'pdf-tools',
    description: 'Works on PDF files.',
    procedure: 'Do it.',
    metadata: {},
    allowedTools: [],
  });
});

test('[SKL1] every optional field is read and unknown ones are tolerated', () => {
  const file = read(
    headed(
      [
        'name: pdf-tools',
        'description: >-',
        '  Works on PDF files.',
        '  Use it when one is named.',
        'license: Apache-2.0',
        'compatibility: needs poppler',
        'metadata:',
        '  oplus.role: scout',
        '  version: "1.0"',
        'allowed-tools: Bash(git:*) Read',
        'something-new: [1, 2]',
      ].join('\n'),
      '\n\n# Title\n\n---\n\nA rule in the body stays.\n\n',
    ),
  );
  expect(file).toMatchObject({
    description: 'Works on PDF files. Use it when one is named.',
    license: 'Apache-2.0',
    compatibility: 'needs poppler',
    metadata: { 'oplus.role': 'scout', version: '1.0' },
    allowedTools: ['Bash(git:*)', 'Read'],
    procedure: '# Title\n\n---\n\nA rule in the body stays.',
  });
});

test('[SKL1] line ends of Windows give the same procedure', () => {
  const file = read(MINIMAL.replaceAll('\n', '\r\n').replace('Do it.', 'One.\r\nTwo.'));
  expect(file.procedure).toBe('One.\nTwo.');
});

test.each(['a', 'a1', 'pdf-tools', 'x'.repeat(64)])('[SKL2] %s is a name', (name) => {
  expect(read(headed(`name: "${name}"\ndescription: d`), name).name).toBe(name);
});

test.each(['A', 'a_b', '-a', 'a-', 'a--b', 'a b', 'é', 'x'.repeat(65), '../up'])('[SKL2] %s is no name', (name) => {
  const error = refusal(() => read(headed(`name: "${name}"\ndescription: d`), name));
  expect(error).toMatchObject({ code: 'SCHEMA_INVALID', path: `${name}/SKILL.md#/name` });
  expect(error.hint).toBeTruthy();
});

test('[SKL2] the name is that of the folder', () => {
  expect(refusal(() => read(MINIMAL, 'other'))).toMatchObject({ code: 'SCHEMA_INVALID', path: 'other/SKILL.md#/name' });
});

test.each([
  ['description', 'name: pdf-tools'],
  ['description', 'name: pdf-tools\ndescription: "  "'],
  ['description', `name: pdf-tools\ndescription: ${'d'.repeat(1025)}`],
  ['description', 'name: pdf-tools\ndescription: 17'],
  ['description', 'name: pdf-tools\ndescription: [a]'],
  ['compatibility', `name: pdf-tools\ndescription: d\ncompatibility: ${'c'.repeat(501)}`],
  ['metadata', 'name: pdf-tools\ndescription: d\nmetadata: text'],
  ['metadata/version', 'name: pdf-tools\ndescription: d\nmetadata:\n  version: 1.0'],
  ['allowed-tools', 'name: pdf-tools\ndescription: d\nallowed-tools: [Read]'],
  ['name', 'description: d'],
])('[SKL3] a wrong %s is refused at its place', (field, header) => {
  expect(refusal(() => read(headed(header)))).toMatchObject({ code: 'SCHEMA_INVALID', path: `pdf-tools/SKILL.md#/${field}` });
});

test('[SKL3] a description of 1024 characters is allowed', () => {
  expect(read(headed(`name: pdf-tools\ndescription: ${'d'.repeat(1024)}`)).description).toHaveLength(1024);
});

test.each([
  ['no header', 'name: pdf-tools'],
  ['a header that does not end', '---\nname: pdf-tools\n'],
  ['another language behind the dashes', '---js\nprocess.exit(3)\n---\nbody'],
  ['a byte order mark and no header', '\uFEFFtext'],
  ['broken YAML', headed('name: "pdf-tools\ndescription: d')],
  ['a list', headed('- name\n- description')],
  ['nothing', headed('')],
  ['a key twice', headed('name: pdf-tools\ndescription: d\ndescription: e')],
  ['a custom tag', headed('name: pdf-tools\ndescription: !!js/function "function () {}"')],
  ['aliases', headed('name: &n pdf-tools\ndescription: *n')],
  ['a bomb of aliases', headed('a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nname: pdf-tools\ndescription: d')],
  ['no procedure', headed('name: pdf-tools\ndescription: d', '\n \n')],
])('[SKL4] %s is refused with a hint', (_, text) => {
  const error = refusal(() => read(text));
  expect(error.code).toBe('SCHEMA_INVALID');
  expect(error.path).toBe('pdf-tools/SKILL.md');
  expect(error.hint).toBeTruthy();
});

test('[SKL4] bytes that are no UTF-8 are refused', () => {
  expect(refusal(() => parseSkillFile(Uint8Array.of(0x2d, 0x2d, 0x2d, 0xff), 'x'))).toMatchObject({ code: 'SCHEMA_INVALID' });
});

test('[SKL5] the digest changes with any byte and with the name, and not with the folder above', async () => {
  const digest = read(MINIMAL).procedureDigest;
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
  expect(read(`${MINIMAL} `).procedureDigest).not.toBe(digest);
  expect(read(MINIMAL.replace('name: pdf-tools', 'name: pdf-tool2'), 'pdf-tool2').procedureDigest).not.toBe(digest);
  const root = await mkdtemp(join(tmpdir(), 'skill-'));
  try {
    await mkdir(join(root, 'pdf-tools'));
    await writeFile(join(root, 'pdf-tools', 'SKILL.md'), MINIMAL);
    expect((await readSkillFolder(join(root, 'pdf-tools'))).procedureDigest).toBe(digest);
  } finally {
    await rm(root, { recursive: true });
  }
});

test('[SKL6] a folder without a skill and a file that is too large are told apart', async () => {
  const root = await mkdtemp(join(tmpdir(), 'skill-'));
  try {
    await expect(readSkillFolder(join(root, 'none'))).rejects.toMatchObject({
      code: 'SKILL_UNKNOWN',
      path: join(root, 'none', 'SKILL.md'),
    });
    await mkdir(join(root, 'big'));
    await writeFile(join(root, 'big', 'SKILL.md'), 'x'.repeat(SKILL_BYTES_MAX + 1));
    await expect(readSkillFolder(join(root, 'big'))).rejects.toMatchObject({ code: 'SCHEMA_INVALID' });
  } finally {
    await rm(root, { recursive: true });
  }
  expect(refusal(() => parseSkillFile(new Uint8Array(SKILL_BYTES_MAX + 1), 'big'))).toMatchObject({ code: 'SCHEMA_INVALID' });
});
