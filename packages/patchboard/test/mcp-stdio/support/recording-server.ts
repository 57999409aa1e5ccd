import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import type { Message } from './a-bridge.ts';

/** One request to `/mcp`, as the server got it. */
export interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Message;
  readonly response: ServerResponse;
  /** Whether the client closed the connection before the response ended. */
  hungUp: boolean;
}

export interface RecordingServer {
  readonly url: string;
  readonly requests: readonly Recorded[];
  /** Resolves to the first request that matches. */
  got(matches: (request: Recorded) => boolean): Promise<Recorded>;
  close(): Promise<void>;
}

export type Respond = (request: Recorded) => void;

/** A server at `/mcp` that records what it gets. Leaves the first `silentHealthChecks` requests of /healthz without a response. */
export async function recordingServer(
  respond: Respond,
  port = 0,
  { silentHealthChecks = 0 }: { readonly silentHealthChecks?: number } = {},
): Promise<RecordingServer> {
  const requests: Recorded[] = [];
  let healthChecks = 0;
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    if (url === '/healthz') {
      healthChecks += 1;
      if (healthChecks > silentHealthChecks) response.end('{"status":"ok","version":"0.0.0"}');
      return;
    }
    text(request)
      .then((body) => {
        const message = (body === '' ? {} : JSON.parse(body)) as Message;
        const recorded: Recorded = { method, url, headers, body: message, response, hungUp: false };
        response.once('close', () => (recorded.hungUp = !response.writableFinished));
        requests.push(recorded);
        respond(recorded);
      })
      .catch((error: Error) => response.destroy(error));
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await once(server.close(), 'close');
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    got: (matches) =>
      waitFor(() => {
        const found = requests.find(matches);
        if (found === undefined) throw new Error(`not among ${requests.length} requests`);
        return found;
      }),
    close,
  };
}

export function sendResult({ response, body }: Recorded, result: unknown, headers = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: body.id, result }));
}

export function sendError({ response, body }: Recorded, status: number, code: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: body.id ?? null, error: { code, message } }));
}

export function openStream({ response }: Recorded, headers = {}): (message: unknown) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
  response.write(': open\n\n');
  return (message) => void response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

export function accept({ response }: Recorded): void {
  response.writeHead(202).end();
}
