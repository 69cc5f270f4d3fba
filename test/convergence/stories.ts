/**
 * Schedules by name: short stories that random choices tell too seldom.
 */
import type { ClusterOptions } from './cluster.ts';
import type { Schedule } from './schedule.ts';

export type Story = { readonly options: ClusterOptions; readonly schedule: Schedule };

const ALONE: ClusterOptions = { workerCount: 1, incrementCount: 2, isLogConditional: true };
const LEADS = ['append', 'answered', 'announce', 'committed', 'leading'] as const;
const COMMITS = ['turn', 'append', 'answered', 'announce', 'committed'] as const;

function by(name: string, moves: readonly string[]): readonly string[] {
  return moves.map((move) => `${name} ${move}`);
}

/** The first coordinator leads and the space is born; nobody has been heard yet. */
const BORN = [...by('c0', LEADS), ...by('c0', ['append', 'answered', 'announce', 'committed'])];

/** The worker has joined through the first coordinator. */
const JOINED = [...BORN, 'up', ...by('c0', [...COMMITS, 'send']), 'down'];

/** A deposed coordinator that never heard of the worker answers its proposal before the leader does. */
export const DEPOSED_ANSWERS: Story = {
  options: ALONE,
  schedule: {
    names: [
      ...BORN,
      'takeover',
      ...by('c1', LEADS),
      ['up to one', 1],
      ...by('c1', [...COMMITS, 'send']),
      'down',
      'w0 proposes',
      ['up to one', 0],
      'c0 send',
      'down',
    ],
  },
};

/** Two coordinators hold the same state and append the next round at the same time. */
export const TWO_APPEND: Story = {
  options: ALONE,
  schedule: {
    names: [
      ...JOINED,
      'w0 proposes',
      'takeover',
      'c1 append',
      'up',
      ...by('c0', ['turn', 'append', 'answered']),
      'c1 answered',
      ...by('c1', ['readTail', 'reads', ...LEADS]),
    ],
  },
};

/** One proposal is delivered three times: twice before its round, once after. */
export const DELIVERED_THRICE: Story = {
  options: ALONE,
  schedule: {
    names: [
      ...JOINED,
      'w0 proposes',
      'up doubled',
      'up doubled',
      'up',
      'up',
      ...by('c0', [...COMMITS, 'send']),
      'up',
      'c0 send',
      'down',
      'down',
    ],
  },
};

/** The append is stored, its answer is lost. */
export const RECEIPT_LOST: Story = {
  options: ALONE,
  schedule: {
    names: [
      ...JOINED,
      'w0 proposes',
      'up',
      ...by('c0', ['turn', 'append', 'unknown, stored', 'readTail', 'reads', 'announce', 'committed', 'send']),
      'down',
    ],
  },
};

/** The append is given up, appended again, and the first attempt arrives only then. */
export const ATTEMPT_LATE: Story = {
  options: ALONE,
  schedule: {
    names: [
      ...JOINED,
      'w0 proposes',
      'up',
      ...by('c0', ['turn', 'append', 'unknown, late', 'readTail', 'reads', 'append']),
      'late append stored',
      ...by('c0', ['answered', 'readTail', 'reads', 'announce', 'committed', 'send']),
      'down',
    ],
  },
};

/** The coordinator is killed after the append, before anybody hears of it; another one takes over. */
export const KILLED_BEFORE_ANNOUNCING: Story = {
  options: ALONE,
  schedule: {
    names: [
      ...JOINED,
      'w0 proposes',
      'up',
      ...by('c0', ['turn', 'append', 'answered']),
      'c0 killed',
      'start',
      ...by('c1', LEADS),
      'w0 waits',
      'up',
      'c1 send',
      'down',
    ],
  },
};

/** The welcome is lost after the join is in the log, and the worker asks again. */
export const WELCOME_LOST: Story = {
  options: ALONE,
  schedule: { names: [...BORN, 'up', ...by('c0', [...COMMITS, 'send']), 'down lost', 'w0 waits', 'up', 'c0 send', 'down'] },
};

/** A worker dies with its hello still under way; the hello arrives after its successor has joined. */
export const HELLO_OF_THE_DEAD: Story = {
  options: ALONE,
  schedule: { names: [...BORN, 'w0 dies', ['up reordered', 1], ...by('c0', [...COMMITS, 'send']), 'down', 'up'] },
};

/** A worker dies with a proposal under way; its successor joins in the very round in which the proposal waits. */
export const DIES_PROPOSING: Story = {
  options: ALONE,
  schedule: {
    names: [
      ...JOINED,
      'w0 proposes',
      'w0 dies',
      'up',
      'up',
      'c0 send',
      'down',
      'up',
      ...by('c0', ['turn', 'append', 'answered']),
    ],
  },
};
