import { expect, test } from 'vitest';
import type { Edit } from './text-body.ts';
import { bodyOf, forgotten, pieceOf, spliced, textOf, tracesOf } from './text-body.ts';

function editAt(revision: number): Edit {
  return { mark: { agent: 'a', n: revision, revision }, at: 0, cut: 0, stamp: undefined };
}

test('[TXT11] the history up to and with a revision is forgotten, and nothing after it; what stands stays', () => {
  const [second, third] = [editAt(2), editAt(3)];
  const pieces = [
    pieceOf('plain '),
    pieceOf('born ', { born: second }),
    pieceOf('dead ', { died: second }),
    pieceOf('replaced ', { born: second, died: third }),
    pieceOf('late ', { born: third, root: second }),
  ];
  const body = spliced(bodyOf(''), 0, 0, pieces);
  const revisionsAfter = (revision: number): readonly number[] =>
    tracesOf(forgotten(body, revision)).map((trace) => trace.revision);
  expect(revisionsAfter(1)).toEqual([2, 2, 3, 3]);
  expect(revisionsAfter(2)).toEqual([3, 3]);
  expect(revisionsAfter(3)).toEqual([]);
  for (const revision of [1, 2, 3]) expect(textOf(forgotten(body, revision))).toBe('plain born late ');
  expect([body.live, body.dead, forgotten(body, 2).dead, forgotten(body, 3).dead]).toEqual([16, 14, 9, 0]);
});
