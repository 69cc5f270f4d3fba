import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test, vi } from 'vitest';
import fc from 'fast-check';
import {
  canonical,
  contractOf,
  isJsonObject,
  patchSchemaOf,
  stateFromContract,
  stateJson,
  strictStateSchemaOf,
  strictSubset,
  strictValue,
} from '@oplus/core';
import type { ContractCode, FieldKind, Json, JsonObject, StateSchema } from '@oplus/core';
import { histories, play, runsOf, SAMPLE_STATES, sampleState, sha256 } from '@oplus/core/testing';

vi.setConfig({ testTimeout: 3_600_000 });

const numbers = Array.from({ length: SAMPLE_STATES }, (_, number) => number);

/** The code of a sample: the checks of its rules and the functions of its reducers. */
function codeOf(schema: StateSchema): ContractCode {
  const checks = Object.fromEntries([...schema.rules, ...schema.protections.values()].map((rule) => [rule.name, rule.check]));
  return { checks };
}

/** Sample states without functions: what a contract holds whole. */
const whole = numbers.filter((number) => !canonical(contractOf(sampleState(number).schema)).includes('"kind":"reduce"'));

/** Every place in a value, as what holds it and its key there. */
function placesIn(value: unknown): readonly (readonly [{ [key: string]: unknown }, string])[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as { [key: string]: unknown };
  return Object.keys(holder).flatMap((key) => [[holder, key] as const, ...placesIn(holder[key])]);
}

function readBack(schema: StateSchema): StateSchema {
  return stateFromContract(JSON.parse(canonical(contractOf(schema))) as Json, sha256, codeOf(schema));
}

/** Values that have no place in a contract, or another one; `undefined` takes away what stands there. */
const TEXTS: readonly Json[] = ['', 'x', '__proto__', 'constructor', '[', '^(a+)+$'];
const PARTS: readonly Json[] = [[], [null], {}, { a: null }, { type: 'string' }, JSON.parse('{"__proto__":{"x":1}}') as Json];
const ODD: readonly (Json | undefined)[] = [undefined, null, true, -1, 2.5, 5_000_000_000, ...TEXTS, ...PARTS];

describe('contracts', () => {
  test('[XCT1] every state is of the schema that its contract gives', () => {
    const ajv = new Ajv2020({ strict: false });
    const checks = new Map(numbers.map(sampleState).map(({ schema }) => [schema, ajv.compile(contractOf(schema))]));
    fc.assert(
      fc.property(histories(), (history) => {
        const played = play(history);
        const check = checks.get(played.state.schema);
        for (const space of played.spaces)
          if (check?.(stateJson(space)) !== true)
            throw new Error(`${JSON.stringify(check?.errors)}\n${canonical(stateJson(space))}`);
      }),
      { numRuns: runsOf(1000) },
    );
  });

  test('[XCT2] a contract reads back to the same definition, digest and all', () => {
    expect(whole.length).toBeGreaterThan(60);
    for (const number of whole) {
      const { schema } = sampleState(number);
      const again = readBack(schema);
      expect(again.digest).toBe(schema.digest);
      expect(contractOf(again)).toEqual(contractOf(schema));
      expect(again.bytesMax).toBe(schema.bytesMax);
    }
  });

  test('[XCT3] what was read back seals the same bytes, refusals in the same words', () => {
    fc.assert(
      fc.property(histories(fc.constantFrom(...whole)), (history) => {
        const { state } = play(history);
        const again = { ...state, schema: readBack(state.schema) };
        const texts = (played: ReturnType<typeof play>): readonly string[] => played.rounds.map(({ sealed }) => sealed.text);
        expect(texts(play(history, again))).toEqual(texts(play(history, state)));
      }),
      { numRuns: runsOf(300) },
    );
  });

  test('[XCT4] what is code is named where it is missing', () => {
    const guarded = numbers.map(sampleState).find(({ hasGauge }) => hasGauge) as ReturnType<typeof sampleState>;
    expect(() => stateFromContract(contractOf(guarded.schema), sha256)).toThrow(/the check of gauge\w+ is code/);
    const reducing = numbers.map((number) => sampleState(number).schema).find((schema) => schema.kinds[0]?.name === 'reduce');
    expect(reducing).toBeDefined();
    expect(() => stateFromContract(contractOf(reducing as StateSchema), sha256)).toThrow(/the function of f is code/);
  });

  test('[XCT5] a contract that was changed, or that is none, does not load', () => {
    const contract = contractOf(sampleState(8).schema) as { readonly [key: string]: JsonObject };
    const bad: readonly Json[] = [
      null,
      [],
      {},
      { ...contract, properties: { f: {} } },
      { ...contract, properties: { f: { 'x-merge': { kind: 'constructor' } } } },
      { ...contract, properties: { f: { 'x-merge': { kind: 'set', cap: 9, of: { type: 'string', maxLength: 3 } } } } },
      { ...contract, properties: { f: { 'x-merge': { kind: 'set', of: { type: 'string' } } } } },
      { ...contract, 'x-state': { ...contract['x-state'], version: 2 } },
    ];
    for (const one of bad)
      expect(() => stateFromContract(one, sha256)).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }) as Error);
  });

  test('[XCT5] whatever stands in one place of it, it loads as what it was or is refused as no contract', () => {
    fc.assert(
      fc.property(fc.constantFrom(...whole), fc.nat(), fc.constantFrom(...ODD), (number, place, value) => {
        const { schema } = sampleState(number);
        const contract = JSON.parse(canonical(contractOf(schema))) as { [key: string]: unknown };
        const places = placesIn(contract);
        const [holder, key] = places[place % places.length] as (typeof places)[number];
        if (value === undefined) delete holder[key];
        else holder[key] = value;
        try {
          expect(stateFromContract(contract as JsonObject, sha256, codeOf(schema)).digest).toBe(schema.digest);
        } catch (error) {
          expect(error).toMatchObject({ code: 'SCHEMA_INVALID' });
        }
      }),
      { numRuns: runsOf(3000) },
    );
  });
});

