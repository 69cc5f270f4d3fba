/**
 * What the command writes: data to stdout, words for people to stderr, colours and progress only where somebody looks.
 */
import type { Writable } from 'node:stream';
import pc from 'picocolors';

export type Colours = ReturnType<typeof pc.createColors>;

/** Where a command writes. `isJson`: documents on stdout, and no other data. */
export type Terminal = {
  readonly isJson: boolean;
  /** A line of data. */
  out(line: string): void;
  /** A line for people, on stderr. */
  note(line: string): void;
  /** The one document of `--json`, or the next line of a command that streams. */
  json(document: unknown): void;
  /** Replaces the progress line, at most every `PROGRESS_MS`; nothing when stderr is no terminal, in CI or with `--json`. */
  progress(line: string): void;
  /** Removes the progress line. */
  progressEnd(): void;
  /** For data. */
  readonly colour: Colours;
  /** For notes. */
  readonly noteColour: Colours;
};

type Stream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export type TerminalOptions = {
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly env: NodeJS.ProcessEnv;
  readonly isJson: boolean;
  readonly isColourOff: boolean;
};

/** How often the progress line may change, in milliseconds. */
export const PROGRESS_MS = 50;

/** Looks at each stream on its own. */
export function openTerminal({ stdout, stderr, env, isJson, isColourOff }: TerminalOptions): Terminal {
  const isDumb = env['TERM'] === 'dumb';
  const isLive = stderr.isTTY === true && !isSaid(env['CI']) && !isDumb && !isJson;
  const coloursOf = (stream: Stream): Colours => {
    const isOff = isColourOff || (env['NO_COLOR'] ?? '') !== '' || isDumb;
    return pc.createColors(!isOff && (stream.isTTY === true || isSaid(env['FORCE_COLOR'])));
  };
  let hasProgress = false;
  let progressAtMs = Number.NEGATIVE_INFINITY;
  const clear = (): void => {
    if (hasProgress) stderr.write('\r\u001b[2K');
    hasProgress = false;
  };
  const out = (line: string): void => {
    clear();
    stdout.write(`${line}\n`);
  };
  return {
    isJson,
    out,
    note: (line) => {
      clear();
      stderr.write(`${line}\n`);
    },
    json: (document) => out(JSON.stringify(document)),
    progress: (line) => {
      const nowMs = performance.now();
      if (!isLive || nowMs - progressAtMs < PROGRESS_MS) return;
      stderr.write(`\r\u001b[2K${line.slice(0, (stderr.columns || 80) - 1)}`);
      hasProgress = true;
      progressAtMs = nowMs;
    },
    progressEnd: clear,
    colour: coloursOf(stdout),
    noteColour: coloursOf(stderr),
  };
}

/** True for a switch in the environment that is set, and not to nothing, `0` or `false`. */
function isSaid(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false'].includes(value);
}
