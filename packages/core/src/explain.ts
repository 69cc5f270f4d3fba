/**
 * What a state definition means, field by field: kind, cap, grade and why, who may write what, and what happens when two
 * agents write at once. The example is not written down anywhere: it is run. SPEC: XPL1-XPL4.
 */
import { placesOf } from './field-kind.ts';
import type { FieldKind } from './field-kind.ts';
import type { Issue, Outcomes, Verdict } from './issue.ts';
import type { Json } from './json.ts';
import { canonical, pointer } from './json.ts';
import type { Admitted } from './proposal.ts';
import type { Space } from './space.ts';
import { stateJson } from './space.ts';
import { proposeAtOnce, stageOf } from './stage.ts';
import type { StateSchema } from './state-schema.ts';
import { loadState } from './state-schema.ts';

/** `*` in a path stands for the keys or ids that agents choose. `example` is absent where nobody writes. */
export type FieldExplanation = {
  readonly path: string;
  readonly kind: string;
  readonly summary: string;
  /** Largest canonical text in UTF-8 bytes, and largest count where the field holds several things. */
  readonly cap: { readonly bytes: number; readonly count?: number };
  readonly grade: 'A' | 'B';
  readonly why: string;
  readonly verbs: readonly string[];
  /** The roles that may write; all when absent. */
  readonly writers?: readonly string[];
  /** Patches of this field, as an agent may send them. */
  readonly patches: readonly Json[];
  readonly example?: TwoWriters;
};

/** Two agents write the same field at once, on the same view: what each is told, in canonical order, and what stands then. */
export type TwoWriters = { readonly told: readonly Told[]; readonly before: Json; readonly after: Json };

export type Told = {
  readonly agent: string;
  readonly patch: Json;
  readonly verdict: 'committed' | 'rejected';
  readonly outcomes?: Outcomes;
  readonly issues?: readonly Issue[];
};

/** Explains every field and all below it. Cost: some dozens of small seals a field. */
export function explainState(schema: StateSchema): readonly FieldExplanation[] {
  return schema.kinds.flatMap((kind, i) =>
    placesOf(kind, pointer(schema.names[i] as string)).map(([path, part]) => explained(schema, path, part, rulesOn(schema, i))),
  );
}

/** What a verdict says, in one line. */
export function toldLine({ agent, patch, verdict, outcomes, issues }: Told): string {
  const said = [
    ...Object.values(outcomes ?? {}).map((outcome) => {
      if (outcome.kind === 'superseded') return `superseded by ${outcome.by}, ${canonical(outcome.value)} stands`;
      return outcome.kind === 'merged' && outcome.over !== undefined ? `merged over ${outcome.over.agent}` : outcome.kind;
    }),
    ...(issues ?? []).map((issue) => `${issue.code}: ${issue.hint}`),
  ];
  return `${agent} ${canonical(patch)} -> ${verdict}${said.length === 0 ? '' : `, ${said.join('; ')}`}`;
}

/** The names of the rules that may refuse a patch because of this field: of two patches the log decides which it is. */
function rulesOn(schema: StateSchema, index: number): readonly string[] {
  const from = schema.computed.filter(({ reads }) => reads.includes(index)).map((computed) => computed.index);
  const isRead = (read: number): boolean => read === index || from.includes(read);
  return schema.rules.filter(({ reads }) => reads.some(isRead)).map(({ name }) => name);
}

function explained(schema: StateSchema, path: string, kind: FieldKind, rules: readonly string[]): FieldExplanation {
  const { grade, verbs, summary, bytesMax, meta } = kind;
  const values = kind.valueSchema();
  const count = values['maxItems'] ?? values['maxProperties'];
  const example = exampleOf(schema, kind);
  return {
    path,
    kind: kind.name,
    summary: meta?.doc ?? summary,
    cap: { bytes: bytesMax, ...(typeof count === 'number' ? { count } : {}) },
    grade: rules.length === 0 ? grade.letter : 'B',
    why:
      rules.length === 0
        ? grade.why
        : `${grade.why}${grade.letter === 'A' ? ' (A)' : ''}; a rule reads it and may refuse the second of two: ${rules.join(', ')}`,
    verbs,
    ...(meta?.writers === undefined ? {} : { writers: meta.writers }),
    patches: kind.samples(),
    ...(example === undefined ? {} : { example }),
  };
}

