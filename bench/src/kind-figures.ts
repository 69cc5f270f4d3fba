/**
 * `npm run bench:kinds`: what the field kinds cost. Three parts, printed as Markdown or as one JSON document:
 * operations a second beside Yjs and Automerge, the cost of a seal by the size of its field, and whether a state with a field
 * of every kind stops growing under many agents.
 *
 * Exit codes: 0 measured, 2 wrong use.
 */
import { availableParallelism, cpus, loadavg } from 'node:os';

import { OplusError } from '@oplus/core';

import { collectGarbage, heapMb } from './instruments.ts';
import { sizesPage, soakPage, speedPage } from './kinds/pages.ts';
import { COLLECTIONS, measureSizes, SIZES } from './kinds/sizes.ts';
import { runSoak } from './kinds/soak.ts';
import { measureSpeed } from './kinds/speed.ts';
import { WORKS } from './kinds/work.ts';
import { exitCodeOf, readOptions, wholeOption } from './options.ts';

const HELP = `npm run bench:kinds -- [options]

  --parts <names>    speed, sizes, soak; separated by commas (all)
  --steps <n>        operations of a row of the speed table (10000)
  --seals <n>        measured seals at each size (500)
  --largest <bytes>  largest state of the sizes (1000000)
  --repeats <n>      repetitions of speed and sizes (5)
  --agents <n>       agents of the soak (1000)
  --commits <n>      commits of the soak, up to 10000000 (10000)
  --json             one JSON document instead of tables
  --help             this text
`;

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
const OPTIONS = {
  parts: TEXT,
  steps: TEXT,
  seals: TEXT,
  largest: TEXT,
  repeats: TEXT,
  agents: TEXT,
  commits: TEXT,
  json: FLAG,
  help: FLAG,
} as const;
const PARTS: readonly string[] = ['speed', 'sizes', 'soak'];

process.exitCode = await exitCodeOf(main, 'npm run bench:kinds -- --help');

function main(): number {
  const values = readOptions(process.argv.slice(2), OPTIONS);
  if (values.help === true) return say(HELP.trimEnd());
  const parts = (values.parts ?? PARTS.join(',')).split(',');
  const stranger = parts.find((part) => !PARTS.includes(part));
  if (stranger !== undefined)
    throw new OplusError('USAGE', `no part ${stranger}`, { hint: `The parts are ${PARTS.join(', ')}.` });
  const steps = wholeOption('steps', values.steps ?? '10000', { lowest: 1, highest: 100_000 });
  const seals = wholeOption('seals', values.seals ?? '500', { lowest: 1, highest: 100_000 });
  const largest = wholeOption('largest', values.largest ?? '1000000', { lowest: 1_000, highest: 1_000_000 });
  const repeats = wholeOption('repeats', values.repeats ?? '5', { lowest: 1, highest: 100 });
  const agents = wholeOption('agents', values.agents ?? '1000', { lowest: 1, highest: 10_000 });
  const commits = wholeOption('commits', values.commits ?? '10000', { lowest: 10, highest: 10_000_000 });

  const loadBefore = load();
  const speed = parts.includes('speed') ? measureSpeed(WORKS, { steps, repeats, collect: collectGarbage }) : undefined;
  const sizes = parts.includes('sizes')
    ? measureSizes(COLLECTIONS, { sizes: SIZES.filter((size) => size <= largest), seals, repeats, collect: collectGarbage })
    : undefined;
  const soak = parts.includes('soak') ? runSoak({ agents, commits, seed: 1, heapMb }) : undefined;
  const conditions = {
    steps,
    seals,
    repeats,
    agents,
    commits,
    node: process.version,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    /** Processes that wanted a core in the minute before, and in the last minute of the run, which is one of them. */
    loadBefore,
    loadAfter: load(),
  };
  if (values.json === true) return say(JSON.stringify({ ok: true, conditions, speed, sizes, soak }, undefined, 2));
  const told = Object.entries(conditions).map(([name, value]) => `${name}=${value}`);
  const pages = [
    told.join(' '),
    ...(speed === undefined ? [] : [speedPage(speed, steps)]),
    ...(sizes === undefined ? [] : [sizesPage(sizes)]),
    ...(soak === undefined ? [] : [soakPage(soak, agents)]),
  ];
  return say(pages.join('\n\n'));
}

function load(): number {
  return Number(loadavg()[0]?.toFixed(2));
}

function say(text: string): 0 {
  process.stdout.write(`${text}\n`);
  return 0;
}
