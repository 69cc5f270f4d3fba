/**
 * A state as people write it with LangGraph, of the real package: sound and unsound reducers of every shape that `oplus lint` knows.
 */
import { HumanMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import {
  Annotation,
  DeltaChannel,
  DeltaValue,
  messagesDeltaReducer,
  messagesStateReducer,
  MessagesValue,
  ReducedValue,
  StateSchema,
} from '@langchain/langgraph';
import { z } from 'zod';

const texts = z.array(z.string()).default(() => []);
const text = z.string();

export const history: DeltaValue<string[], string> = new DeltaValue(texts, {
  inputSchema: text,
  reducer: (state, writes) => [...state, ...writes],
});

export const State = new StateSchema({
  question: z.string(),
  messages: MessagesValue,
  total: new ReducedValue(z.int().default(0), { reducer: (state, update) => state + update }),
  greatest: new ReducedValue(z.int(), { reducer: (state, update) => Math.max(state, update) }),
  tags: new ReducedValue(texts, { inputSchema: text, reducer: (state, update) => [...state, update] }),
  pushed: new ReducedValue(texts, {
    inputSchema: text,
    reducer: (state, update) => {
      state.push(update);
      return state;
    },
  }),
  seen: new ReducedValue(
    z.custom<Set<string>>().default(() => new Set<string>()),
    { inputSchema: text, reducer: (state, update) => new Set([...state, update]) },
  ),
  stamped: new ReducedValue(
    z.array(z.unknown()).default(() => []),
    { inputSchema: text, reducer: (state, update) => [...state, { update, at: new Date(0) }] },
  ),
  history,
  hasty: new DeltaValue(texts, { inputSchema: text, reducer: (state, writes) => [...state, ...writes.slice(-1)] }),
});

export const Root = Annotation.Root({
  question: Annotation<string>,
  steps: Annotation<number>({ reducer: (state, update) => state + update, default: () => 0 }),
  files: Annotation<string[]>({ reducer: (state, update) => state.concat(update), default: () => [] }),
  notes: Annotation<string[]>({ reducer: (state, update) => state.concat(update), default: () => [] }),
  named: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
  unnamed: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
});

export const channel = new DeltaChannel<BaseMessage[], BaseMessage>(messagesDeltaReducer);

const named: readonly BaseMessage[] = [
  new HumanMessage({ id: '1', content: 'a' }),
  new HumanMessage({ id: '2', content: 'b' }),
  new HumanMessage({ id: '1', content: 'c' }),
];

export const examples = {
  'Root.notes': [['a'], ['b', 'c']],
  named,
  unnamed: [new HumanMessage('a'), new HumanMessage('b')],
  channel: named,
};
