/**
 * The words of the command line: commands, options and their values, and what is said to a word that is none.
 *
 * A command is loaded when it is called: help and mistyped words need not wait for the client of a broker.
 */
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { nearestWord } from '@oplus/agent';
import { OplusError } from '@oplus/core';
import type { DoctorOptions } from './commands/doctor.ts';
import type { LogOptions } from './commands/log.ts';
import type { ShowOptions } from './commands/show.ts';
import type { WhatIfOptions } from './commands/what-if.ts';
import type { HistoryOptions } from './history.ts';
import type { RunOptions } from './run-setup.ts';
import type { Signals } from './signals.ts';
import type { Terminal } from './terminal.ts';

/** Options that every command takes, before or after its name. */
export type Flags = { readonly isJson: boolean; readonly isDebug: boolean; readonly isColourOff: boolean };

/** Takes the flags out of the arguments, up to `--`. */
export function readFlags(args: readonly string[]): Flags & { readonly rest: readonly string[] } {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const said = args.slice(0, end);
  return {
    isJson: said.includes('--json'),
    isDebug: said.includes('--debug'),
    isColourOff: said.includes('--no-color'),
    rest: [...said.filter((word) => !Object.hasOwn(FLAGS, word)), ...args.slice(end)],
  };
}

/** Runs the command that the arguments (without flags) name. Gives its exit code. Throws `USAGE` for words that are none, and what the command throws. */
export async function runProgram(args: readonly string[], terminal: Terminal, signals: Signals): Promise<number> {
  let exitCode = 0;
  const program = programOf(terminal, signals, (code) => {
    exitCode = code;
  });
  if (args.length === 0) {
    if (terminal.isJson) throw new OplusError('USAGE', 'no command was given', { hint: 'See: oplus --help' });
    program.outputHelp();
    return 0;
  }
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    throw usage(error, program, args);
  }
}

const VERSION = '0.1.0';
const LOGS: readonly RunOptions['log'][] = ['memory', 'sqlite', 'nats'];

const FLAGS: { readonly [flag: string]: string } = {
  '--json': 'one JSON document on stdout (JSON lines for log)',
  '--no-color': 'no colours',
  '--debug': 'stack traces',
};

function programOf(terminal: Terminal, signals: Signals, done: (exitCode: number) => void): Command {
  const program = withFlags(new Command('oplus'))
    .description('The merge operator for teams of agents: one shared, bounded, versioned state.')
    .version(VERSION, '-V, --version', 'the version')
    .helpOption('-h, --help', 'this help')
    .helpCommand('help [command]', 'help on a command')
    .addHelpText('after', AFTER_HELP);

  add(program, 'run <skill>', 'run a team on a skill')
    .option('--agents <n>', 'how many agents', count('agents', 1, 64), 4)
    .option('--steps <n>', 'how many events, over the whole team', count('steps', 1, 1_000_000), 100)
    .option('--seed <n>', 'seed of the task', count('seed', 0, Number.MAX_SAFE_INTEGER), 42)
    .option('--routing <how>', 'who gets which event, in a word of the skill: disjoint, zones, shared', 'shared')
    .option('--log <where>', `where the log lives: ${LOGS.join(', ')}`, oneOf('log', LOGS), 'sqlite')
    .option('--nats-url <url>', 'a running server; else OPLUS_NATS_URL, else one is started (with --log nats)')
    .option('--dir <folder>', 'folder of the run (default: a new one in runs/)')
    .option('--barrier', 'move in rounds: the same seed gives the same log, byte for byte')
    .option('--model <name>', 'scripted, or openai:<name> (with OPENAI_API_KEY or OPENAI_BASE_URL)', 'scripted')
    .addHelpText('after', '\nExample:\n  oplus run warehouse --agents 8 --steps 200 --log nats --json')
    .action(async (skill: string, options: RunOptions) => {
      const { runCommand } = await import('./commands/run.ts');
      done(await runCommand(terminal, skill, options, signals.drain()));
    });

  addReading(program, 'replay [dir]', 'fold the log of a run again and compare digests').action(
    async (dir: string | undefined, options: HistoryOptions) => {
      const { replayCommand } = await import('./commands/replay.ts');
      done(await replayCommand(terminal, dir, options));
    },
  );

  addReading(program, 'log [dir]', 'who proposed what, and what came of it')
    .option('--agent <name>', 'only this agent')
    .option('--rejected', 'only what was rejected')
    .option('--path <pointer>', 'only what touches this field or key, such as /shelves/S001')
    .action(async (dir: string | undefined, options: LogOptions) => {
      const { logCommand } = await import('./commands/log.ts');
      done(await logCommand(terminal, dir, options));
    });

  addReading(program, 'show [dir]', 'the state of a run')
    .option('--at <revision>', 'at this revision (the newest)')
    .option('--path <pointer>', 'only this part, such as /shelves/S001')
    .action(async (dir: string | undefined, options: ShowOptions) => {
      const { showCommand } = await import('./commands/show.ts');
      done(await showCommand(terminal, dir, options));
    });

  addReading(program, 'diff <from> [to]', 'what changed between two revisions of a run')
    .option('--dir <folder>', 'folder of the run (the newest)')
    .action(async (from: string, to: string | undefined, options: HistoryOptions & { readonly dir?: string }) => {
      const { diffCommand } = await import('./commands/show.ts');
      done(await diffCommand(terminal, options.dir, { ...options, from, ...(to === undefined ? {} : { to }) }));
    });

  addReading(program, 'what-if [dir]', 'the log of a run under altered rules: which verdicts would be others')
    .option('--field <path=kind>', 'another kind, or options as JSON, at a path of schema explain; may be repeated', list, [])
    .option('--definition <file>', 'an altered definition: a skill, or a module that exports it')
    .addHelpText('after', "\nExample:\n  oplus what-if --field '/shelves/*=lww'")
    .action(async (dir: string | undefined, options: WhatIfOptions) => {
      const { whatIfCommand } = await import('./commands/what-if.ts');
      done(await whatIfCommand(terminal, dir, options));
    });

  const schema = add(program, 'schema', 'what a state definition means, and whether it is sound');
  add(schema, 'explain <skill>', 'every field: kind, cap, grade and why, verbs, two writers at once')
    .option('--path <pointer>', 'only this field and what is below it, such as /shelves')
    .addHelpText('after', DEFINITION_HELP)
    .action(async (name: string, options: { readonly path?: string }) => {
      const { explainCommand } = await import('./commands/schema.ts');
      done(await explainCommand(terminal, name, options));
    });
  add(schema, 'check <skill>', 'load it, and search each invariant for two patches that break it together')
    .option('--states <n>', 'how many states to try each invariant on', count('states', 1, 100_000), 200)
    .addHelpText('after', DEFINITION_HELP)
    .action(async (name: string, options: { readonly states: number }) => {
      const { checkCommand } = await import('./commands/schema.ts');
      done(await checkCommand(terminal, name, options));
    });
  add(schema, 'json <skill>', 'its contract: JSON Schema of the state with the merge rule of every field')
    .option('--patch', 'JSON Schema of a patch instead, in the strict subset of model servers')
    .option('--role <name>', 'only what this role may write (with --patch)')
    .addHelpText('after', DEFINITION_HELP)
    .action(async (name: string, options: { readonly patch?: boolean; readonly role?: string }) => {
      const { contractCommand } = await import('./commands/schema.ts');
      done(await contractCommand(terminal, name, options));
    });

  add(program, 'lint <file>', 'try the laws of merging on the reducers that a module exports')
    .addHelpText('after', '\nThe module is loaded and run.\n\nExample:\n  oplus lint src/state.ts')
    .action(async (file: string) => {
      const { lintCommand } = await import('./commands/lint.ts');
      done(await lintCommand(terminal, file));
    });

  add(program, 'doctor', 'what this machine has, what it lacks, and what to do about it')
    .option('--nats-url <url>', 'look at this server instead of starting one')
    .option('--dir <folder>', 'where runs would be written', '.')
    .action(async (options: DoctorOptions) => {
      signals.drain();
      const { doctorCommand } = await import('./commands/doctor.ts');
      done(await doctorCommand(terminal, options));
    });

  return program;
}

