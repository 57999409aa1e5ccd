import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';

export interface WebServer {
  readonly url: string;
  /** Ends all connections and stops to listen. */
  stop(): Promise<void>;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A server on a port of the system's choice, or on a given one, until the test ends. */
export async function aWebServer(handler: Handler, port = 0): Promise<WebServer> {
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => void server.listen(port, '127.0.0.1', resolve));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => void server.close(resolve));
  };
  onTestFinished(stop);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, stop };
}

/** A server whose handler is that of a web-standard server, as the SDK has it. */
export async function aFetchServer(fetch: (request: Request) => Promise<Response>): Promise<WebServer> {
  return await aWebServer(async (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const body = await readBody(incoming);
    const request = new Request(`http://${incoming.headers.host ?? ''}${incoming.url ?? ''}`, {
      method: incoming.method ?? 'GET',
      headers: incoming.headers as Record<string, string>,
      body: incoming.method === 'POST' ? body : null,
      signal: gone.signal,
    });
    const response = await fetch(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    if (response.body === null) return outgoing.end();
    const stream = Readable.fromWeb(response.body as never);
    stream.on('error', () => outgoing.destroy());
    return stream.pipe(outgoing);
  });
}

export async function readBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}
