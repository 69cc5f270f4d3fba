/**
 * A small bus inside one process, and the same bus with one fault each: the contract suite must pass the first and fail every other.
 */
import { OplusError } from '@oplus/core';
import type { Bus, Closable } from '../ports/bus.ts';
import { assertAddress, assertMessage } from '../ports/guard.ts';
import type { BusStore } from './bus-contract.ts';

/** Every fault, with the rule of the contract that forbids it. */
export const BUS_FAULTS: readonly { readonly fault: BusFault; readonly rule: string }[] = [
  { fault: 'hides the sender', rule: 'BUS1' },
  { fault: 'keeps names in an object', rule: 'BUS1' },
  { fault: 'answers any address', rule: 'BUS2' },
  { fault: 'answers every address with that prefix', rule: 'BUS2' },
  { fault: 'prefers the oldest of one name', rule: 'BUS2' },
  { fault: 'delivers synchronously', rule: 'BUS3' },
  { fault: 'announces to one listener', rule: 'BUS4' },
  { fault: 'announces to attachments', rule: 'BUS4' },
  { fault: 'has one channel', rule: 'BUS5' },
  { fault: 'takes any name', rule: 'BUS6' },
  { fault: 'cuts at a line feed', rule: 'BUS7' },
  { fault: 'has no limit', rule: 'BUS7' },
  { fault: 'delivers after close', rule: 'BUS8' },
  { fault: 'throws for a peer that is gone', rule: 'BUS8' },
  { fault: 'opens after close', rule: 'BUS8' },
  { fault: 'loses every hundredth message', rule: 'BUS9' },
  { fault: 'doubles every hundredth message', rule: 'BUS9' },
  { fault: 'needs a server to attach', rule: 'BUS10' },
  { fault: 'gives each message to one server', rule: 'BUS11' },
  { fault: 'lets a second server in', rule: 'BUS11' },
];

export type BusFault =
  | 'none'
  | 'hides the sender'
  | 'keeps names in an object'
  | 'answers any address'
  | 'answers every address with that prefix'
  | 'prefers the oldest of one name'
  | 'delivers synchronously'
  | 'announces to one listener'
  | 'announces to attachments'
  | 'has one channel'
  | 'takes any name'
  | 'cuts at a line feed'
  | 'has no limit'
  | 'delivers after close'
  | 'throws for a peer that is gone'
  | 'opens after close'
  | 'loses every hundredth message'
  | 'doubles every hundredth message'
  | 'needs a server to attach'
  | 'gives each message to one server'
  | 'lets a second server in';

/** A place with that fault. `servers` is `many`, unless the fault is about a second server. */
export async function brokenBusStore(fault: BusFault, servers: 'one' | 'many' = 'many'): Promise<BusStore> {
  const place: Place = { ends: new Set(), sentCount: 0, fault, isSingle: servers === 'one' };
  return {
    servers: fault === 'lets a second server in' ? 'one' : servers,
    open: async () => openBus(place),
    destroy: async () => place.ends.clear(),
  };
}

type End = {
  readonly kind: 'server' | 'attachment' | 'listener';
  readonly channel: string;
  readonly name: string;
  readonly hear: (from: string, body: string) => void;
};
type Place = { readonly ends: Set<End>; sentCount: number; readonly fault: BusFault; readonly isSingle: boolean };

function openBus(place: Place): Bus {
  const { fault } = place;
  const mine = new Set<End>();
  let isClosed = false;
  const assertOpen = (): void => {
    if (isClosed && fault !== 'opens after close') throw new OplusError('TRANSPORT_CLOSED', 'the bus is closed');
  };
  const add = (end: End): Closable['close'] => {
    assertOpen();
    for (const name of fault === 'takes any name' ? [] : [end.channel, end.name]) assertAddress('channel', name);
    place.ends.add(end);
    mine.add(end);
    return async () => void (fault !== 'delivers after close' && place.ends.delete(end));
  };
  return {
    async serve(channel, onMessage) {
      assertOpen();
      const isTaken = endsOf(place, 'server', channel).length > 0;
      if (isTaken && place.isSingle) throw new OplusError('PORT_BUSY', 'the channel is served');
      const end: End = { kind: 'server', channel, name: 'server', hear: onMessage };
      const close = add(end);
      return {
        close,
        send(to, body) {
          if (fault !== 'takes any name') assertAddress('sender', to);
          post(place, end, body, endsNamed(place, channel, to));
        },
        announce(body) {
          const listeners = endsOf(place, 'listener', channel);
          const also = fault === 'announces to attachments' ? endsOf(place, 'attachment', channel) : [];
          post(place, end, body, [...(fault === 'announces to one listener' ? listeners.slice(0, 1) : listeners), ...also]);
        },
      };
    },
    async attach(channel, as, onMessage) {
      if (fault === 'needs a server to attach' && endsOf(place, 'server', channel).length === 0) {
        throw new OplusError('BROKER_UNREACHABLE', 'nobody serves');
      }
      const end: End = { kind: 'attachment', channel, name: as, hear: (_, body) => onMessage(body) };
      const close = add(end);
      const takers = (): End[] =>
        endsOf(place, 'server', channel).slice(0, fault === 'gives each message to one server' ? 1 : undefined);
      return { close, send: (body) => post(place, end, body, takers()) };
    },
    async listen(channel, onAnnouncement) {
      return { close: add({ kind: 'listener', channel, name: 'listener', hear: (_, body) => onAnnouncement(body) }) };
    },
    async close() {
      isClosed = true;
      for (const end of mine) place.ends.delete(end);
    },
  };
}

function endsOf(place: Place, kind: End['kind'], channel: string): End[] {
  return [...place.ends].filter((end) => end.kind === kind && (end.channel === channel || place.fault === 'has one channel'));
}

function endsNamed(place: Place, channel: string, name: string): End[] {
  const ends = endsOf(place, 'attachment', channel);
  if (place.fault === 'answers any address') return ends;
  if (place.fault === 'answers every address with that prefix') return ends.filter((end) => end.name.startsWith(name));
  if (place.fault === 'keeps names in an object') {
    const byName: Record<string, End> = {};
    for (const end of ends) byName[end.name] = end;
    return Object.hasOwn(byName, name) ? [byName[name] as End] : [];
  }
  const named = ends.filter((end) => end.name === name);
  return place.fault === 'prefers the oldest of one name' ? named.slice(0, 1) : named.slice(-1);
}

function post(place: Place, from: End, body: string, to: readonly End[]): void {
  const { fault } = place;
  if (fault !== 'has no limit') assertMessage(body);
  if (!place.ends.has(from)) return;
  if (to.length === 0 && fault === 'throws for a peer that is gone') throw new OplusError('TRANSPORT_CLOSED', 'nobody there');
  place.sentCount += 1;
  const isHundredth = place.sentCount % 100 === 0;
  if (isHundredth && fault === 'loses every hundredth message') return;
  const carried = fault === 'cuts at a line feed' ? (body.split('\n')[0] ?? '') : body;
  const deliver = (): void => {
    for (const end of to) {
      if (place.ends.has(end)) end.hear(fault === 'hides the sender' ? 'somebody' : from.name, carried);
    }
  };
  if (fault === 'delivers synchronously') return deliver();
  setImmediate(deliver);
  if (isHundredth && fault === 'doubles every hundredth message') setImmediate(deliver);
}