const AFTER_HELP = `
[dir] is the folder of a run; without it, the newest in runs/.
Exit codes: 0 ok, 1 a finding, 2 usage, 3 configuration or stored data, 4 something cannot be reached, 5 a mistake of ours,
130 after Ctrl-C, 143 after SIGTERM.

First steps:
  oplus run warehouse     four agents on one inventory, with a scripted model
  oplus log               what they proposed, and what came of it
  oplus doctor            what is missing for a broker or a model`;

const DEFINITION_HELP = `
<skill> is a shipped skill, a module that exports a state definition, or a contract (.json). A module is loaded and run.`;

function withFlags(command: Command): Command {
  for (const [flag, text] of Object.entries(FLAGS)) command.option(flag, text);
  return command
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .showSuggestionAfterError();
}

function add(program: Command, name: string, description: string): Command {
  return withFlags(program.command(name).description(description).helpOption('-h, --help', 'this help'));
}

function addReading(program: Command, name: string, description: string): Command {
  return add(program, name, description).option('--nats-url <url>', 'the server that holds the log of a run that has not ended');
}

/** What commander says in one line, its suggestion or a way to the help as the hint. */
function usage(error: CommanderError, program: Command, [first, second]: readonly string[]): OplusError {
  const names = program.commands.map((command) => command.name());
  if (first === 'help' && second !== undefined) return unknownCommand(second, names);
  const [line, suggestion] = error.message.replace(/^error: /, '').split('\n');
  const hint =
    suggestion?.replace(/^\((.*)\)$/, '$1') ?? `See: oplus ${names.includes(first ?? '') ? `help ${first}` : '--help'}`;
  return new OplusError('USAGE', line ?? 'that is no command', { hint });
}

/** `help` with a word that is none: commander prints its help and says nothing. */
function unknownCommand(word: string, names: readonly string[]): OplusError {
  const near = nearestWord(word, names);
  return new OplusError('USAGE', `unknown command '${word.slice(0, 64)}'`, {
    hint: near === undefined ? `The commands are ${names.join(', ')}.` : `Did you mean ${near}?`,
  });
}

function count(name: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value) || value < min || value > max) {
      throw new InvalidArgumentError(`${name} is a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

function list(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}

function oneOf<T extends string>(name: string, words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((one) => one === text);
    if (word !== undefined) return word;
    const near = nearestWord(text, words);
    throw new OplusError('USAGE', `${name} is one of ${words.join(', ')}, not ${text.slice(0, 64)}`, {
      hint: near === undefined ? `Choose one of ${words.join(', ')}.` : `Did you mean --${name} ${near}?`,
    });
  };
}
