/**
 * What a contender from outside this room needs: the interface, the board and its patches, and the way to measure it.
 */
export type { Board, BoardView, Operation, Patch, Status, Task } from './board.ts';
export { canonicalText, fold, initialBoard, refusalOf, viewOf } from './board.ts';
export type { Answer, Contender, CpuMs, Durability, OpenOptions, Session, Views, Writer } from './contender.ts';
export type { Figure, Plan } from './measure.ts';
export { measure } from './measure.ts';
