/**
 * Port `Bus` over NATS core subjects (subjects.ts).
 *
 * The sender's name is the last token of the subject it published to, which the broker's permissions hold (permissions.ts); an answer
 * goes to a subject computed from that name. A reply address is never used: a message that carries one is dropped, and so is one with headers, since we
 * send none and some (`Nats-Trace-Dest`) make the server itself publish elsewhere.
 *
 * Nothing waits here: subscriptions call back from the socket, a publish is a write into a buffer, and while the link is down messages are lost.
 */
import { OplusError } from '@oplus/core';
import { ADDRESS_PATTERN, MESSAGE_BYTES_MAX, assertAddress, assertMessage } from '@oplus/protocol';
import type { Attachment, Bus, ChannelServer, Closable } from '@oplus/protocol';
import type { Msg, Subscription } from '@nats-io/nats-core';
import { LinkLost, brokerError } from './broker-error.ts';
import type { BrokerConnection } from './connection.ts';
import { announceSubject, assertName, downSubject, upPrefix } from './subjects.ts';

/** Why a message was not delivered: what came in and was refused, or `unsent` while the link was down. */
export type LossReason = 'reply' | 'headers' | 'name' | 'size' | 'encoding' | 'unsent';

/** A bus that counts what it dropped. */
export interface NatsBus extends Bus {
  /** Messages dropped since the bus was opened, by reason. */
  losses(): Readonly<Record<LossReason, number>>;
}

/** Opens a bus. The connection stays open after `close`. Throws `USAGE` for a namespace that is no token. */
export function natsBus(connection: BrokerConnection, options: { readonly namespace: string }): NatsBus {
  const { namespace } = options;
  assertName('namespace', namespace);
  const counts: Record<LossReason, number> = { reply: 0, headers: 0, name: 0, size: 0, encoding: 0, unsent: 0 };
  const ends = new Set<Closable>();
  let isOpen = true;

  const publish = (subject: string, body: string): void => {
    if (!isOpen || !connection.isUp()) {
      counts.unsent += 1;
      return;
    }
    connection.client.publish(subject, body);
  };

  const hear = async (subject: string, onBody: (msg: Msg, body: string) => void): Promise<Closable> => {
    assertOpen();
    let isHearing = true;
    let refusal: Error | undefined;
    const subscription = connection.client.subscribe(subject, {
      callback: (error, msg) => {
        if (error !== null) {
          refusal = error;
          return;
        }
        if (!isHearing) return;
        const body = bodyOf(msg, counts);
        if (body !== undefined) callOutside(() => onBody(msg, body));
      },
    });
    const end: Closable = {
      async close() {
        isHearing = false;
        ends.delete(end);
        unsubscribe(subscription);
      },
    };
    ends.add(end);
    try {
      // The broker handles commands in order: when it answers the ping it has the subscription, or has refused it.
      await connection.ask(`no subscription to ${subject}`, () => connection.client.flush().catch(loseLink));
      if (refusal !== undefined) throw brokerError(refusal, `no subscription to ${subject}`);
      assertOpen();
    } catch (error) {
      await end.close();
      throw error;
    }
    return end;
  };

  function assertOpen(): void {
    if (!isOpen || connection.client.isClosed()) throw new OplusError('TRANSPORT_CLOSED', 'the bus was closed');
  }

  return {
    losses: () => ({ ...counts }),
    async serve(channel, onMessage): Promise<ChannelServer> {
      assertAddress('channel', channel);
      const prefix = upPrefix(namespace, channel);
      let isServing = true;
      const end = await hear(`${prefix}*`, (msg, body) => {
        const from = msg.subject.slice(prefix.length);
        if (ADDRESS_PATTERN.test(from)) onMessage(from, body);
        else counts.name += 1;
      });
      const announcements = announceSubject(namespace, channel);
      return {
        send(to, body) {
          assertAddress('sender', to);
          assertMessage(body);
          if (isServing) publish(downSubject(namespace, channel, to), body);
        },
        announce(body) {
          assertMessage(body);
          if (isServing) publish(announcements, body);
        },
        async close() {
          isServing = false;
          await end.close();
        },
      };
    },
    async attach(channel, as, onMessage): Promise<Attachment> {
      assertAddress('channel', channel);
      assertAddress('sender', as);
      const up = `${upPrefix(namespace, channel)}${as}`;
      let isAttached = true;
      const end = await hear(downSubject(namespace, channel, as), (_, body) => onMessage(body));
      return {
        send(body) {
          assertMessage(body);
          if (isAttached) publish(up, body);
        },
        async close() {
          isAttached = false;
          await end.close();
        },
      };
    },
    async listen(channel, onAnnouncement): Promise<Closable> {
      assertAddress('channel', channel);
      return hear(announceSubject(namespace, channel), (_, body) => onAnnouncement(body));
    },
    async close() {
      isOpen = false;
      await Promise.all([...ends].map((end) => end.close()));
    },
  };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function bodyOf(msg: Msg, counts: Record<LossReason, number>): string | undefined {
  const reason = refusalOf(msg);
  if (reason === undefined) {
    try {
      return decoder.decode(msg.data);
    } catch {
      // Not UTF-8: refused below, never repaired.
    }
  }
  counts[reason ?? 'encoding'] += 1;
  return undefined;
}

function refusalOf(msg: Msg): LossReason | undefined {
  if (msg.reply !== undefined && msg.reply !== '') return 'reply';
  if (msg.headers !== undefined) return 'headers';
  return msg.data.length > MESSAGE_BYTES_MAX ? 'size' : undefined;
}

/** A callback must not throw; if it does, the error must not end the client's read loop, which would make it deaf without a word. */
function callOutside(call: () => void): void {
  try {
    call();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** A flush fails only when the link breaks under it, and the subscription is made again with the next link. */
function loseLink(error: unknown): never {
  throw new LinkLost('the link broke while subscribing', { cause: error });
}

function unsubscribe(subscription: Subscription): void {
  if (!subscription.isClosed()) subscription.unsubscribe();
}
