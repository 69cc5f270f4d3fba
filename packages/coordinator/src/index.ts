export type { Coordinator, CoordinatorOptions } from './coordinator.ts';
export { openCoordinator, recover } from './coordinator.ts';
export type { CoordinatorState, Effect, InFlight, Input, Step } from './state.ts';
export { step, takeLead } from './step.ts';
export type { Barrier, Waiting } from './waiting.ts';
