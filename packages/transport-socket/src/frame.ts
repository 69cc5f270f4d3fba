/**
 * Frames on a stream: a length, a kind, the number of an end, and text.
 *
 * `u32 length of what follows | u8 kind | u32 end | UTF-8 text`, big-endian. An *end* is an attachment or a listener; its number is
 * chosen by the client and means something on its connection only. The length is checked before anything is kept.
 */
import { isUtf8 } from 'node:buffer';
import { MESSAGE_BYTES_MAX } from '@oplus/protocol';

/**
 * From both: `hello` (the first one, its text is `HELLO`). From a client: `attach` (text `channel name`), `listen` (text `channel`), `leave`,
 * `message`. From the hub: `ready` (the end is known), `superseded` (a newer one took its name), `answer`, `announcement`.
 */
export type FrameKind = 'hello' | 'attach' | 'listen' | 'leave' | 'message' | 'ready' | 'superseded' | 'answer' | 'announcement';

export type Frame = { readonly kind: FrameKind; readonly end: number; readonly text: string };

/** Takes the bytes of one connection in whatever pieces they come. */
export interface FrameReader {
  push(chunk: Buffer): void;
}

/** What each side says first: a mark of ours and the version of these frames. */
export const HELLO = 'oplus-bus 1';

/** Largest length that a frame may claim. */
export const FRAME_BYTES_MAX: number = 5 + MESSAGE_BYTES_MAX;

/** The bytes of a frame, its text given as bytes so that one body can go to many. */
export function encodeFrame(kind: FrameKind, end: number, text: Uint8Array): [Buffer, Uint8Array] {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32BE(text.byteLength + HEAD_BYTES - LENGTH_BYTES, 0);
  head.writeUInt8(KINDS.indexOf(kind) + 1, LENGTH_BYTES);
  head.writeUInt32BE(end, LENGTH_BYTES + 1);
  return [head, text];
}

/**
 * A reader that calls `onFrame` for each frame, in order, and `onMalformed` once for bytes that are none, after which it takes no more.
 * When `onFrame` throws, the rest follows in a later turn. Keeps at most one frame and the chunk it ends in.
 */
export function frameReader(onFrame: (frame: Frame) => void, onMalformed: () => void): FrameReader {
  let chunks: Buffer[] = [];
  let keptBytes = 0;
  let neededBytes = HEAD_BYTES;
  let isBroken = false;

  const fail = (): undefined => {
    isBroken = true;
    chunks = [];
    onMalformed();
  };

  /** The next frame from `at`, or `undefined` when more bytes are needed or they are malformed. */
  const frameAt = (bytes: Buffer, at: number): Frame | undefined => {
    neededBytes = HEAD_BYTES;
    if (bytes.length - at < HEAD_BYTES) return undefined;
    const length = bytes.readUInt32BE(at);
    const kind = KINDS[bytes.readUInt8(at + LENGTH_BYTES) - 1];
    if (length < HEAD_BYTES - LENGTH_BYTES || length > FRAME_BYTES_MAX || kind === undefined) return fail();
    neededBytes = LENGTH_BYTES + length;
    if (bytes.length - at < neededBytes) return undefined;
    const text = bytes.subarray(at + HEAD_BYTES, at + neededBytes);
    if (!isUtf8(text)) return fail();
    return { kind, end: bytes.readUInt32BE(at + LENGTH_BYTES + 1), text: text.toString('utf8') };
  };

  const drain = (): void => {
    if (isBroken || keptBytes < neededBytes) return;
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, keptBytes);
    let at = 0;
    let isDone = false;
    try {
      for (let frame = frameAt(bytes, at); frame !== undefined; frame = frameAt(bytes, at)) {
        at += neededBytes;
        onFrame(frame);
      }
      isDone = true;
    } finally {
      if (!isBroken) {
        chunks = at === bytes.length ? [] : [bytes.subarray(at)];
        keptBytes = bytes.length - at;
        if (!isDone) neededBytes = HEAD_BYTES;
      }
      if (!isDone) setImmediate(drain);
    }
  };

  return {
    push(chunk) {
      if (isBroken) return;
      chunks.push(chunk);
      keptBytes += chunk.length;
      drain();
    },
  };
}

const KINDS: readonly FrameKind[] = [
  'hello',
  'attach',
  'listen',
  'leave',
  'message',
  'ready',
  'superseded',
  'answer',
  'announcement',
];
const LENGTH_BYTES = 4;
const HEAD_BYTES = 9;
