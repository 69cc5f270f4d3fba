/**
 * Models with the weaknesses of real ones, for tests.
 */
import type { Model } from '@oplus/agent';
import { readPrompt, messagesOf, sayDecision } from '@oplus/agent';
import { hashText } from '@oplus/core';

/** The same model, after a pause that nobody can foresee: other agents are faster now and slower then. */
export function hesitant(model: Model): Model {
  return {
    id: model.id,
    complete: async (request) => {
      await new Promise((resolve) => {
        setTimeout(resolve, Math.random() * PAUSE_MS_MAX);
      });
      return model.complete(request);
    },
  };
}

/**
 * The same model, but some observations it never understands (it rambles until it is given up) and some it has nothing to say to.
 * Which ones depends on the agent and the observation alone.
 */
export function forgetful(model: Model, agent: string): Model {
  return {
    id: model.id,
    complete: async (request) => {
      const { observation } = readPrompt(messagesOf(request, 'fenced'));
      const mood = hashText(`${agent} ${observation}`) % 4;
      if (mood === 0) return { text: 'Let me think about that.', form: 'fenced', finish: 'stop' };
      if (mood === 1) return { text: sayDecision({ patch: {}, action: null }), form: 'fenced', finish: 'stop' };
      return model.complete(request);
    },
  };
}

/** A model that throws at its call of this number, counted from 1, and at all later ones. */
export function failing(model: Model, callCount: number, error: Error): Model {
  let calls = 0;
  return {
    id: model.id,
    complete: async (request) => {
      calls += 1;
      if (calls >= callCount) throw error;
      return model.complete(request);
    },
  };
}

const PAUSE_MS_MAX = 3;
