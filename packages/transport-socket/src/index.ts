export { socketBus } from './socket-bus.ts';
export { socketPathOf } from './socket-path.ts';
