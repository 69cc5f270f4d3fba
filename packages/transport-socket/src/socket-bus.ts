/**
 * A bus over a local socket, for several processes of one user on one machine.
 *
 * One bus at a path serves (the first `serve` opens the hub, the last close of a channel ends it); any number attach, from any
 * process. The name of a sender is what it claims when it attaches: the trust boundary is the user, whom the folder's mode
 * lets in alone. Of several under one name the newest speaks and hears.
 */
import { OplusError } from '@oplus/core';
import { assertAddress, assertMessage } from '@oplus/protocol';
import type { Bus, Closable } from '@oplus/protocol';
import { openClient } from './client.ts';
import type { Client, ClientEnd } from './client.ts';
import { openHub } from './hub.ts';
import type { Hub } from './hub.ts';

/**
 * A bus at `path`: a file name in a folder of mode 0700 that is or will be ours, at most 103 bytes (`socketPathOf` gives one), or a named pipe of Windows.
 * `serve` throws `PORT_BUSY` when another bus serves at the path, whatever channel; all three throw `USAGE` for a path that cannot be used.
 */
export function socketBus(path: string): Bus {
  const closables = new Set<Closable>();
  const listeners = new Map<string, Listening>();
  let client: Client | undefined;
  let hub: Hub | undefined;
  let servedCount = 0;
  let turn: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const assertOpen = (): void => {
    if (isClosed) throw new OplusError('TRANSPORT_CLOSED', `the bus at ${path} is closed`, { path });
  };
  /** Opening and closing the hub wait for each other. */
  const inTurn = <T>(action: () => Promise<T>): Promise<T> => {
    const result = turn.then(action);
    turn = result.catch(() => undefined);
    return result;
  };
  const closing = (leave: () => Promise<void> | void): Closable => {
    let closed: Promise<void> | undefined;
    const closable: Closable = {
      close() {
        closed ??= (async () => {
          closables.delete(closable);
          await leave();
        })();
        return closed;
      },
    };
    closables.add(closable);
    return closable;
  };
  const openEnd = async (kind: 'attach' | 'listen', address: string, hear: (body: string) => void): Promise<ClientEnd> => {
    client ??= openClient(path);
    const end = await client.open(kind, address, hear);
    if (isClosed) end.close();
    assertOpen();
    return end;
  };

  return {
    async serve(channel, onMessage) {
      assertOpen();
      assertAddress('channel', channel);
      const [served, takeBack] = await inTurn(async () => {
        assertOpen();
        if (hub?.isServed(channel) === true) {
          throw new OplusError('PORT_BUSY', `this bus serves ${channel} already`, {
            path,
            hint: 'close the first server of the channel',
          });
        }
        const opened = hub ?? (await openHub(path));
        if (isClosed && hub === undefined) await opened.close();
        assertOpen();
        hub = opened;
        servedCount += 1;
        return [opened, opened.serve(channel, onMessage)] as const;
      });
      let isServing = true;
      const { close } = closing(() => {
        isServing = false;
        takeBack();
        return inTurn(async () => {
          servedCount -= 1;
          if (servedCount > 0) return;
          hub = undefined;
          await served.close();
        });
      });
      return {
        send(to, body) {
          assertAddress('sender', to);
          assertMessage(body);
          if (isServing) served.send(channel, to, body);
        },
        announce(body) {
          assertMessage(body);
          if (isServing) served.announce(channel, body);
        },
        close,
      };
    },
    async attach(channel, as, onMessage) {
      assertOpen();
      assertAddress('channel', channel);
      assertAddress('sender', as);
      const end = await openEnd('attach', `${channel} ${as}`, onMessage);
      return {
        send(body) {
          assertMessage(body);
          end.send(body);
        },
        ...closing(() => end.close()),
      };
    },
    async listen(channel, onAnnouncement) {
      assertOpen();
      assertAddress('channel', channel);
      // One end for all listeners of a channel: an announcement crosses the socket once per bus.
      const existing = listeners.get(channel);
      const hearers = existing?.hearers ?? new Set();
      const listening = existing ?? {
        hearers,
        end: openEnd('listen', channel, (body) => {
          for (const hear of hearers) hear(body);
        }),
      };
      listeners.set(channel, listening);
      const hearer = (body: string): void => onAnnouncement(body);
      hearers.add(hearer);
      const leave = async (): Promise<void> => {
        hearers.delete(hearer);
        if (hearers.size > 0 || listeners.get(channel) !== listening) return;
        listeners.delete(channel);
        (await listening.end).close();
      };
      try {
        await listening.end;
      } catch (error) {
        hearers.delete(hearer);
        if (listeners.get(channel) === listening) listeners.delete(channel);
        throw error;
      }
      return closing(leave);
    },
    async close() {
      isClosed = true;
      await Promise.all([...closables].map((closable) => closable.close()));
      await turn;
      await client?.close();
    },
  };
}

type Listening = { readonly hearers: Set<(body: string) => void>; readonly end: Promise<ClientEnd> };
