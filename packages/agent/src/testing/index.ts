export { boardSkill, boardState } from './board-skill.ts';
export type { CannedModel, NoiseKind, NoiseOptions } from './canned-model.ts';
export { cannedModel, noisyModel } from './canned-model.ts';
export type { FakeTeam } from './fake-team.ts';
export { fakeTeam } from './fake-team.ts';
export type { TestBlobs, TestTrace } from './memory-stores.ts';
export { testBlobs, testTrace } from './memory-stores.ts';
