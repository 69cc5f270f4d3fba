/**
 * The `oplus` command: reads the arguments, calls one command, gives the exit code.
 */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { OplusError } from '@oplus/core';
import { doctorCommand } from './commands/doctor.ts';
import { logCommand } from './commands/log.ts';
import { replayCommand } from './commands/replay.ts';
import { runCommand } from './commands/run.ts';
import type { RunCommandOptions } from './commands/run.ts';
import { diffCommand, showCommand } from './commands/show.ts';
import { fail } from './failure.ts';
import { openTerminal } from './terminal.ts';
import type { Terminal } from './terminal.ts';

const VERSION = '0.1.0';

/** Runs one command. `args` are without the names of program and script. Gives the exit code; never throws. */
export async function main(args: readonly string[]): Promise<number> {
  const { stdout, stderr, env } = process;
  const isDebug = args.includes('--debug');
  const terminal = openTerminal({ stdout, stderr }, { isJson: args.includes('--json'), isColourOff: args.includes('--no-color'), env });
  // A reader that has seen enough, such as head, is no failure.
  stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 5));
  const stopping = stopOnSignals(terminal);
  let exitCode = 0;
  const program = programOf(async (command) => {
    exitCode = await command(terminal, stopping.signal);
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return stopping.exitCode() ?? exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      return fail(terminal, stderr, new OplusError('USAGE', error.message.replace(/^error: /, ''), { hint: 'See: oplus --help' }), isDebug);
    }
    const code = fail(terminal, stderr, error, isDebug);
    return stopping.exitCode() ?? code;
  } finally {
    stopping.end();
  }
}

type Run = (command: (terminal: Terminal, signal: AbortSignal) => Promise<number>) => Promise<void>;

function programOf(run: Run): Command {
  const program = new Command('oplus')
    .description('The merge operator for teams of agents: one shared, bounded, versioned state.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .showSuggestionAfterError();

  add(program, 'run <skill>', 'run a team on a skill')
    .option('--agents <n>', 'how many agents', count('agents', 1, 64), 4)
    .option('--steps <n>', 'how many events, over the whole team', count('steps', 1, 1_000_000), 100)
    .option('--seed <n>', 'seed of the task', count('seed', 0, Number.MAX_SAFE_INTEGER), 42)
    .addOption(new Option('--routing <how>', 'who gets which event').choices(['disjoint', 'zones', 'shared']).default('shared'))
    .addOption(new Option('--log <where>', 'where the log lives').choices(['memory', 'sqlite', 'nats']).default('sqlite'))
    .option('--nats-url <url>', 'a running server; without it one is started (with --log nats)')
    .option('--dir <folder>', 'folder of the run (runs/<name>)')
    .option('--barrier', 'move in rounds: the same seed gives the same log, byte for byte', false)
    .option('--model <name>', 'scripted, or openai:<name>', 'scripted')
    .action((skill: string, options: RunCommandOptions) => run((terminal, signal) => runCommand(terminal, skill, checked(options), signal)));

  add(program, 'replay [dir]', 'fold the log of a run again and compare digests (the newest run)').action((dir: string | undefined) =>
    run((terminal) => replayCommand(terminal, dir)),
  );

  add(program, 'log [dir]', 'who proposed what, and what came of it')
    .option('--agent <name>', 'only this agent')
    .option('--rejected', 'only what was rejected')
    .option('--path <pointer>', 'only what touches this field or key')
    .action((dir: string | undefined, options: { agent?: string; rejected?: boolean; path?: string }) => run((terminal) => logCommand(terminal, dir, options)));

  add(program, 'show [dir]', 'the state of a run')
    .option('--at <revision>', 'at this revision (the newest)')
    .option('--path <pointer>', 'only this part')
    .action((dir: string | undefined, options: { at?: string; path?: string }) => run((terminal) => showCommand(terminal, dir, options)));

  add(program, 'diff <from> [to]', 'what changed between two revisions of a run')
    .option('--dir <folder>', 'folder of the run (the newest)')
    .action((from: string, to: string | undefined, options: { dir?: string }) => run((terminal) => diffCommand(terminal, options.dir, from, to)));

  add(program, 'doctor', 'what this machine has, what it lacks, and what to do about it')
    .option('--nats-url <url>', 'look at this server instead of starting one')
    .option('--dir <folder>', 'where runs would be written', '.')
    .action((options: { natsUrl?: string; dir: string }) => run((terminal) => doctorCommand(terminal, options)));

  return program;
}

/** A command with the options that every command has. */
function add(program: Command, name: string, description: string): Command {
  return program
    .command(name)
    .description(description)
    .option('--json', 'one JSON document on stdout (JSON lines for log)')
    .option('--no-color', 'no colours')
    .option('--debug', 'stack traces')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .showSuggestionAfterError();
}

function checked(options: RunCommandOptions): RunCommandOptions {
  if (options.natsUrl !== undefined && options.log !== 'nats') {
    throw new OplusError('USAGE', '--nats-url goes with --log nats', { hint: 'Add --log nats, or leave --nats-url out.' });
  }
  return options;
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

type Stopping = { readonly signal: AbortSignal; exitCode(): number | undefined; end(): void };

/** The first Ctrl-C lets the work in hand end, the second ends at once. */
function stopOnSignals(terminal: Terminal): Stopping {
  const controller = new AbortController();
  let code: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    const next = signal === 'SIGINT' ? 130 : 143;
    if (code !== undefined) process.exit(next);
    code = next;
    terminal.progressEnd();
    if (!terminal.isJson) process.stderr.write('stopping after the work in hand; again to stop at once\n');
    controller.abort(new OplusError('TRANSPORT_CLOSED', 'stopped by a signal'));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return {
    signal: controller.signal,
    exitCode: () => code,
    end: () => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
}
