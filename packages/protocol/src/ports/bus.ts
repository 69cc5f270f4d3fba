/**
 * Port `Bus`: addressed datagrams between workers and the coordinator of a channel, and announcements to everybody.
 *
 * Best effort by contract: a message may be lost, doubled or overtaken, never altered. Nothing that counts rests on it:
 * workers re-send until answered, followers notice gaps by digest. Delivery is asynchronous, never inside the caller's stack.
 * The sender's name is what the transport vouches for, and an answer goes to an address computed from that name.
 *
 * The quiet case is part of the contract: once `serve`, `attach` and `listen` have resolved, and while nothing fails and nobody
 * is overrun, what is sent arrives, once. Bodies are well-formed Unicode of at most `MESSAGE_BYTES_MAX` bytes; a larger or
 * ill-formed one is refused with `USAGE`, and so is a name outside `ADDRESS_PATTERN`. Callbacks must not throw.
 */

/** Channel and sender names: 1 to 64 characters of `a-z`, `0-9`, `-` and `_` (one NATS subject token). */
export const ADDRESS_PATTERN: RegExp = /^[a-z0-9_-]{1,64}$/;

/** Largest message, in UTF-8 bytes. An announcement carries a log record, hence the margin above `LOG_BODY_BYTES_MAX`. */
export const MESSAGE_BYTES_MAX = 786_432;

export interface Closable {
  /** Idempotent. After it resolves no callback of this object runs any more. */
  close(): Promise<void>;
}

/**
 * The coordinator's end of a channel. `send` and `announce` never throw for a peer that is gone, nor after `close`: the message is
 * lost. They throw `USAGE` for a name or body that no peer could get.
 */
export interface ChannelServer extends Closable {
  send(to: string, body: string): void;
  announce(body: string): void;
}

/** A worker's end of a channel. `send` after `close`, or while nobody serves, is a lost message. */
export interface Attachment extends Closable {
  send(body: string): void;
}

/** `close` closes every end that was opened through this object. The three others then reject with `TRANSPORT_CLOSED`. */
export interface Bus extends Closable {
  /**
   * Takes every message of the channel. `from` is the name under which the sender attached. While a channel is being taken over two
   * may serve it, and each gets every message; a transport that allows one server only refuses the second with `PORT_BUSY`.
   */
  serve(channel: string, onMessage: (from: string, body: string) => void): Promise<ChannelServer>;
  /**
   * Speaks under the name `as` and hears what the server sends to that name. Works before anybody serves. Of several under one
   * name the newest hears; whether the older ones still do is up to the transport.
   */
  attach(channel: string, as: string, onMessage: (body: string) => void): Promise<Attachment>;
  /** Hears every announcement from now on, of this channel and by whoever serves it. Works before anybody serves. */
  listen(channel: string, onAnnouncement: (body: string) => void): Promise<Closable>;
}
