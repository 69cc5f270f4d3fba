export type { CausalContext } from './causal-context.ts';
export { sees } from './causal-context.ts';
export { leafDigest } from './digest.ts';
export type { Dot, Mark } from './dot.ts';
export { AGENT_PATTERN, decodeMark, encodeMark, leastTrust, summed, trustedTo } from './dot.ts';
export { withoutEchoes } from './echo.ts';
export type { StoredEntry, StoredMember, SystemEvent } from './entry.ts';
export { entryShape, membersOf } from './entry.ts';
export type { ErrorCode, ErrorDetail, Fault } from './error.ts';
export { invariant, OplusError } from './error.ts';
export { fault, fieldFrom } from './fault.ts';
export type { Change } from './change.ts';
export { changed } from './change.ts';
export type {
  Aim,
  Attempt,
  Complain,
  Expiry,
  ExpiryCause,
  Settling,
  Timer,
  Field,
  FieldKind,
  FieldMeta,
  Grade,
  IntentOf,
  Refusal,
  Traversable,
  ViewOf,
} from './field-kind.ts';
export type { Imported } from './imports.ts';
export { fromJsonPatch, fromMergePatch, fromPaperAnswer } from './imports.ts';
export { readOneVerb, strictObject, withoutNulls } from './intent.ts';
export type { Issue, IssueCode, Outcome, Outcomes, Recovery, Verdict } from './issue.ts';
export { isRetryable, ISSUES_MAX } from './issue.ts';
export type { Json, JsonObject, Sha256 } from './json.ts';
export {
  canonical,
  compareText,
  excerpt,
  fitsUtf8,
  frozen,
  isJsonObject,
  JSON_DEPTH_MAX,
  pointer,
  pointerTokens,
  sameJson,
  utf8Bytes,
} from './json.ts';
export { kindOfDeclaration } from './contract-kinds.ts';
export { contractOf, patchSchemaOf, stateFromContract, strictStateSchemaOf } from './contract.ts';
export type { ContractCode } from './contract-kinds.ts';
export type { Clash, Confluence } from './confluence.ts';
export { confluenceOf } from './confluence.ts';
export { hasTimers, shortestTimerMs, timersOf } from './expiry.ts';
export type { FieldExplanation, Told, TwoWriters } from './explain.ts';
export { explainState, toldLine } from './explain.ts';
export type { DerivedOptions } from './kinds/derived.ts';
export { derived } from './kinds/derived.ts';
export type { Provenance } from './provenance.ts';
export { provenanceOf } from './provenance.ts';
export type { ClaimEnd, ClaimIntent, ClaimOptions, ClaimView } from './kinds/claim.ts';
export { claim } from './kinds/claim.ts';
export type { MapView, SetView } from './kinds/collection-view.ts';
export type { AdmitOptions, CounterIntent } from './kinds/counter.ts';
export { counter, quota } from './kinds/counter.ts';
export type { EscrowIntent, EscrowOptions, EscrowView } from './kinds/escrow.ts';
export { max, min } from './kinds/extremum.ts';
export type { GrowSetIntent } from './kinds/grow-set.ts';
export { growSet } from './kinds/grow-set.ts';
export type { RangeOptions } from './kinds/integer-range.ts';
export type { LatticeIntent, LatticeOptions } from './kinds/lattice.ts';
export { lattice } from './kinds/lattice.ts';
export type { LogIntent, LogOptions, LogView } from './kinds/log.ts';
export { log } from './kinds/log.ts';
export type { MachineIntent, MachineOptions } from './kinds/machine.ts';
export { machine } from './kinds/machine.ts';
export type { MapIntent, MapOptions } from './kinds/map.ts';
export { map } from './kinds/map.ts';
export type { DisputePolicy } from './kinds/dispute.ts';
export type { GroupField, GroupOptions, GroupParts, GroupValue } from './kinds/group.ts';
export { group } from './kinds/group.ts';
export type { MultiDispute, MultiIntent, MultiOptions, MultiView } from './kinds/multi.ts';
export { multi } from './kinds/multi.ts';
export type { Rival } from './kinds/owned-cell.ts';
export type { OwnedIntent, OwnedOptions, OwnedView } from './kinds/owned.ts';
export { owned } from './kinds/owned.ts';
export type { RecordsIntent, RecordsOptions, RowView } from './kinds/records.ts';
export { records } from './kinds/records.ts';
export type { ReduceIntent } from './kinds/reduce.ts';
export { reduce } from './kinds/reduce.ts';
export type { RegisterIntent, RegisterOptions } from './kinds/register.ts';
export { cas, lww, priority } from './kinds/register.ts';
export { removeWins } from './kinds/remove-wins.ts';
export type { SetIntent, SetOptions } from './kinds/set.ts';
export { set } from './kinds/set.ts';
export type { TextIntent, TextOptions, TextReplace } from './kinds/text.ts';
export { text } from './kinds/text.ts';
export type { TopKIntent, TopKOptions } from './kinds/top-k.ts';
export { topK } from './kinds/top-k.ts';
export type { VoteIntent, VoteOptions, VoteView } from './kinds/vote.ts';
export { vote } from './kinds/vote.ts';
export type { Certificate, CertifyOptions, ReducerOptions } from './laws/certify.ts';
export { certify } from './laws/certify.ts';
export type { Counterexample, LawName, LawResult } from './laws/law.ts';
export { lawsOf } from './laws/law.ts';
export type { ReducerTrial, Values } from './laws/reducer-trial.ts';
export type { Projection, Reader } from './projection.ts';
export { project, stateOf, viewsOfSpace } from './projection.ts';
export type { StateOf, ValueOf } from './state-type.ts';
export type { Action, Admitted, Gated, Proposal } from './proposal.ts';
export { admit, OPERATIONS_MAX, PROPOSAL_BYTES_MAX, proposalShape, readMessage, SPACE_PATTERN } from './proposal.ts';
export { malformed, outOfBounds, stale, superseded } from './refusal.ts';
export type { Courses, Difference } from './what-if.ts';
export { coursesAfter, fieldsApart, unbornCourses, whatIf } from './what-if.ts';
export { rehearse } from './rehearse.ts';
export { fold, readEntry, replay } from './replay.ts';
export type { Decided, Round, Sealed, Spilled } from './seal.ts';
export { isDue, seal } from './seal.ts';
export type { AgentRecord, Space } from './space.ts';
export { decodeSpace, encodeSpace, horizonOf, stateJson, unbornSpace, valuesDigest, vectorOf } from './space.ts';
export type { FoldedRecord, Shard, StoredRecord } from './shard.ts';
export { composeRecord, emptyShard, foldRecord, readRecord, recordShape } from './shard.ts';
export type { Stamp } from './stamp.ts';
export { compareAdmit, compareWin, hashText, spin, stampOf } from './stamp.ts';
export type {
  Fields,
  PatchOf,
  Role,
  Rule,
  RuleAnswer,
  RuleContext,
  StateDefinition,
  StateSchema,
  Views,
} from './state-schema.ts';
export { defineState, field, hasSpills, loadState } from './state-schema.ts';
export type { JsonFault, StrictJson } from './strict-json.ts';
export { isReservedKey, KEY_CHARS_MAX, readStrictJson, stringFault } from './strict-json.ts';
export { acceptsNull, requiredOf, strictSubset, strictValue, withoutOptionalNulls } from './strict-subset.ts';
export { trieAt, trieEntries } from './trie.ts';
export { samplesOf } from './value-samples.ts';
export type { VersionVector } from './version-vector.ts';
export { areConcurrent, includes, isWithin, join, newestOf } from './version-vector.ts';
