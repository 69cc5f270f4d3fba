/**
 * A bus inside one process. Everything sent in one turn of the event loop is delivered together, in order, in one later macrotask.
 *
 * Batching is what makes it cheap: one `setImmediate` for a thousand messages, and bodies pass by reference because strings
 * cannot be changed. It never loses, doubles or overtakes; code that relies on that is wrong on every other bus.
 */
import { OplusError } from '@oplus/core';
import { assertAddress, assertMessage } from '@oplus/protocol';
import type { Bus, Closable } from '@oplus/protocol';

/** Where buses meet. Buses on different hubs do not hear each other. */
export interface MemoryHub {
  /** A bus on this hub. */
  open(): Bus;
}

/** A hub of its own, for several buses that have to be closed one by one. */
export function memoryHub(): MemoryHub {
  const place = emptyPlace();
  return { open: () => openBus(place) };
}

/** A bus on a hub of its own. Of several attachments under one name on one channel the newest speaks and hears, the older ones are detached. */
export function memoryBus(): Bus {
  return memoryHub().open();
}

/** One channel and who is there now. */
type Channel = {
  readonly name: string;
  readonly servers: Set<Server>;
  readonly attachments: Map<string, Ear>;
  readonly listeners: Set<Ear>;
};
type Server = { isOpen: boolean; readonly onMessage: (from: string, body: string) => void };
type Ear = { isOpen: boolean; readonly hear: (body: string) => void };

/** `name` is the sender of a `message`, and the receiver of an `answer`. Who hears it is found at delivery. */
type Parcel = {
  readonly kind: 'message' | 'answer' | 'announcement';
  readonly channel: Channel;
  readonly name: string;
  readonly body: string;
};

interface Place {
  channelOf(name: string): Channel;
  /** Forgets a channel on which nobody is left. */
  release(channel: Channel): void;
  /** Delivers after this turn. */
  post(parcel: Parcel): void;
}

function emptyPlace(): Place {
  const channels = new Map<string, Channel>();
  let waiting: Parcel[] = [];

  const drain = (): void => {
    const batch = waiting;
    waiting = [];
    let delivered = 0;
    try {
      while (delivered < batch.length) {
        delivered += 1;
        deliver(batch[delivered - 1] as Parcel);
      }
    } finally {
      // A callback threw, which is an uncaught exception of its owner; the others still get theirs.
      if (delivered < batch.length) {
        if (waiting.length === 0) setImmediate(drain);
        waiting = [...batch.slice(delivered), ...waiting];
      }
    }
  };

  return {
    channelOf(name) {
      let channel = channels.get(name);
      if (channel === undefined) {
        channel = { name, servers: new Set(), attachments: new Map(), listeners: new Set() };
        channels.set(name, channel);
      }
      return channel;
    },
    release(channel) {
      if (channel.servers.size + channel.attachments.size + channel.listeners.size === 0) channels.delete(channel.name);
    },
    post(parcel) {
      if (waiting.length === 0) setImmediate(drain);
      waiting.push(parcel);
    },
  };
}

function openBus(place: Place): Bus {
  const closes = new Set<Closable['close']>();
  let isClosed = false;

  const assertOpen = (): void => {
    if (isClosed) throw new OplusError('TRANSPORT_CLOSED', 'the bus is closed');
  };
  const ending = (end: { isOpen: boolean }, leave: () => void): Closable['close'] => {
    const close = async (): Promise<void> => {
      closes.delete(close);
      if (!end.isOpen) return;
      end.isOpen = false;
      leave();
    };
    closes.add(close);
    return close;
  };

  return {
    async serve(name, onMessage) {
      assertOpen();
      assertAddress('channel', name);
      const channel = place.channelOf(name);
      const server: Server = { isOpen: true, onMessage };
      channel.servers.add(server);
      return {
        send(to, body) {
          if (!channel.attachments.has(to)) assertAddress('sender', to);
          assertMessage(body);
          if (server.isOpen) place.post({ kind: 'answer', channel, name: to, body });
        },
        announce(body) {
          assertMessage(body);
          if (server.isOpen) place.post({ kind: 'announcement', channel, name: '', body });
        },
        close: ending(server, () => {
          channel.servers.delete(server);
          place.release(channel);
        }),
      };
    },
    async attach(name, as, onMessage) {
      assertOpen();
      assertAddress('channel', name);
      assertAddress('sender', as);
      const channel = place.channelOf(name);
      const end: Ear = { isOpen: true, hear: onMessage };
      const older = channel.attachments.get(as);
      if (older !== undefined) older.isOpen = false;
      channel.attachments.set(as, end);
      return {
        send(body) {
          assertMessage(body);
          if (end.isOpen) place.post({ kind: 'message', channel, name: as, body });
        },
        close: ending(end, () => {
          // Never reached by an older one: it stopped being open when this one took its name.
          channel.attachments.delete(as);
          place.release(channel);
        }),
      };
    },
    async listen(name, onAnnouncement) {
      assertOpen();
      assertAddress('channel', name);
      const channel = place.channelOf(name);
      const end: Ear = { isOpen: true, hear: onAnnouncement };
      channel.listeners.add(end);
      return {
        close: ending(end, () => {
          channel.listeners.delete(end);
          place.release(channel);
        }),
      };
    },
    async close() {
      isClosed = true;
      await Promise.all([...closes].map((close) => close()));
    },
  };
}

function deliver({ kind, channel, name, body }: Parcel): void {
  if (kind === 'message') {
    for (const server of channel.servers) server.onMessage(name, body);
  } else if (kind === 'answer') {
    channel.attachments.get(name)?.hear(body);
  } else {
    for (const listener of channel.listeners) listener.hear(body);
  }
}