const NAME = 'field';
const WRITERS = ['ana', 'bo'] as const;

/** The pair of samples that shows most: a refusal before a loss, a loss before an agreement, an agreement before a merge. */
function exampleOf(schema: StateSchema, kind: FieldKind): TwoWriters | undefined {
  const samples = kind.samples();
  if (samples.length === 0 || kind.computed !== undefined) return undefined;
  for (const start of stagesFor(schema, kind)) {
    const shown = clearest(start, samples);
    if (shown !== undefined) return shown;
  }
  return undefined;
}

function clearest(start: Space, samples: readonly Json[]): TwoWriters | undefined {
  let best: { readonly weight: number; readonly shown: TwoWriters } | undefined;
  const different = samples.flatMap((one, i) => samples.slice(i + 1).map((other) => [one, other] as const));
  for (const [one, other] of [...different, ...samples.map((same) => [same, same] as const)]) {
    const shown = writeAtOnce(start, one, other);
    const weight = shown === undefined ? -1 : weightOf(shown);
    if (shown !== undefined && weight > (best?.weight ?? -1)) best = { weight, shown };
  }
  return best?.shown;
}

/** Spaces with this field alone and two agents in roles that may write it: in two roles first, as those show more. */
function* stagesFor(schema: StateSchema, kind: FieldKind): Generator<Space> {
  const roles = Object.fromEntries(schema.roles);
  const alone = loadState({ name: 'example', version: 1, fields: { [NAME]: kind }, roles }, schema.sha256);
  const writers = kind.meta?.writers ?? Object.keys(roles);
  for (const distance of writers.keys()) {
    for (const [i, role] of writers.entries()) {
      const other = writers[(i + distance + 1) % writers.length] as string;
      yield stageOf(alone, { [WRITERS[0]]: role, [WRITERS[1]]: other });
    }
  }
}

/** `undefined` when one of them alone would be refused: that is not what the other did to it. */
function writeAtOnce(start: Space, one: Json, other: Json): TwoWriters | undefined {
  const asked = [one, other].map((intent, i) => [WRITERS[i] as string, { [NAME]: intent }] as const);
  const isFineAlone = asked.every((ask) => proposeAtOnce(start, [ask]).decided[0]?.verdict.kind === 'committed');
  if (!isFineAlone) return undefined;
  const sealed = proposeAtOnce(start, asked);
  const told = sealed.decided.map(({ admitted, verdict }) => toldOf(admitted, verdict));
  return { told, before: stateJson(start)[NAME] as Json, after: stateJson(sealed.space)[NAME] as Json };
}

function toldOf({ proposal }: Admitted, verdict: Verdict): Told {
  const base = { agent: proposal.agent, patch: proposal.patch[NAME] as Json, verdict: verdict.kind };
  if (verdict.kind === 'rejected') return { ...base, issues: verdict.issues };
  return verdict.outcomes === undefined ? base : { ...base, outcomes: verdict.outcomes };
}

function weightOf({ told }: TwoWriters): number {
  return Math.max(
    ...told.map(({ verdict, outcomes }) => {
      if (verdict === 'rejected') return 4;
      const kinds = Object.values(outcomes ?? {});
      if (kinds.some(({ kind }) => kind === 'contested' || kind === 'superseded' || kind === 'evicted')) return 3;
      if (kinds.some((outcome) => outcome.kind === 'merged' && outcome.over !== undefined)) return 2;
      return kinds.length > 0 ? 0 : 1;
    }),
  );
}
