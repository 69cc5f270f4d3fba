/**
 * `SKILL.md` folders, as the Agent Skills format has them: YAML frontmatter between two `---` lines, then the procedure.
 *
 * The header is split off by hand and read as plain YAML 1.2 data: no aliases, no custom tags, no second language behind
 * the dashes, so opening a skill never runs anything. Unknown header fields are tolerated. SPEC: SKL1-SKL6.
 */
import { open } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { OplusError, pointer } from '@oplus/core';
import { parseDocument } from 'yaml';
import { digestOf } from './digest.ts';

/** Largest `SKILL.md`, in bytes. */
export const SKILL_BYTES_MAX = 262_144;

/** What a `SKILL.md` says. */
export type SkillFile = {
  readonly name: string;
  readonly description: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly metadata: { readonly [key: string]: string };
  readonly allowedTools: readonly string[];
  /** The body, line ends as `\n`, without blank lines around it. */
  readonly procedure: string;
  /** SHA-256 over the canonical path (`<name>/SKILL.md`) and the bytes of the file. */
  readonly procedureDigest: string;
};

/** Reads `<folder>/SKILL.md`. Throws `SKILL_UNKNOWN` when there is none, `SCHEMA_INVALID` with file, field and hint when it breaks the format. */
export async function readSkillFolder(folder: string): Promise<SkillFile> {
  const file = join(folder, FILE_NAME);
  let bytes: Uint8Array;
  try {
    bytes = await readBounded(file);
  } catch (cause) {
    if (cause instanceof OplusError) throw cause;
    throw new OplusError('SKILL_UNKNOWN', `no skill at ${folder}`, {
      path: file,
      hint: `A skill is a folder with a ${FILE_NAME} in it.`,
      cause,
    });
  }
  return parseSkillFile(bytes, basename(resolve(folder)), file);
}

/** Reads the bytes of a `SKILL.md`. `folder` is the name of its folder, `file` what errors call it. Throws `SCHEMA_INVALID`. */
export function parseSkillFile(bytes: Uint8Array, folder: string, file: string = `${folder}/${FILE_NAME}`): SkillFile {
  if (bytes.byteLength > SKILL_BYTES_MAX)
    throw invalid(file, '', `${bytes.byteLength} bytes`, `At most ${SKILL_BYTES_MAX} bytes; move details to references/.`);
  const { header, body } = split(decode(bytes, file), file);
  const fields = readHeader(header, file);
  const text = (key: string, charsMax: number): string | undefined => textField(fields, key, charsMax, file);
  const license = text('license', 500);
  const compatibility = text('compatibility', 500);
  const name = checkName(text('name', 64), folder, file);
  const description = text('description', 1024);
  if (description === undefined)
    throw invalid(file, 'description', 'is missing', 'Say what the skill does and when to use it, in up to 1024 characters.');
  if (body === '')
    throw invalid(
      file,
      '',
      'has no procedure below its header',
      'Write the steps that an agent follows below the second --- line.',
    );
  return {
    name,
    description,
    ...(license === undefined ? {} : { license }),
    ...(compatibility === undefined ? {} : { compatibility }),
    metadata: readMetadata(fields.get('metadata'), file),
    allowedTools:
      text('allowed-tools', 4096)
        ?.split(/\s+/)
        .filter((tool) => tool !== '') ?? [],
    procedure: body,
    procedureDigest: digestOf(`${name}/${FILE_NAME}`, bytes),
  };
}

const FILE_NAME = 'SKILL.md';
const NAME_PATTERN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

async function readBounded(file: string): Promise<Uint8Array> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    if (size > SKILL_BYTES_MAX)
      throw invalid(file, '', `${size} bytes`, `At most ${SKILL_BYTES_MAX} bytes; move details to references/.`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n');
  } catch (cause) {
    throw invalid(file, '', 'is not UTF-8', 'Save the file as UTF-8.', cause);
  }
}

function split(text: string, file: string): { readonly header: string; readonly body: string } {
  const lines = text.split('\n');
  if (lines[0]?.trimEnd() !== '---') {
    throw invalid(
      file,
      '',
      'does not begin with a --- line',
      'The first line is exactly ---, then name: and description:, then --- again.',
    );
  }
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === '---');
  if (end < 0) throw invalid(file, '', 'has a header that does not end', 'Close the header with a line that is exactly ---.');
  const body = lines.slice(end + 1).join('\n');
  return { header: lines.slice(1, end).join('\n'), body: body.replace(/^(?:[ \t]*\n)+/, '').trimEnd() };
}

function readHeader(header: string, file: string): ReadonlyMap<string, unknown> {
  const document = parseDocument(header, {
    version: '1.2',
    schema: 'core',
    uniqueKeys: true,
    stringKeys: true,
    logLevel: 'silent',
    prettyErrors: false,
  });
  const fault = document.errors[0] ?? document.warnings[0];
  const advice = 'The header is plain YAML: key: value, with quotes around values that hold a colon.';
  if (fault !== undefined)
    throw invalid(file, '', `has a header that is not plain YAML: ${firstLine(fault.message)}`, advice, fault);
  let value: unknown;
  try {
    value = document.toJS({ mapAsMap: true, maxAliasCount: 0 });
  } catch (cause) {
    throw invalid(file, '', 'has a header with aliases', advice, cause);
  }
  if (value instanceof Map) return value as ReadonlyMap<string, unknown>;
  throw invalid(file, '', 'has a header that is no list of fields', advice);
}

function textField(fields: ReadonlyMap<string, unknown>, key: string, charsMax: number, file: string): string | undefined {
  const value = fields.get(key);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw invalid(file, key, `is not text`, `Put quotes around the value of ${key}.`);
  const text = value.trim();
  if (text === '') return undefined;
  if (text.length > charsMax) throw invalid(file, key, `has ${text.length} characters`, `At most ${charsMax} characters.`);
  return text;
}

function checkName(name: string | undefined, folder: string, file: string): string {
  const advice = 'Use 1 to 64 small letters and digits, single hyphens between them, the same as the folder.';
  if (name === undefined) throw invalid(file, 'name', 'is missing', advice);
  if (!NAME_PATTERN.test(name)) throw invalid(file, 'name', `${name} breaks the rules of names`, advice);
  if (name !== folder) throw invalid(file, 'name', `${name} is not the name of its folder, ${folder}`, 'Rename one of the two.');
  return name;
}

function readMetadata(value: unknown, file: string): { readonly [key: string]: string } {
  if (value === undefined || value === null) return {};
  const advice = 'metadata maps text to text; put quotes around numbers, dates and true or false.';
  if (!(value instanceof Map)) throw invalid(file, 'metadata', 'is no list of fields', advice);
  const entries = [...(value as ReadonlyMap<unknown, unknown>)];
  for (const [key, entry] of entries)
    if (typeof entry !== 'string') throw invalid(file, `metadata/${String(key)}`, 'is not text', advice);
  return Object.fromEntries(entries as [string, string][]);
}

function invalid(file: string, field: string, what: string, hint: string, cause?: unknown): OplusError {
  const path = field === '' ? file : `${file}#${pointer(...field.split('/'))}`;
  return new OplusError('SCHEMA_INVALID', `${field === '' ? FILE_NAME : `${field} of ${FILE_NAME}`} ${what}`, {
    path,
    hint,
    cause,
  });
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? text;
}
