/**
 * What has been opened and must be closed, newest first.
 */

export type Closings = {
  add(close: () => Promise<unknown>): void;
  /** Closes everything, the newest first, also when something fails on the way; then throws the first error. Idempotent. */
  close(): Promise<void>;
};

/** Adds the closing of something that was just opened, and gives it back. */
export function kept<T extends { close(): Promise<unknown> }>(opened: T, into: Closings): T {
  into.add(() => opened.close());
  return opened;
}

/** Nothing opened yet. */
export function closings(): Closings {
  const open: (() => Promise<unknown>)[] = [];
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    const errors: unknown[] = [];
    for (let close = open.pop(); close !== undefined; close = open.pop()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  };
  return {
    add: (close) => {
      open.push(close);
    },
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };
}
