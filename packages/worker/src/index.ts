export type { Answer, Draft, View, Worker } from './view.ts';
