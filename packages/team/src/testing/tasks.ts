/**
 * Tasks that are made to go wrong, for tests.
 */
import type { Environment, Task } from '@oplus/agent';

/** The task with another environment around its own. */
export function withEnvironment(task: Task, change: (environment: Environment) => Partial<Environment>): Task {
  const { environment } = task;
  return { ...task, environment: { ...environment, ...change(environment) } };
}
