/**
 * Version of the wire messages and of the log. A change in `schemas/` raises it and adds a line here.
 *
 * 1: hello, proposal, pass, leave; welcome, verdict, rehearsal, refusal, left; records of entries.
 */
export const PROTOCOL_VERSION = 1 as const;
