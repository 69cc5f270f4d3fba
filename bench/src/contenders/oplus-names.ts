/**
 * Names that the coordinator's process and the writers' share.
 */

export const CHANNEL = 'main';
export const SHARD = 'main';
export const SPACE = 'board';
