/**
 * Versions of nats-server: reading and comparing them, and what is known to be wrong with each.
 */

/** What one version range lacks or breaks, for a person who decides whether to upgrade. */
export type KnownGap = { readonly below: string; readonly from?: string; readonly text: string };

/** The version inside what a server prints or announces (`nats-server: v2.9.10`, `2.12.1-RC.1`); `undefined` when there is none. */
export function readVersion(text: string): string | undefined {
  return /(\d+)\.(\d+)\.(\d+)/.exec(text)?.[0];
}

/** True if `version` is `minimum` or later; false when it cannot be read. Both as `major.minor.patch`. */
export function isAtLeast(version: string, minimum: string): boolean {
  const [have, want] = [numbersOf(version), numbersOf(minimum)];
  if (have === undefined || want === undefined) return false;
  for (const [k, wanted] of want.entries()) {
    const difference = (have[k] ?? 0) - wanted;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Known gaps of a version that concern us, gravest first. */
export function gapsOf(version: string): readonly string[] {
  return KNOWN_GAPS.filter(
    (gap) => !isAtLeast(version, gap.below) && (gap.from === undefined || isAtLeast(version, gap.from)),
  ).map((gap) => gap.text);
}

/** First version in which `sync_interval` can be set. */
export const SYNC_INTERVAL_SINCE = '2.10.0';

/** Sources: the release notes and advisories gathered in the project's research on NATS and on reliability. */
const KNOWN_GAPS: readonly KnownGap[] = [
  { from: '2.10.20', below: '2.10.23', text: 'killing the server can lose a whole stream (fixed in 2.10.23)' },
  { below: '2.10.0', text: 'no longer maintained: no security fixes reach it. Bind it to loopback only' },
  {
    below: '2.11.15',
    text: 'lacks the security fixes of 2025 and 2026 (JetStream administration, message tracing, queue subscriptions). Do not expose it to untrusted clients',
  },
  {
    from: '2.12.0',
    below: '2.12.6',
    text: 'lacks the security fixes of 2026 (JetStream, message tracing). Do not expose it to untrusted clients',
  },
  {
    below: '2.10.0',
    text: 'the sync interval is fixed at two minutes: an acknowledged append survives a killed process, not a power cut',
  },
  {
    below: '2.9.21',
    text: 'on a cluster, the per-subject expected sequence lets several writers win. oplus never uses it; others might',
  },
  {
    below: '2.10.6',
    text: 'a stream with both a message limit and a byte limit acknowledges messages that it drops. oplus sets one limit only',
  },
  {
    from: '2.12.0',
    below: '2.12.3',
    text: 'a cluster that loses power or a disk can lose acknowledged messages or split (Jepsen, December 2025)',
  },
];

function numbersOf(version: string): readonly number[] | undefined {
  return readVersion(version)?.split('.').map(Number);
}
