/**
 * Yjs over y-websocket: a document and a provider per writer, our own server by the documentation of y-protocols.
 *
 * A CRDT cannot refuse: a writer checks its patch on its own replica, and what others did at the same time merges in. The
 * bench counts what that breaks. Yjs acknowledges nothing either, so a patch counts as committed when a further replica,
 * the witness, shows it: by then the server has it and has sent it to everybody.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { WebSocket } from 'ws';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';

import type { Patch } from '../board.ts';
import { initialBoard, refusalOf } from '../board.ts';
import type { Answer, Contender, Session, Writer } from '../contender.ts';
import { cpuMsOfTree, createWireMeter } from '../instruments.ts';
import { serving } from '../replica.ts';
import { loadYjsBoard, openYjsBoard } from './yjs-board.ts';

export const yjs: Contender = {
  name: 'yjs',
  description:
    'Yjs over y-websocket, a document per writer; nothing can be refused, a commit counts when another replica shows it',
  durability: 'none',
  missing: () => undefined,
  open: async ({ writerCount }) => {
    const server = fork(serverFile(), { execArgv: process.execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    process.setMaxListeners(writerCount + 20); // every provider adds a listener for the end of the process
    const wire = createWireMeter();
    const providers: WebsocketProvider[] = [];
    const close = async (): Promise<void> => {
      for (const provider of providers) provider.destroy();
      server.kill();
      if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
      wire.close();
    };
    try {
      const [{ port }] = (await once(server, 'message')) as [{ readonly port: number }];
      const join = async (): Promise<Y.Doc> => {
        const document = new Y.Doc();
        // Without the switch, providers of one process would talk past the server.
        const polyfill = WebSocket as unknown as typeof globalThis.WebSocket;
        const provider = new WebsocketProvider(`ws://127.0.0.1:${port}`, 'board', document, {
          WebSocketPolyfill: polyfill,
          disableBc: true,
        });
        providers.push(provider);
        await new Promise<void>((resolve) => provider.once('sync', () => resolve()));
        return document;
      };
      const witness = createWitness(await join());
      loadYjsBoard(witness.document, initialBoard());
      const writers: Writer[] = [];
      for (let index = 0; index < writerCount; index += 1) {
        const document = await join();
        const { view, board, apply } = openYjsBoard(document);
        const commit = async (patch: Patch): Promise<Answer> => {
          if (refusalOf(view, patch) !== undefined) return { outcome: 'refused', retryCount: 0 };
          apply(patch);
          await witness.shows(document);
          return { outcome: 'committed', retryCount: 0 };
        };
        writers.push({ view: () => view, board, commit });
      }
      const session: Session = {
        writer: (index) => serving(writers, index),
        finalState: () => Promise.resolve(openYjsBoard(witness.document).board()),
        cpuMs: cpuMsOfTree,
        bytesOnWire: wire.bytes,
        close,
      };
      return session;
    } catch (error) {
      await close();
      throw error;
    }
  },
};

/** Run from source or built, the server is the file beside this one. */
function serverFile(): string {
  const own = fileURLToPath(import.meta.url);
  const extension = extname(own);
  return `${own.slice(0, -extension.length)}-server${extension}`;
}

type Witness = {
  readonly document: Y.Doc;
  /** Resolves when the witness has everything that `author` has written so far. One wait per author at a time. */
  readonly shows: (author: Y.Doc) => Promise<void>;
};

function createWitness(document: Y.Doc): Witness {
  const waits = new Map<number, { readonly clock: number; readonly resolve: () => void }>();
  document.on('update', () => {
    for (const [author, wait] of waits) {
      if (Y.getState(document.store, author) < wait.clock) continue;
      waits.delete(author);
      wait.resolve();
    }
  });
  return {
    document,
    shows: (author) =>
      new Promise((resolve) => {
        waits.set(author.clientID, { clock: Y.getState(author.store, author.clientID), resolve });
      }),
  };
}
