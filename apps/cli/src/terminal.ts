/**
 * What the command writes: data to stdout, words for people to stderr, colours and progress only where somebody looks.
 */
import type { Writable } from 'node:stream';
import pc from 'picocolors';

/** Where a command writes. `isJson`: one document on stdout and no words. */
export type Terminal = {
  readonly isJson: boolean;
  /** A line of data. */
  out(line: string): void;
  /** A line for people. Silent with `--json`. */
  say(line: string): void;
  /** The one document of `--json`. */
  json(document: unknown): void;
  /** Replaces the progress line; nothing when stderr is no terminal, in CI or with `--json`. */
  progress(line: string): void;
  /** Removes the progress line. */
  progressEnd(): void;
  readonly colour: ReturnType<typeof pc.createColors>;
};

export type Streams = { readonly stdout: Writable & { isTTY?: boolean; columns?: number }; readonly stderr: Writable & { isTTY?: boolean; columns?: number } };

export function openTerminal(streams: Streams, given: { readonly isJson: boolean; readonly isColourOff: boolean; readonly env: NodeJS.ProcessEnv }): Terminal {
  const { stdout, stderr } = streams;
  const { isJson, env } = given;
  const isLive = stderr.isTTY === true && env['CI'] === undefined && env['TERM'] !== 'dumb' && !isJson;
  const isForced = env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '0';
  const isColoured = !given.isColourOff && env['NO_COLOR'] === undefined && env['TERM'] !== 'dumb' && (stdout.isTTY === true || isForced);
  let hasProgress = false;
  const clear = (): void => {
    if (hasProgress) stderr.write('\r\u001b[2K');
    hasProgress = false;
  };
  return {
    isJson,
    out: (line) => {
      clear();
      stdout.write(`${line}\n`);
    },
    say: (line) => {
      if (isJson) return;
      clear();
      stdout.write(`${line}\n`);
    },
    json: (document) => {
      stdout.write(`${JSON.stringify(document)}\n`);
    },
    progress: (line) => {
      if (!isLive) return;
      stderr.write(`\r\u001b[2K${line.slice(0, (stderr.columns ?? 80) - 1)}`);
      hasProgress = true;
    },
    progressEnd: clear,
    colour: pc.createColors(isColoured),
  };
}
