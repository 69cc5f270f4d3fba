/**
 * `oplus schema`: what a state definition means (`explain`), whether it is sound (`check`), and its contract (`json`).
 */
import { nearestWord } from '@oplus/agent';
import { confluenceOf, contractOf, explainState, OplusError, patchSchemaOf, toldLine } from '@oplus/core';
import type { Confluence, FieldExplanation, Json, StateSchema } from '@oplus/core';
import { definitionOf } from '../definition.ts';
import type { Colours, Terminal } from '../terminal.ts';

/** Kind, cap, grade and why, verbs, and what happens when two write at once: of every field, or of one and all below it. */
export async function explainCommand(terminal: Terminal, name: string, options: { readonly path?: string }): Promise<number> {
  const { schema } = await definitionOf(name);
  const explained = explainState(schema);
  const fields = explained.filter(({ path }) => isWithin(path, options.path ?? ''));
  if (fields.length === 0) {
    const near = nearestWord(
      options.path ?? '',
      explained.map(({ path }) => path),
    );
    throw new OplusError('USAGE', `the state has no field ${(options.path ?? '').slice(0, 64)}`, {
      hint:
        near === undefined ? `The fields are ${schema.names.map((field) => `/${field}`).join(', ')}.` : `Did you mean ${near}?`,
    });
  }
  const { name: state, version, digest, bytesMax } = schema;
  const rules = options.path === undefined ? rulesOf(schema) : [];
  if (terminal.isJson) {
    terminal.json({ v: 1, ok: true, state, version, digest, bytesMax, fields, rules });
    return 0;
  }
  terminal.out(`${terminal.colour.bold(state)} version ${version}, at most ${bytesMax} bytes, schema ${schema.id}`);
  for (const field of fields) for (const line of linesOf(field, terminal.colour)) terminal.out(line);
  if (rules.length > 0) terminal.out('');
  for (const { sort, name: rule, reads } of rules)
    terminal.out(`${terminal.colour.bold(sort)}  ${rule}, by ${reads.map((read) => `/${read}`).join(', ')}`);
  return 0;
}

/** Loads the definition and searches each invariant for two patches that break it together. Always 0 for one that loads. */
export async function checkCommand(terminal: Terminal, name: string, options: { readonly states: number }): Promise<number> {
  const { schema, isContract } = await definitionOf(name);
  const invariants = isContract ? notMeasured(schema) : confluenceOf(schema, options.states);
  const grades = gradesOf(schema);
  if (terminal.isJson) {
    terminal.json({ v: 1, ok: true, state: schema.name, version: schema.version, digest: schema.digest, grades, invariants });
    return 0;
  }
  terminal.out(
    `${terminal.colour.green('ok')}  ${schema.name} version ${schema.version} loads: every field has a cap, every rule holds at the start`,
  );
  terminal.out(`    grade A: ${grades.A.join(', ') || 'none'}`);
  terminal.out(`    grade B: ${grades.B.join(', ') || 'none'}`);
  for (const invariant of invariants) for (const line of verdictLines(invariant, terminal.colour)) terminal.out(line);
  return 0;
}

/** The contract as one document; with `patch`, JSON Schema of a patch in the strict subset of model servers. */
export async function contractCommand(
  terminal: Terminal,
  name: string,
  options: { readonly patch?: boolean; readonly role?: string },
): Promise<number> {
  const { schema } = await definitionOf(name);
  const { role } = options;
  if (role !== undefined && !schema.roles.has(role)) {
    const roles = [...schema.roles.keys()];
    const near = nearestWord(role, roles);
    throw new OplusError('USAGE', `no role is called ${role.slice(0, 64)}`, {
      hint: near === undefined ? `The roles are ${roles.join(', ')}.` : `Did you mean ${near}?`,
    });
  }
  const document = options.patch === true ? patchSchemaOf(schema, role) : contractOf(schema);
  if (terminal.isJson) terminal.json(document);
  else terminal.out(JSON.stringify(document, null, 2));
  return 0;
}

type ShownRule = { readonly sort: string; readonly name: string; readonly reads: readonly string[] };

/** The rules over fields: invariants, transitions, and what protects a field from being erased. */
function rulesOf({ rules, protections, names }: StateSchema): readonly ShownRule[] {
  return [...rules, ...protections.values()].map(({ sort, name, reads }) => ({
    sort: sort === 'protected' ? 'protection of' : sort,
    name: sort === 'protected' ? `/${name}` : name,
    reads: reads.map((index) => names[index] as string),
  }));
}

/** The checks of a contract are code, and not there. */
function notMeasured({ rules }: StateSchema): readonly Confluence[] {
  return rules
    .filter(({ sort }) => sort === 'invariant')
    .map(({ name }) => ({ invariant: name, states: 0, pairs: 0, verdict: 'not measured' }));
}

function isWithin(path: string, above: string): boolean {
  return path === above || above === '' || path.startsWith(`${above}/`);
}

function linesOf(field: FieldExplanation, colour: Colours): readonly string[] {
  const { path, kind, grade, why, cap, summary, verbs, writers, patches, example } = field;
  const count = cap.count === undefined ? '' : `${cap.count} at most, `;
  return [
    '',
    `${colour.bold(path)}  ${kind}, grade ${grade}`,
    `  is      ${summary}`,
    `  why ${grade}   ${why}`,
    `  cap     ${count}${cap.bytes} bytes`,
    verbs.length === 0
      ? '  verbs   none: it is computed'
      : `  verbs   ${verbs.join(', ')}, by ${writers?.join(', ') ?? 'every role'}`,
    ...patches.map((patch, i) => `  ${i === 0 ? 'patch ' : '      '}  ${clip(patch)}`),
    ...(example === undefined
      ? []
      : [
          `  two at once, on ${clip(example.before)}`,
          ...example.told.map((told) => `    ${toldLine(told)}`),
          `    leaves ${clip(example.after)}`,
        ]),
  ];
}

function gradesOf(schema: StateSchema): { readonly A: readonly string[]; readonly B: readonly string[] } {
  const fields = explainState(schema).map(({ path, grade }) => ({ path, grade }));
  const of = (letter: 'A' | 'B'): readonly string[] => fields.filter(({ grade }) => grade === letter).map(({ path }) => path);
  return { A: of('A'), B: of('B') };
}

function verdictLines(found: Confluence, colour: Colours): readonly string[] {
  const { invariant, states, pairs } = found;
  const tried = `${states} states, ${pairs} pairs tried`;
  if (found.verdict === 'confluent')
    return [`${colour.green('confluent')}  ${invariant}: no two patches that are fine alone were seen to break it (${tried})`];
  if (found.verdict === 'not measured')
    return [`${colour.yellow('not measured')}  ${invariant}: no two patches were found that are fine on one state (${tried})`];
  const { state, one, other, hint } = found.counterexample;
  return [
    `${colour.yellow('decided by the log')}  ${invariant}: two patches, each fine alone, break it together (${tried})`,
    `    on   ${clip(state)}`,
    `    one  ${clip(one)}`,
    `    two  ${clip(other)}`,
    `    the second is refused: ${hint}`,
  ];
}

const VALUE_CHARS_MAX = 160;

function clip(value: Json): string {
  const text = JSON.stringify(value);
  return text.length <= VALUE_CHARS_MAX ? text : `${text.slice(0, VALUE_CHARS_MAX)}…`;
}
