/**
 * A peer that speaks bytes, for saying what no client of ours would say.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { encodeFrame, frameReader, HELLO } from '../frame.ts';
import type { Frame, FrameKind } from '../frame.ts';

export type RawPeer = {
  readonly frames: Frame[];
  /** Resolves when the other side has ended the connection. */
  readonly closed: Promise<unknown>;
  write(bytes: Uint8Array): void;
  frame(kind: FrameKind, end: number, text: string): void;
  /** Stops reading, as a process that is stopped does. */
  pause(): void;
  resume(): void;
  destroy(): void;
};

/** Connects; greets unless told otherwise. */
export async function rawPeer(path: string, isGreeting = true): Promise<RawPeer> {
  const socket = connect(path);
  const frames: Frame[] = [];
  const reader = frameReader(
    (frame) => frames.push(frame),
    () => socket.destroy(),
  );
  socket.on('data', (chunk: Buffer) => reader.push(chunk));
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  const peer: RawPeer = {
    frames,
    closed,
    write: (bytes) => void socket.write(bytes),
    frame: (kind, end, text) => void socket.write(Buffer.concat(encodeFrame(kind, end, Buffer.from(text)))),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    destroy: () => void socket.destroy(),
  };
  await once(socket, 'connect');
  if (isGreeting) peer.frame('hello', 0, HELLO);
  return peer;
}
