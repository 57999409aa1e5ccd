import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http';

/** Posts and expects a 2xx. */
export async function postJson(url: string, body: unknown): Promise<void> {
  const { origin, pathname } = new URL(url);
  const connection = new Connections(origin);
  try {
    await connection.post(pathname, body);
  } finally {
    connection.close();
  }
}

/** Requests over a fixed number of keep-alive connections, one at a time on each: the cheapest possible client. */
export class Connections {
  readonly #origin: string;
  readonly #agent: Agent;

  constructor(origin: string, count: number = 1) {
    this.#origin = origin;
    this.#agent = new Agent({ keepAlive: true, maxSockets: count });
  }

  async get(path: string): Promise<void> {
    await this.#send(path, { method: 'GET' }, '');
  }

  async post(path: string, body: unknown, more: Readonly<Record<string, string>> = {}): Promise<void> {
    const text = JSON.stringify(body);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...more,
    };
    await this.#send(path, { method: 'POST', headers }, text);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send(path: string, options: RequestOptions, body: string): Promise<void> {
    const sent = request(`${this.#origin}${path}`, { ...options, agent: this.#agent });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 299)
      throw new Error(`${path} returned ${status}: ${Buffer.concat(chunks).toString()}`);
  }
}
