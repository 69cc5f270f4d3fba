/**
 * A trace in a file, one JSON line an event, appended and never changed.
 *
 * Several agents of one process may share a sink: lines are written one after the other, each whole. The file is not synced
 * to the disk line by line: after a power cut the end may be missing, the log of the space is the truth.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { OplusError } from '@oplus/core';
import type { TraceEvent, TraceSink } from './trace.ts';
import { traceLine } from './trace.ts';

/**
 * Opens a trace for appending; its folder must exist. A torn last line of a killed process is closed with a line end, so that it
 * damages no other. Throws `USAGE` when the file cannot be opened. `append` rejects with `LOG_FULL` when there is no room, with
 * `LOG_DAMAGED` when the system failed half-way, and from then on with that first error; with `TRANSPORT_CLOSED` after `close`.
 */
export async function openTraceFile(path: string): Promise<TraceSink> {
  let handle: FileHandle;
  try {
    handle = await open(path, 'a+');
    if (!(await endsWithLineEnd(handle))) await handle.appendFile('\n');
  } catch (cause) {
    throw new OplusError('USAGE', `the trace ${path} cannot be opened`, {
      path,
      hint: 'Name a file in a folder that exists and may be written.',
      cause,
    });
  }
  return new TraceFile(handle, path);
}

class TraceFile implements TraceSink {
  readonly #handle: FileHandle;
  readonly #path: string;
  #last: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  append(event: TraceEvent): Promise<void> {
    const line = `${traceLine(event)}\n`;
    if (this.#closed !== undefined)
      return Promise.reject(new OplusError('TRANSPORT_CLOSED', `the trace ${this.#path} is closed`));
    const written = this.#last.then(() => this.#write(line));
    this.#last = written;
    written.catch(() => undefined);
    return written;
  }

  close(): Promise<void> {
    this.#closed ??= this.#last.then(
      () => this.#handle.close(),
      () => this.#handle.close(),
    );
    return this.#closed;
  }

  async #write(line: string): Promise<void> {
    try {
      await this.#handle.appendFile(line);
    } catch (cause) {
      const isFull = FULL.has((cause as { readonly code?: string }).code ?? '');
      throw new OplusError(isFull ? 'LOG_FULL' : 'LOG_DAMAGED', `the trace ${this.#path} could not be written`, {
        path: this.#path,
        hint: isFull ? 'Make room on the disk.' : 'Its last line may be torn; the lines before it are whole.',
        cause,
      });
    }
  }
}

const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

async function endsWithLineEnd(handle: FileHandle): Promise<boolean> {
  const { size } = await handle.stat();
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  await handle.read(last, 0, 1, size - 1);
  return last[0] === 0x0a;
}
