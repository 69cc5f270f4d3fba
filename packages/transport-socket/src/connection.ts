/**
 * One end of a stream that speaks frames: what is written in one turn goes out together, and a peer that does not read loses messages
 * rather than filling our memory.
 */
import type { Socket } from 'node:net';
import { encodeFrame, frameReader } from './frame.ts';
import type { Frame, FrameKind } from './frame.ts';

export interface Connection {
  /** Queues a frame. A `message`, `answer` or `announcement` is dropped while too much is queued; any other then ends the connection. */
  write(kind: FrameKind, end: number, text: Uint8Array): void;
  /** Sends what is queued, then ends. Resolves when the stream is closed, by force if the peer takes longer than half a second. */
  end(): Promise<void>;
  /** Ends at once. Nothing is heard any more. */
  destroy(): void;
}

/** Most bytes that wait for one peer: a score of the largest messages. */
export const QUEUE_BYTES_MAX = 16_777_216;

/** Speaks on `socket`. `onFrame` runs for each frame until the end; `onClose` runs once, whoever ended it and why. */
export function openConnection(socket: Socket, onFrame: (frame: Frame) => void, onClose: () => void): Connection {
  let queue: Uint8Array[] = [];
  let queuedBytes = 0;
  let isEnding = false;

  const flush = (): void => {
    const parts = queue;
    queue = [];
    queuedBytes = 0;
    if (parts.length > 0 && socket.writable) socket.write(Buffer.concat(parts));
  };
  const reader = frameReader(
    (frame) => {
      if (!isEnding) onFrame(frame);
    },
    () => socket.destroy(),
  );
  socket.on('data', (chunk: Buffer) => reader.push(chunk));
  // An error is followed by `close`, and what happened matters to nobody: the messages are lost.
  socket.on('error', () => undefined);
  socket.on('end', () => socket.destroy());
  socket.on('close', () => {
    isEnding = true;
    onClose();
  });

  return {
    write(kind, end, text) {
      if (isEnding || !socket.writable) return;
      if (queuedBytes + socket.writableLength > QUEUE_BYTES_MAX) {
        if (!LOSABLE.has(kind)) socket.destroy();
        return;
      }
      if (queue.length === 0) setImmediate(flush);
      queue.push(...encodeFrame(kind, end, text));
      queuedBytes += text.byteLength;
    },
    async end() {
      isEnding = true;
      if (socket.closed) return;
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      const force = setTimeout(() => socket.destroy(), END_MS_MAX);
      flush();
      socket.end();
      await closed;
      clearTimeout(force);
    },
    destroy() {
      isEnding = true;
      socket.destroy();
    },
  };
}

const LOSABLE: ReadonlySet<FrameKind> = new Set(['message', 'answer', 'announcement']);
const END_MS_MAX = 500;
