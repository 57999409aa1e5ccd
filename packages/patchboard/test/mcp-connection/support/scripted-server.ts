import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { aWebServer, readBody, type WebServer } from './web-server.ts';

type Json = Readonly<Record<string, unknown>>;

export interface Received {
  readonly id: unknown;
  readonly method: string;
  readonly params: Json;
  readonly headers: IncomingHttpHeaders;
}

/** Responds to `tools/call` of one tool. */
export type Respond = (response: ServerResponse, received: Received) => void;

/** An HTTP server of 2026-07-28 whose tools respond as a test says: also in ways that the SDK's server never does. */
export class ScriptedServer {
  readonly received: Received[] = [];
  readonly tools: Record<string, Respond>;
  discovery: Json = {};
  /** Handles a request before the rest: return true if it responded. */
  first: (response: ServerResponse, received: Received) => boolean = () => false;
  #server: WebServer | null = null;

  constructor(tools: Record<string, Respond> = {}) {
    this.tools = tools;
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  async listen(): Promise<this> {
    const port = this.#server === null ? 0 : Number(new URL(this.url).port);
    this.#server = await aWebServer(async (request, response) => {
      if (request.method !== 'POST') return response.writeHead(405).end();
      const {
        id,
        method,
        params = {},
      } = JSON.parse(await readBody(request)) as Partial<Received> & Pick<Received, 'id' | 'method'>;
      const received = { id, method, params, headers: request.headers };
      this.received.push(received);
      if (this.first(response, received)) return undefined;
      return this.#respond(response, received);
    }, port);
    return this;
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  calls(name: string): number {
    return this.received.filter(({ method, params }) => method === 'tools/call' && params['name'] === name)
      .length;
  }

  #respond(response: ServerResponse, received: Received): void {
    const { id, method, params } = received;
    if (method === 'server/discover') return sendResult(response, id, { ...DISCOVERY, ...this.discovery });
    if (method === 'tools/list')
      return sendResult(response, id, {
        tools: Object.keys(this.tools).map((name) => ({ name, inputSchema: { type: 'object' } })),
      });
    if (method === 'tools/call') return this.tools[String(params['name'])]?.(response, received);
    const error = { code: -32_601, message: 'Method not found' };
    return send(response, 404, { jsonrpc: '2.0', id, error });
  }
}

const DISCOVERY = {
  resultType: 'complete',
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  ttlMs: 3_600_000,
  cacheScope: 'public',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'scripted', version: '1.0' } },
};

export function sendResult(response: ServerResponse, id: unknown, result: Json): void {
  send(response, 200, { jsonrpc: '2.0', id, result });
}

export function send(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Begins an event stream. The returned function sends one event. */
export function stream(response: ServerResponse): (message: Json) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  return (message) => void response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}
