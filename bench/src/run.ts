/**
 * `npm run bench`: reads the options, runs the matrix, prints a table or one JSON document.
 *
 * Exit codes: 0 measured, 1 a cell failed, 2 wrong use.
 */
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';

import { OplusError } from '@oplus/core';

import type { Contender, Views } from './contender.ts';
import { CONTENDERS } from './contenders/registry.ts';
import type { MatrixPlan } from './matrix.ts';
import { runMatrix } from './matrix.ts';
import { exitCodeOf, readOptions, wholeOption } from './options.ts';
import { rowsOf, tableOf } from './report.ts';

const HELP = `npm run bench -- [options]

  --only <names>      contenders, separated by commas (all)
  --writers <counts>  numbers of writers, separated by commas (1,4,16,64; with --think 16)
  --seconds <n>       measured time of a cell in one round (3; with --think 10)
  --rounds <n>        rounds over the whole matrix (2; with --think 1)
  --think <ms>        each writer thinks 0 to so many ms between reading and proposing (0)
  --views <way>       own: each writer follows by itself; shared: one follower for all (own)
  --baseline <name>   contender that the ratios stand beside (redis-lua)
  --seed <n>          seed of the workload (1)
  --dir <folder>      where temporary files go (the system's temporary folder)
  --json              one JSON document instead of tables
  --list              the contenders, and what is missing to measure them
  --help              this text
`;

const WARMUP_MS = 1_000;

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
const OPTIONS = {
  only: TEXT,
  writers: TEXT,
  seconds: TEXT,
  rounds: TEXT,
  think: TEXT,
  views: TEXT,
  baseline: TEXT,
  seed: TEXT,
  dir: TEXT,
  json: FLAG,
  list: FLAG,
  help: FLAG,
} as const;

process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
process.exitCode = await exitCodeOf(() => {
  const options = parse(process.argv.slice(2));
  if (options === 'help') return say(HELP.trimEnd());
  if (options === 'list') return say(CONTENDERS.map(describe).join('\n'));
  return run(options);
}, 'npm run bench -- --help');

type Options = { readonly plan: MatrixPlan; readonly baseline: string; readonly isJson: boolean };

async function run({ plan, baseline, isJson }: Options): Promise<number> {
  const missing = plan.contenders.flatMap((contender) => {
    const install = contender.missing();
    return install === undefined ? [] : [{ contender: contender.name, install }];
  });
  const contenders = plan.contenders.filter((contender) => contender.missing() === undefined);
  const loadBefore = Number(loadavg()[0]?.toFixed(2));
  const onCell = (text: string): void => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
  };
  const cells = await runMatrix({ ...plan, contenders }, onCell);
  onCell('');
  const rows = rowsOf(cells, baseline);
  const failed = cells.flatMap(({ contender, writerCount, failures }) =>
    failures.map((why) => ({ contender: contender.name, writers: writerCount, why })),
  );
  const conditions = {
    views: plan.views,
    rounds: plan.roundCount,
    secondsPerRound: plan.measuredMs / 1000,
    warmupSeconds: WARMUP_MS / 1000,
    thinkMsMax: plan.thinkMsMax,
    seed: plan.seed,
    node: process.version,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    /** Processes that wanted a core in the minute before: the bench's own load is not yet in it. */
    loadBefore,
  };
  if (isJson)
    say(JSON.stringify({ ok: failed.length === 0, conditions, baseline, rows, notMeasured: missing, failed }, undefined, 2));
  else {
    say(
      Object.entries(conditions)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
    );
    say(`\n${tableOf(rows, baseline)}\n`);
    for (const { contender, install } of missing) say(`${contender}: not measured, install ${install}`);
    for (const { contender, writers, why } of failed) say(`${contender}, ${writers} writers: failed, ${why}`);
  }
  return failed.length === 0 ? 0 : 1;
}

function parse(args: readonly string[]): Options | 'help' | 'list' {
  const values = readOptions(args, OPTIONS);
  if (values.help) return 'help';
  if (values.list) return 'list';
  const thinkMsMax = integer('think', values.think ?? '0', 0);
  const isThinking = thinkMsMax > 0;
  const baseline = values.baseline ?? 'redis-lua';
  named(baseline);
  const plan: MatrixPlan = {
    contenders: values.only === undefined ? CONTENDERS : values.only.split(',').map(named),
    writerCounts: (values.writers ?? (isThinking ? '16' : '1,4,16,64')).split(',').map((text) => integer('writers', text, 1)),
    views: viewsOf(values.views ?? 'own'),
    roundCount: integer('rounds', values.rounds ?? (isThinking ? '1' : '2'), 1),
    seed: integer('seed', values.seed ?? '1', 0),
    warmupMs: WARMUP_MS,
    measuredMs: integer('seconds', values.seconds ?? (isThinking ? '10' : '3'), 1) * 1000,
    thinkMsMax,
    directory: values.dir ?? tmpdir(),
  };
  return { plan, baseline, isJson: values.json ?? false };
}

function named(name: string): Contender {
  const contender = CONTENDERS.find((candidate) => candidate.name === name);
  if (contender === undefined) {
    throw new OplusError('USAGE', `no contender ${name}`, {
      hint: `There are ${CONTENDERS.map((known) => known.name).join(', ')}.`,
    });
  }
  return contender;
}

function viewsOf(text: string): Views {
  if (text === 'own' || text === 'shared') return text;
  throw new OplusError('USAGE', `--views ${text} is neither own nor shared`);
}

function integer(option: string, text: string, lowest: number): number {
  return wholeOption(option, text, { lowest, highest: 1_000_000 });
}

function describe(contender: Contender): string {
  const install = contender.missing();
  return `${contender.name.padEnd(22)} ${contender.description}${install === undefined ? '' : ` [missing: ${install}]`}`;
}

function say(text: string): 0 {
  process.stdout.write(`${text}\n`);
  return 0;
}
