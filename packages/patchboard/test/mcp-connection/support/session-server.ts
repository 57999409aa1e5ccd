import { randomUUID } from 'node:crypto';
import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { aFetchServer, type WebServer } from './web-server.ts';

/** A server of the SDK with sessions, of the older protocol versions. */
export class SessionServer {
  readonly sessions: Map<
    string,
    { readonly server: Server; readonly transport: WebStandardStreamableHTTPServerTransport }
  > = new Map();
  statusOfUnknown = 404;
  /** The session of each call. */
  readonly calls: (string | undefined)[] = [];
  tools: readonly string[] = ['ask', 'askAside', 'askLate', 'wait', 'whoami'];
  /** Lets calls of `askLate` ask, and those of `wait` end. */
  goOn: () => void = () => {};
  /** The cancellations and ends of sessions, in the order of their arrival. */
  readonly received: string[] = [];
  /** What delays cancellations on their way to the server. */
  cancelDelay: Promise<void> = Promise.resolve();
  /** How the questions of `askLate` ended. */
  readonly lateOutcomes: string[] = [];
  readonly #going: Promise<void> = new Promise((resolve) => (this.goOn = resolve));
  #server: WebServer | null = null;

  get url(): string {
    return this.#server?.url ?? '';
  }

  async listen(): Promise<this> {
    this.#server = await aFetchServer((request) => this.#fetch(request));
    return this;
  }

  async changeTools(tools: readonly string[]): Promise<void> {
    this.tools = tools;
    for (const { server } of this.sessions.values()) await server.sendToolListChanged();
  }

  async #fetch(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return await (await this.#open()).handleRequest(request);
    const body = request.method === 'POST' ? await request.clone().text() : '';
    if (body.includes('notifications/cancelled')) {
      await this.cancelDelay;
      this.received.push(`${id} cancelled`);
    } else if (request.method === 'DELETE') this.received.push(`${id} DELETE`);
    const session = this.sessions.get(id);
    return session === undefined
      ? new Response(null, { status: this.statusOfUnknown })
      : await session.transport.handleRequest(request);
  }

  async #open(): Promise<WebStandardStreamableHTTPServerTransport> {
    const server = new Server(
      { name: 'sessions', version: '1.0' },
      { capabilities: { tools: { listChanged: true } } },
    );
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void this.sessions.set(id, { server, transport }),
      onsessionclosed: (id) => void this.sessions.delete(id),
    });
    server.setRequestHandler('tools/list', () => ({
      tools: this.tools.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
    }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      this.calls.push(transport.sessionId);
      const form = {
        message: String(params.arguments?.['question']),
        requestedSchema: { type: 'object' as const, properties: {} },
      };
      // `ask` sends it on the stream of the request, `askAside` on the stream of the session.
      if (params.name === 'ask') return text(JSON.stringify(await context.mcpReq.elicitInput(form)));
      if (params.name === 'askAside') return text(JSON.stringify(await server.elicitInput(form)));
      if (params.name === 'askLate' || params.name === 'wait') await this.#going;
      if (params.name === 'askLate')
        await server.elicitInput(form).then(
          ({ action }) => this.lateOutcomes.push(action),
          (error: unknown) => this.lateOutcomes.push(String(error)),
        );
      return text(transport.sessionId ?? '');
    });
    await server.connect(transport);
    return transport;
  }
}

function text(value: string): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: value }] };
}
