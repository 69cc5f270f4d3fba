import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { followSignals } from './signals.ts';
import { hasRecords, inFolder, oplus, startOplus, until } from './testing/command.ts';
import type { Ended } from './testing/command.ts';

afterEach(() => vi.restoreAllMocks());

const LONG = ['run', 'warehouse', '--steps', '9000', '--dir', 'a'];

/** Starts a long run, ends it with a signal once it has got somewhere, and gives what it said. */
async function interrupted(cwd: string, signal: NodeJS.Signals, args: readonly string[] = LONG): Promise<Ended> {
  const started = startOplus(args, { cwd });
  await until(started, () => hasRecords(join(cwd, 'a'), 25));
  started.child.kill(signal);
  return started.ended;
}

function revisionOf({ stdout }: Ended): number {
  return (JSON.parse(stdout) as { readonly revision: number }).revision;
}

describe('a run that is stopped', () => {
  test('[CLI22] by Ctrl-C it sees the work in hand through, says so, and leaves its log and no report', () =>
    inFolder(async (cwd) => {
      const { code, stdout, stderr } = await interrupted(cwd, 'SIGINT');
      expect(code).toBe(130);
      expect(stderr).toContain('stopping after the work in hand');
      expect(stdout).toContain('stopped before the end');
      expect(stdout).toMatch(/^violations +none$/m);
      expect(existsSync(join(cwd, 'a', 'report.json'))).toBe(false);
      const [log, replay] = await Promise.all([oplus(['log', 'a'], { cwd }), oplus(['replay', 'a', '--json'], { cwd })]);
      expect(log).toMatchObject({ code: 0, stderr: expect.stringContaining('this run has no report') });
      expect(log.stdout).toMatch(/w1 +leave$/m);
      expect(JSON.parse(replay.stdout)).toMatchObject({ ok: true, finished: false, reported: null, equal: null, void: 0 });
    }));

  test('[CLI22] by SIGTERM as well, in barrier mode too, and --json tells it', () =>
    inFolder(async (cwd) => {
      const { code, stdout } = await interrupted(cwd, 'SIGTERM', [...LONG, '--barrier', '--json']);
      expect(code).toBe(143);
      expect(JSON.parse(stdout)).toMatchObject({ ok: false, aborted: true, violations: 0, dir: 'a' });
    }));
});

test('[CLI23] of a run that was killed, everything committed is there, and each command says that it did not finish', () =>
  inFolder(async (cwd) => {
    const ended = await interrupted(cwd, 'SIGKILL');
    expect(ended).toMatchObject({ code: null, signal: 'SIGKILL' });
    const commands = [
      ['replay', 'a'],
      ['replay', 'a', '--json'],
      ['log', 'a', '--json'],
      ['show', 'a', '--json'],
      ['diff', '--dir', 'a', '1', '--json'],
    ] as const;
    const [replay, json, log, show, diff] = (await Promise.all(commands.map((args) => oplus(args, { cwd })))) as [
      Ended,
      Ended,
      Ended,
      Ended,
      Ended,
    ];
    expect(replay).toMatchObject({ code: 0, stdout: expect.stringContaining('the run did not finish') });
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: true, finished: false, equal: null });
    const revision = revisionOf(json);
    expect(revision).toBeGreaterThan(10);
    expect(log).toMatchObject({ code: 0, stderr: expect.stringContaining('this run has no report') });
    expect(log.stdout.trimEnd().split('\n').length).toBeGreaterThan(revision);
    expect(show).toMatchObject({ code: 0, stderr: expect.stringContaining('this run has no report') });
    expect(revisionOf(show)).toBe(revision);
    expect(diff).toMatchObject({ code: 1, stderr: expect.stringContaining('this run has no report') });
    // The folder is taken: a killed run is not begun again by mistake.
    expect((await oplus(LONG, { cwd })).code).toBe(2);
  }));

describe('signals', () => {
  /** What a signal does to the process, without ending this one. */
  function rig() {
    const before = { SIGINT: process.listeners('SIGINT'), SIGTERM: process.listeners('SIGTERM') };
    const exits: (number | undefined)[] = [];
    vi.spyOn(process, 'exit').mockImplementation(((code?: number) => {
      exits.push(code);
      throw new Error('exit');
    }) as typeof process.exit);
    let notes = 0;
    const signals = followSignals(() => {
      notes += 1;
    });
    const send = (name: 'SIGINT' | 'SIGTERM'): void => {
      for (const listener of process.listeners(name)) {
        if (before[name].includes(listener)) continue;
        try {
          (listener as (name: string) => void)(name);
        } catch {
          // The mocked exit.
        }
      }
    };
    return { signals, send, exits, notes: () => notes };
  }

  test('[CLI22] a command that has nothing to see through ends at the first signal', () => {
    const { signals, send, exits, notes } = rig();
    send('SIGINT');
    send('SIGTERM');
    expect([exits, notes()]).toEqual([[130, 143], 0]);
    signals.end();
  });

  test('[CLI22] one that has ends at the second, at once', () => {
    const { signals, send, exits, notes } = rig();
    const signal = signals.drain();
    send('SIGTERM');
    expect([signal.aborted, exits, notes(), signals.exitCode()]).toEqual([true, [], 1, 143]);
    send('SIGINT');
    expect(exits).toEqual([130]);
    signals.end();
    send('SIGINT');
    expect(exits).toEqual([130]);
  });
});
