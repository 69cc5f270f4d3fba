/**
 * A y-websocket server, by the documentation of y-protocols: one document in memory; sync step 1 is answered, and every update
 * is sent to every connection. Runs as a process of its own, tells its port to its parent and ends with it.
 */
import type { AddressInfo } from 'node:net';

import * as decoding from 'lib0/decoding';
import * as encoding from 'lib0/encoding';
import type { RawData, WebSocket } from 'ws';
import { WebSocketServer } from 'ws';
import * as sync from 'y-protocols/sync';
import * as Y from 'yjs';

const MESSAGE_SYNC = 0;

const document = new Y.Doc();
const sockets = new Set<WebSocket>();
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });

function message(write: (encoder: encoding.Encoder) => void): Uint8Array {
  const encoder = encoding.createEncoder();
  encoding.writeVarUint(encoder, MESSAGE_SYNC);
  write(encoder);
  return encoding.toUint8Array(encoder);
}

document.on('update', (update: Uint8Array) => {
  const bytes = message((encoder) => sync.writeUpdate(encoder, update));
  for (const socket of sockets) socket.send(bytes);
});

server.on('connection', (socket) => {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  socket.on('message', (data: RawData) => {
    const decoder = decoding.createDecoder(new Uint8Array(data as Buffer));
    if (decoding.readVarUint(decoder) !== MESSAGE_SYNC) return; // awareness: nobody is shown here
    const answer = message((encoder) => sync.readSyncMessage(decoder, encoder, document, socket));
    if (answer.length > 1) socket.send(answer);
  });
  socket.send(message((encoder) => sync.writeSyncStep1(encoder, document)));
});

server.on('listening', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
