/**
 * Taking messages in: every one passes the gate; what is answered at once is answered from the sealed state.
 */
import { isDue, trieAt } from '@oplus/core';
import type { Admitted, Issue, Space } from '@oplus/core';
import { encodeVerdict, readUpward } from '@oplus/protocol';
import type { Hello, Leave, Pass } from '@oplus/protocol';
import { farewell, refuse, refuseDot, welcome } from './answer.ts';
import { isOurs } from './recent.ts';
import type { CoordinatorState, Effect, Step } from './state.ts';
import { NOTHING_WAITING, withEvent, withPass, withProposal } from './waiting.ts';
import type { Waiting } from './waiting.ts';

/** One message of a worker. `from` is the name that the transport vouches for. */
export function onMessage(state: CoordinatorState, from: string, body: string): Step {
  const read = readUpward(body, from);
  if (!read.ok) return answer(state, refuse(from, {}, read.issues));
  const message = read.value;
  const name = 'proposal' in message ? message.proposal.space : message.space;
  const space = state.shard.spaces.get(name);
  if (space === undefined) return answer(state, refuse(from, whichOf(message), [unknownSpace(name)]));
  if (space.revision < 0) return { state, effects: [] }; // Not born yet: the worker re-sends.
  if ('proposal' in message) return onProposal(state, space, message);
  if (message.kind === 'hello') return onHello(state, space, message);
  return message.kind === 'leave' ? onLeave(state, space, message) : onPass(state, space, message);
}

function onProposal(state: CoordinatorState, space: Space, admitted: Admitted): Step {
  const { agent, n, incarnation, base } = admitted.proposal;
  const record = trieAt(space.agents, agent);
  if (record === undefined) return answer(state, refuseDot(agent, n, 'unknown_agent'));
  if (incarnation !== record.incarnation) return answer(state, refuseDot(agent, n, incarnation < record.incarnation ? 'fenced' : 'unknown_agent'));
  if (n === record.n && record.answered !== undefined) {
    if (record.answered.digest !== space.schema.sha256(admitted.text)) return answer(state, refuseDot(agent, n, 'equivocation'));
    return answer(state, verdictAgain(space, agent, n, record.answered.verdict));
  }
  if (n < record.n) return answer(state, refuseDot(agent, n, 'replayed'));
  if (!record.isLive) return answer(state, refuseDot(agent, n, 'unknown_agent'));
  if (!isOurs(state.recent, space.name, base)) return answer(state, refuse(agent, { n }, [foreignBase(base.revision)]));
  return { state: queue(state, space.name, (waits) => withProposal(waits, admitted)), effects: [] };
}

function onHello(state: CoordinatorState, space: Space, hello: Hello): Step {
  const { agent, session, role } = hello;
  const record = trieAt(space.agents, agent);
  if (record?.session === session) {
    return answer(state, record.isLive ? welcome(space, agent) : refuse(agent, { session }, [issue('fenced', 'session', 'stop', 'This session has left. Begin a new one.')]));
  }
  if (hello.schema !== space.schema.id) {
    return answer(state, refuse(agent, { session }, [issue('protocol', 'schema digest', 'stop', `The space runs ${space.schema.name} version ${space.schema.version}; your definition differs.`)]));
  }
  const join = { kind: 'join', agent, role, session } as const;
  if (isDue(space, join)) return { state: queue(state, space.name, (waits) => withEvent(waits, join)), effects: [] };
  const isUnknownRole = !space.schema.roles.has(role);
  return answer(
    state,
    refuse(agent, { session }, [
      isUnknownRole
        ? issue('forbidden', 'role', 'change', `The roles are ${[...space.schema.roles.keys()].join(', ')}.`)
        : issue('full', 'agentsMax', 'wait', `All ${space.schema.agentsMax} agent slots of the space are taken.`),
    ]),
  );
}

function onLeave(state: CoordinatorState, space: Space, { agent, incarnation }: Leave): Step {
  const leave = { kind: 'leave', agent, incarnation } as const;
  if (!isDue(space, leave)) return answer(state, farewell(space.name, agent, incarnation));
  return { state: queue(state, space.name, (waits) => withEvent(waits, leave)), effects: [] };
}

function onPass(state: CoordinatorState, space: Space, { agent, revision }: Pass): Step {
  return { state: queue(state, space.name, (waits) => withPass(waits, agent, revision)), effects: [] };
}

function queue(state: CoordinatorState, name: string, change: (waits: Waiting) => Waiting): CoordinatorState {
  const waiting = new Map(state.waiting);
  waiting.set(name, change(waiting.get(name) ?? NOTHING_WAITING));
  return { ...state, waiting };
}

function answer(state: CoordinatorState, effect: Effect): Step {
  return { state, effects: [effect] };
}

function verdictAgain(space: Space, agent: string, n: number, verdict: string): Effect {
  return { kind: 'send', to: agent, body: encodeVerdict({ space: space.name, agent, n }, verdict) };
}

function whichOf(message: Admitted | Hello | Pass | Leave): { readonly n?: number; readonly session?: string } {
  if ('proposal' in message) return { n: message.proposal.n };
  return message.kind === 'hello' ? { session: message.session } : {};
}

function unknownSpace(name: string): Issue {
  return issue('protocol', 'space', 'stop', `This coordinator does not lead a space called ${name}.`);
}

function foreignBase(revision: number): Issue {
  return {
    path: '/base',
    code: 'unknown_base',
    rule: 'base digest',
    want: revision,
    recovery: 're-read',
    hint: 'That revision has another digest here: the view comes from another history. Follow the log again.',
  };
}

function issue(code: Issue['code'], rule: string, recovery: Issue['recovery'], hint: string): Issue {
  return { path: '', code, rule, recovery, hint };
}
