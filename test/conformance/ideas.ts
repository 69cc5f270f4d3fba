/**
 * The ideas that have a fixture by hand.
 */
import type { Idea } from './hand-play.ts';
import { IDEAS_OF_KEYS } from './ideas-of-keys.ts';
import { IDEAS_OF_ROUNDS } from './ideas-of-rounds.ts';
import { IDEAS_OF_VALUES } from './ideas-of-values.ts';
import { rulesIdea } from './rules-play.ts';

export const IDEAS: readonly Idea[] = [rulesIdea, ...IDEAS_OF_KEYS, ...IDEAS_OF_ROUNDS, ...IDEAS_OF_VALUES];
