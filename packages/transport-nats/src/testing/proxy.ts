/**
 * A relay on loopback in front of a broker, which can hold back what flows in one direction, or break the link.
 */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** `up`: from the client to the broker; `down`: back. */
export type Direction = 'up' | 'down';

export type Proxy = {
  readonly url: string;
  /** From now on keeps what flows that way. */
  hold(direction: Direction): void;
  /** Passes on what was kept, and everything after it. */
  release(direction: Direction): void;
  /** Breaks every link. What was kept upwards still reaches the broker when `isLate`, as a slow network may do. */
  sever(isLate: boolean): void;
  close(): Promise<void>;
};

/** Opens a relay to the broker at `url`. */
export async function openProxy(url: string): Promise<Proxy> {
  const target = new URL(url);
  const isHeld = { up: false, down: false };
  const links = new Set<{ client: Socket; broker: Socket; kept: Record<Direction, Buffer[]> }>();

  const server = createServer((client) => {
    const broker = connect({ host: target.hostname, port: Number(target.port) });
    const link = { client, broker, kept: { up: [] as Buffer[], down: [] as Buffer[] } };
    links.add(link);
    const relay = (from: Socket, to: Socket, direction: Direction): void => {
      from.on('data', (chunk: Buffer) => {
        if (isHeld[direction]) link.kept[direction].push(chunk);
        else to.write(chunk);
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        links.delete(link);
        to.end();
      });
    };
    relay(client, broker, 'up');
    relay(broker, client, 'down');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold: (direction) => {
      isHeld[direction] = true;
    },
    release: (direction) => {
      isHeld[direction] = false;
      for (const { client, broker, kept } of links) {
        for (const chunk of kept[direction].splice(0)) (direction === 'up' ? broker : client).write(chunk);
      }
    },
    sever: (isLate) => {
      for (const { client, broker, kept } of links) {
        if (isLate) for (const chunk of kept.up.splice(0)) broker.write(chunk);
        client.destroy();
      }
    },
    close: () =>
      new Promise((resolve) => {
        for (const { client, broker } of links) {
          client.destroy();
          broker.destroy();
        }
        server.close(() => resolve());
      }),
  };
}
