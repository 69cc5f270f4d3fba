/**
 * Taking messages in: every one passes the gate; what is answered at once is answered from the sealed state. SPEC: CO9-CO15, CO34.
 */
import { isDue, rehearse, trieAt } from '@oplus/core';
import type { Admitted, Issue, Space } from '@oplus/core';
import { readUpward } from '@oplus/protocol';
import type { Hello, Leave, Pass } from '@oplus/protocol';
import { farewell, faultOf, refuse, refuseDot, rehearsalOf, verdictOn, welcome } from './answer.ts';
import { isOurs } from './recent.ts';
import type { CoordinatorState, Effect, Step } from './state.ts';
import { AHEAD_MAX, NOTHING_WAITING, withItem, withPass } from './waiting.ts';
import type { Waiting } from './waiting.ts';

/** One message of a worker. `from` is the name that the transport vouches for. Never throws, whatever the bytes. */
export function onMessage(state: CoordinatorState, from: string, body: string): Step {
  const read = readUpward(body, from);
  if (!read.ok) return answer(state, refuse(from, body, read.issues));
  const message = read.value;
  const name = 'proposal' in message ? message.proposal.space : message.space;
  const space = state.shard.spaces.get(name);
  if (space === undefined) return answer(state, refuse(from, 'proposal' in message ? message.text : body, [unknownSpace(name)]));
  if (space.revision < 0) return still(state); // Not born yet: the worker re-sends.
  if ('proposal' in message) return onProposal(state, space, message);
  switch (message.kind) {
    case 'hello':
      return onHello(state, space, message, body);
    case 'leave':
      return onLeave(state, space, message, body);
    case 'pass':
      return onPass(state, space, message);
  }
}

function onProposal(state: CoordinatorState, space: Space, admitted: Admitted): Step {
  const { agent, n, base, dry } = admitted.proposal;
  const record = trieAt(space.agents, agent);
  const fault = faultOf(record, admitted, space.schema.sha256);
  const decided = record?.n ?? 0;
  // What skips a little ahead may follow something that waits already.
  if (fault !== undefined && (fault !== 'gap' || dry === true || n > decided + AHEAD_MAX))
    return answer(state, refuseDot(space, admitted, fault));
  if (n === decided) return answer(state, verdictOn(space.name, agent, n, record?.answered?.verdict ?? ''));
  if (!isOurs(state.recent, space.name, base))
    return answer(state, refuse(agent, admitted.text, [foreignBase(base.revision)], space.revision));
  if (dry !== true) return queue(state, space.name, (waits) => withItem(waits, admitted));
  const verdict = rehearse(space, admitted);
  return verdict === undefined ? still(state) : answer(state, rehearsalOf(admitted, verdict));
}

function onHello(state: CoordinatorState, space: Space, hello: Hello, body: string): Step {
  const { agent, session, role, schema, after } = hello;
  const refuseWith = (one: Issue): Step => answer(state, refuse(agent, body, [one], space.revision));
  if (schema !== space.schema.id) {
    return refuseWith(
      issue(
        'protocol',
        'schema digest',
        'stop',
        `The space runs ${space.schema.name} version ${space.schema.version}; your definition differs.`,
      ),
    );
  }
  const record = trieAt(space.agents, agent);
  if (record?.session === session) {
    return record.isLive
      ? answer(state, welcome(space, agent))
      : refuseWith(issue('fenced', 'session', 'stop', 'This session has left. Begin a new one.'));
  }
  const incarnation = record?.incarnation ?? 0;
  if (after > incarnation) return still(state); // We are behind the log; whoever is not will answer.
  if (after < incarnation) return answer(state, welcome(space, agent));
  const join = { kind: 'join', agent, role, session } as const;
  if (isDue(space, join)) return queue(state, space.name, (waits) => withItem(waits, { event: join, after }));
  return refuseWith(
    space.schema.roles.has(role)
      ? issue('full', 'agentsMax', 'wait', `All ${space.schema.agentsMax} agent slots of the space are taken.`)
      : issue('forbidden', 'role', 'change', `The roles are ${[...space.schema.roles.keys()].join(', ')}.`),
  );
}

function onLeave(state: CoordinatorState, space: Space, { agent, incarnation }: Leave, body: string): Step {
  const record = trieAt(space.agents, agent);
  if (record === undefined || incarnation > record.incarnation) {
    return answer(
      state,
      refuse(agent, body, [issue('unknown_agent', 'incarnation', 're-read', 'That incarnation has not joined.')], space.revision),
    );
  }
  const leave = { kind: 'leave', agent, incarnation } as const;
  if (!isDue(space, leave)) return answer(state, farewell(space.name, agent, incarnation));
  return queue(state, space.name, (waits) => withItem(waits, { event: leave, after: 0 }));
}

/** Only in barrier mode does anybody wait for a word, and only for that of live agents. */
function onPass(state: CoordinatorState, space: Space, { agent, incarnation, revision }: Pass): Step {
  const record = trieAt(space.agents, agent);
  if (state.barrier === undefined || record?.isLive !== true || record.incarnation !== incarnation || revision !== space.revision)
    return still(state);
  return queue(state, space.name, (waits) => withPass(waits, agent, revision));
}

function queue(state: CoordinatorState, name: string, change: (waits: Waiting) => Waiting): Step {
  const waits = state.waiting.get(name) ?? NOTHING_WAITING;
  const changed = change(waits);
  return changed === waits ? still(state) : still({ ...state, waiting: new Map(state.waiting).set(name, changed) });
}

function answer(state: CoordinatorState, effect: Effect): Step {
  return { state, effects: [effect] };
}

function still(state: CoordinatorState): Step {
  return { state, effects: [] };
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
