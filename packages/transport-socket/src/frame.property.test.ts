import { MESSAGE_BYTES_MAX } from '@oplus/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrame, FRAME_BYTES_MAX, frameReader } from './frame.ts';
import type { Frame, FrameKind } from './frame.ts';

const kinds: readonly FrameKind[] = [
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
const frames: fc.Arbitrary<Frame[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    end: fc.nat({ max: 2 ** 32 - 1 }),
    text: fc.string({ unit: 'binary', maxLength: 50 }),
  }),
  { maxLength: 12 },
);

test('[SOC7] frames are understood the same in whatever pieces they come', () => {
  fc.assert(
    fc.property(frames, fc.array(fc.nat(), { maxLength: 20 }), (sent, cuts) => {
      const bytes = Buffer.concat(sent.map(bytesOf));
      expect(readIn(piecesOf(bytes, cuts))).toEqual({ frames: sent, malformedCount: 0 });
    }),
    { numRuns: 500 },
  );
});

test('[SOC7] one byte at a time, and the largest message among small ones', () => {
  const sent: Frame[] = [
    { kind: 'hello', end: 0, text: 'x' },
    { kind: 'message', end: 2 ** 32 - 1, text: 'y'.repeat(MESSAGE_BYTES_MAX) },
    { kind: 'leave', end: 1, text: '' },
  ];
  const bytes = Buffer.concat(sent.map(bytesOf));
  expect(readIn(piecesOf(bytes, [1, 5, 9, 65_536, 500_000, bytes.length - 1])).frames).toEqual(sent);
  const small = Buffer.concat([bytesOf({ kind: 'attach', end: 7, text: 'é状' }), bytesOf({ kind: 'answer', end: 0, text: '' })]);
  expect(readIn([...small].map((byte) => Buffer.from([byte]))).frames.map(({ text }) => text)).toEqual(['é状', '']);
});

test('[SOC5] any bytes give frames or one complaint, never an error, and nothing after the complaint', () => {
  let malformed = 0;
  fc.assert(
    fc.property(frames, fc.uint8Array({ maxLength: 60 }), fc.array(fc.nat(), { maxLength: 8 }), (sent, garbage, cuts) => {
      const bytes = Buffer.concat([...sent.map(bytesOf), garbage, ...sent.map(bytesOf)]);
      const heard = readIn(piecesOf(bytes, cuts));
      expect(heard.frames.slice(0, sent.length)).toEqual(sent);
      expect(heard.malformedCount).toBeLessThanOrEqual(1);
      malformed += heard.malformedCount;
    }),
    { numRuns: 500 },
  );
  expect(malformed).toBeGreaterThan(100);
});

test.each([
  ['a length above the limit', [...lengthOf(FRAME_BYTES_MAX + 1), 5, 0, 0, 0, 1]],
  ['the largest length', [255, 255, 255, 255, 5, 0, 0, 0, 1]],
  ['a length below a head', [...lengthOf(4), 5, 0, 0, 0, 1]],
  ['no length', [0, 0, 0, 0, 5, 0, 0, 0, 1]],
  ['kind 0', [...lengthOf(6), 0, 0, 0, 0, 1, 65]],
  ['an unknown kind', [...lengthOf(6), 200, 0, 0, 0, 1, 65]],
  ['text that is no UTF-8', [...lengthOf(6), 5, 0, 0, 0, 1, 255]],
  ['half of a surrogate pair', [...lengthOf(8), 5, 0, 0, 0, 1, 0xed, 0xa0, 0xbd]],
])('[SOC6] %s is refused as soon as it can be seen', (_, bytes) => {
  const heard = readIn([Buffer.from(bytes)]);
  expect(heard).toEqual({ frames: [], malformedCount: 1 });
});

test('[SOC15] when a callback throws, the frames behind it follow in a later turn', async () => {
  const heard: string[] = [];
  const reader = frameReader(
    ({ text }) => {
      heard.push(text);
      if (text === 'b') throw new Error('of the callback');
    },
    () => heard.push('malformed'),
  );
  const bytes = Buffer.concat(['a', 'b', 'c', 'd'].map((text) => bytesOf({ kind: 'message', end: 1, text })));
  expect(() => reader.push(bytes.subarray(0, bytes.length - 3))).toThrow('of the callback');
  expect(heard).toEqual(['a', 'b']);
  await new Promise((resolve) => setImmediate(resolve));
  expect(heard).toEqual(['a', 'b', 'c']);
  reader.push(bytes.subarray(bytes.length - 3));
  expect(heard).toEqual(['a', 'b', 'c', 'd']);
});

function bytesOf({ kind, end, text }: Frame): Buffer {
  return Buffer.concat(encodeFrame(kind, end, Buffer.from(text)));
}

function lengthOf(length: number): number[] {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(length);
  return [...bytes];
}

function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  // Copies, as chunks of a socket are.
  return places.slice(1).map((to, k) => Buffer.from(bytes.subarray(places[k], to)));
}

function readIn(pieces: readonly Buffer[]): { frames: Frame[]; malformedCount: number } {
  const heard: Frame[] = [];
  let malformedCount = 0;
  const reader = frameReader(
    (frame) => heard.push(frame),
    () => (malformedCount += 1),
  );
  for (const piece of pieces) reader.push(piece);
  return { frames: heard, malformedCount };
}