describe('the strict subset', () => {
  test('[STS1] patches and states of every kind are in it: closed objects, every key required', () => {
    for (const number of numbers) {
      const { schema } = sampleState(number);
      for (const one of [patchSchemaOf(schema), strictStateSchemaOf(schema)]) expect(looseIn(one)).toEqual([]);
    }
  });

  test('[STS2] every state in its strict form is of the strict schema', () => {
    const ajv = new Ajv2020({ strict: false });
    const checks = new Map(numbers.map(sampleState).map(({ schema }) => [schema, ajv.compile(strictStateSchemaOf(schema))]));
    fc.assert(
      fc.property(histories(), (history) => {
        const { spaces, state } = play(history);
        for (const space of spaces) {
          const json = stateJson(space);
          const strict = Object.fromEntries(
            state.schema.kinds.map((kind, i) => {
              const name = state.schema.names[i] as string;
              return [name, strictValue(kind.valueSchema(), json[name] as Json)];
            }),
          );
          const check = checks.get(state.schema);
          if (check?.(strict) !== true) throw new Error(`${JSON.stringify(check?.errors)}\n${canonical(strict)}`);
        }
      }),
      { numRuns: runsOf(1000) },
    );
  });

  test('[STS3] what a kind asks of a model in the strict subset, it reads', () => {
    const ajv = new Ajv2020({ strict: false });
    for (const number of numbers) {
      for (const kind of sampleState(number).schema.kinds) {
        const check = ajv.compile(strictSubset(kind.modelSchema()));
        for (const sample of kind.samples()) {
          const op = kind.read(sample, '', () => undefined);
          expect(op).toBeDefined();
          expect(roundTrip(kind, sample, check)).toEqual(kind.write(op));
        }
      }
    }
  });
});

/** A patch as a model would have to write it, read back; fails when the schema does not take it. */
function roundTrip(kind: FieldKind, sample: Json, check: (value: unknown) => boolean): Json {
  const strict = asStrict(kind.modelSchema(), sample);
  if (!check(strict)) throw new Error(`${kind.name}: ${canonical(strict)} is not of its own schema`);
  const op = kind.read(kind.fromModel(strict), '', (path, { hint }) => {
    throw new Error(`${kind.name} ${path}: ${hint}`);
  });
  return kind.write(op);
}

/** The sample in the strict form: absent keys null, keyed verbs as lists, wrapped values wrapped. */
function asStrict(schema: Json, value: Json): Json {
  if (!isJsonObject(schema)) return value;
  const choices = schema['anyOf'] as readonly Json[] | undefined;
  if (choices !== undefined) {
    const fitting = choices.find((choice) => isJsonObject(choice) && fits(choice, value));
    const wrapping = choices.find(
      (choice) => isJsonObject(choice) && Object.hasOwn((choice['properties'] ?? {}) as JsonObject, 'value'),
    );
    return asStrict((value === null ? (wrapping ?? fitting) : (fitting ?? wrapping)) ?? (choices[0] as Json), value);
  }
  const { properties, items } = schema;
  if (schema['type'] === 'array' && !Array.isArray(value)) {
    const isKeyed = Object.hasOwn(((items as JsonObject)['properties'] ?? {}) as JsonObject, 'key') && isJsonObject(value);
    const list = isKeyed ? Object.entries(value).map(([key, change]): Json => ({ key, change })) : [value];
    return list.map((item) => asStrict(items as Json, item));
  }
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => asStrict(items ?? {}, item));
  if (!isJsonObject(properties ?? null)) return value;
  const given: JsonObject = isJsonObject(value) ? value : value === true ? {} : { value };
  return Object.fromEntries(
    Object.entries(properties as JsonObject).map(([key, below]) => [
      key,
      Object.hasOwn(given, key) ? asStrict(below, given[key] as Json) : null,
    ]),
  );
}

function fits(schema: JsonObject, value: Json): boolean {
  switch (schema['type']) {
    case 'null':
      return value === null;
    case 'array':
      return typeof value === 'object' && value !== null;
    case 'object':
      return isJsonObject(value) || value === true;
    default:
      return typeof value !== 'object';
  }
}

/** Paths of objects that are open, or whose keys are not all required. */
function looseIn(schema: Json, path: string = ''): readonly string[] {
  if (Array.isArray(schema)) return (schema as readonly Json[]).flatMap((one, i) => looseIn(one, `${path}/${i}`));
  if (!isJsonObject(schema)) return [];
  const below = Object.entries(schema).flatMap(([key, one]) => looseIn(one, `${path}/${key}`));
  if (schema['type'] !== 'object') return below;
  const keys = Object.keys((schema['properties'] ?? {}) as JsonObject);
  const isStrict = schema['additionalProperties'] === false && canonical((schema['required'] ?? []) as Json) === canonical(keys);
  return isStrict ? below : [path, ...below];
}
