/**
 * Ctrl-C and SIGTERM: what a command does about them, and which exit code says so.
 */
import { OplusError } from '@oplus/core';

export type Signals = {
  /** From now on the first signal aborts this instead of ending the process, so that the work in hand ends well; the second ends it. */
  drain(): AbortSignal;
  /** 130 or 143 once a signal has come. */
  exitCode(): number | undefined;
  end(): void;
};

/** Listens from now on. `onFirst` runs when a signal lets the work in hand end. */
export function followSignals(onFirst: () => void): Signals {
  const controller = new AbortController();
  let isDraining = false;
  let code: number | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    const next = signal === 'SIGINT' ? 130 : 143;
    if (!isDraining || code !== undefined) process.exit(next);
    code = next;
    onFirst();
    controller.abort(new OplusError('TRANSPORT_CLOSED', 'stopped by a signal'));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return {
    drain: () => {
      isDraining = true;
      return controller.signal;
    },
    exitCode: () => code,
    end: () => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
}
