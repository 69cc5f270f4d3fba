/**
 * Issues and verdicts: how the coordinator answers, always addressed (path, rule, what is there, what to do next).
 */
import type { Json } from './json.ts';

/**
 * Closed list of issue codes. "Later?" says whether the very same patch may succeed on a newer view.
 *
 * | code | when | later? |
 * |---|---|---|
 * | `conflict` | a concurrent change of the same cell that does not commute | yes, after re-reading |
 * | `premise` | a field that the proposer relied on has changed since its view | yes, after re-reading |
 * | `stale_base` | the view is older than the horizon; what stands now where the patch aims is told with it | yes, after re-reading |
 * | `unknown_base` | the view is newer than the log, or of another history | yes, after re-reading |
 * | `held` | the claim belongs to another agent | yes, when its holding has ended |
 * | `not_owner` | only the holder may do that | no |
 * | `fenced` | a newer incarnation of this agent, or a newer term, took over | no |
 * | `gone` | the row or key was dropped; what comes later under that name is another one | yes, after re-reading, and then it is another row |
 * | `invariant` | a declared invariant fails on the merged state | yes, when the state changes |
 * | `transition` | the move is not in the declared table, from where the state stands now | yes, when the state changes |
 * | `protected` | the patch would erase what is protected now, or more at once than the field allows | yes, when its condition holds |
 * | `derived` | the field is computed from others and is not written | no |
 * | `bound` | a value, a count or a sum would leave its declared range | yes, when there is room |
 * | `schema` | the patch is not one that this state definition knows | no |
 * | `forbidden` | the agent's role may not write this field | no |
 * | `too_large`, `not_json`, `not_utf8`, `depth`, `duplicate_key`, `key`, `number`, `string`, `secret` | the message did not pass the strict reader | no |
 * | `protocol` | another protocol version, space or schema digest | no |
 * | `identity` | the author is not who the transport says is sending | no |
 * | `unknown_agent` | nobody of that name has joined, or it has left | yes, after `hello` |
 * | `replayed` | the dot was answered before, and a newer one since | no |
 * | `gap` | n skips ahead: an earlier proposal is missing | yes, in order |
 * | `equivocation` | the same dot with other bytes | no |
 * | `full` | as many agents have joined as the definition allows; names are kept for ever | no |
 */
export type IssueCode =
  | 'conflict'
  | 'premise'
  | 'stale_base'
  | 'unknown_base'
  | 'held'
  | 'not_owner'
  | 'fenced'
  | 'gone'
  | 'invariant'
  | 'transition'
  | 'protected'
  | 'derived'
  | 'bound'
  | 'schema'
  | 'forbidden'
  | 'too_large'
  | 'not_json'
  | 'not_utf8'
  | 'depth'
  | 'duplicate_key'
  | 'key'
  | 'number'
  | 'string'
  | 'secret'
  | 'protocol'
  | 'identity'
  | 'unknown_agent'
  | 'replayed'
  | 'gap'
  | 'equivocation'
  | 'full';

/** What to do next: read again and decide anew, wait, take the claim again, change the patch, stop, or never send it again. */
export type Recovery = 're-read' | 'wait' | 'claim-again' | 'change' | 'stop' | 'never';

export type Issue = {
  /** JSON Pointer into the state; empty for the proposal as a whole. */
  readonly path: string;
  readonly code: IssueCode;
  /** The kind or the named rule that refused. */
  readonly rule: string;
  /** What is there now; absent when nothing is. At most about 200 characters. */
  readonly have?: Json;
  /** What was asked for. At most about 200 characters. */
  readonly want?: Json;
  /** The agent whose change stands in the way. */
  readonly by?: string;
  readonly recovery: Recovery;
  readonly hint: string;
};

/** Outcome of one operation of a committed proposal. `merged` is the rule and is not listed in a verdict. */
export type Outcome =
  | {
      readonly kind: 'merged';
      /** The committed operation, unseen by this one, whose value it replaced by rule. */
      readonly over?: { readonly agent: string; readonly n: number };
      /** The id that was issued for a new row. */
      readonly id?: string;
    }
  | { readonly kind: 'unchanged' }
  /** Another value stands by rule. `value` is shown as in issues: at most about 200 characters. */
  | { readonly kind: 'superseded'; readonly by: string; readonly value: Json }
  /** It was taken in and fell off in the same seal, because of a declared cap. */
  | { readonly kind: 'evicted' }
  | { readonly kind: 'contested' };

/** Operations by path whose outcome is more than a plain `merged`. */
export type Outcomes = { readonly [path: string]: Outcome };

/**
 * The coordinator's answer to one dot; a re-sent proposal gets its first verdict again.
 * `revision` of a rejection is the revision of the state that refused it; `retry.after` the earliest revision at which a
 * retry makes sense, absent when none does.
 */
export type Verdict =
  | { readonly kind: 'committed'; readonly revision: number; readonly outcomes?: Outcomes }
  | {
      readonly kind: 'rejected';
      readonly revision: number;
      readonly issues: readonly Issue[];
      readonly retry?: { readonly after: number };
    };

/** Most issues that one verdict lists; a longer list ends with one issue that says how many more there are. */
export const ISSUES_MAX = 32;

/** Longest `have` and `want`, in UTF-16 units. */
export const EXCERPT_CHARS_MAX = 200;

/** True when the same decision may succeed on a newer view: every issue is of a kind that time or re-reading can cure. */
export function isRetryable(issues: readonly Issue[]): boolean {
  return issues.every(isCurable);
}

/** True when time or re-reading can cure it. */
export function isCurable(issue: Issue): boolean {
  return issue.recovery === 're-read' || issue.recovery === 'wait' || issue.recovery === 'claim-again';
}
