/**
 * A server of chat completions on loopback, for tests. It answers what a test tells it to, and keeps what it was asked.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type MockRequest = {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly response_format?: {
      readonly type: string;
      readonly json_schema?: { readonly name: string; readonly strict: boolean; readonly schema: unknown };
    };
    readonly [key: string]: unknown;
  };
};

/** `silent` sends nothing, or nothing after the headers; `broken` cuts the connection. */
export type MockReply =
  | { readonly status?: number; readonly headers?: { readonly [name: string]: string }; readonly body: unknown }
  | { readonly silent: 'at once' | 'after headers' }
  | { readonly broken: true };

export type MockServer = { readonly baseURL: string; readonly requests: readonly MockRequest[]; close(): Promise<void> };

/** Serves until closed. `reply` gets each request and its number, counted from 0. */
export async function mockServer(reply: (request: MockRequest, index: number) => MockReply): Promise<MockServer> {
  const requests: MockRequest[] = [];
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk: string) => {
      text += chunk;
    });
    incoming.on('end', () => {
      const request: MockRequest = {
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: JSON.parse(text) as MockRequest['body'],
      };
      requests.push(request);
      send(response, reply(request, requests.length - 1));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A completion with that text. */
export function completion(
  content: unknown,
  over: { readonly finish?: string; readonly refusal?: string; readonly usage?: unknown } = {},
): MockReply {
  return {
    body: {
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'mock',
      choices: [
        {
          index: 0,
          finish_reason: over.finish ?? 'stop',
          message: { role: 'assistant', content, refusal: over.refusal ?? null },
        },
      ],
      ...(over.usage === undefined ? {} : { usage: over.usage }),
    },
  };
}

/** An error in the shape of the protocol. */
export function failure(
  status: number,
  message: string,
  over: { readonly code?: string; readonly param?: string; readonly headers?: { readonly [name: string]: string } } = {},
): MockReply {
  return {
    status,
    ...(over.headers === undefined ? {} : { headers: over.headers }),
    body: { error: { message, type: 'error', code: over.code ?? null, param: over.param ?? null } },
  };
}

function send(response: ServerResponse, reply: MockReply): void {
  if ('broken' in reply) {
    response.destroy();
    return;
  }
  if ('silent' in reply) {
    if (reply.silent === 'after headers') response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    return;
  }
  const isText = typeof reply.body === 'string';
  response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers });
  response.end(isText ? (reply.body as string) : JSON.stringify(reply.body));
}
