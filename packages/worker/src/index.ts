export type { FollowOptions } from './follow.ts';
export { follow } from './follow.ts';
export type { Effect, Input, Step, WorkerState } from './state.ts';
export { greet, step } from './step.ts';
export type { Answer, Draft, View, Worker } from './view.ts';
export type { JoinOptions } from './worker.ts';
export { join } from './worker.ts';
