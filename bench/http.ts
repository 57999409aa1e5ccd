import { once } from 'node:events';
import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http';

export type Headers = Readonly<Record<string, string>>;

/** Posts, expects a 2xx and returns the text of the response. */
export async function postJson(url: string, body: unknown, headers: Headers = {}): Promise<string> {
  const { origin, pathname } = new URL(url);
  const connection = new Connections(origin);
  try {
    return await connection.post(pathname, body, headers);
  } finally {
    connection.close();
  }
}

/** Posts, expects 200, discards the body of the response and returns its length. */
export async function downloadBytes(url: string, headers: Headers): Promise<number> {
  const sent = request(url, { method: 'POST', headers });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let bytes = 0;
  for await (const chunk of response) bytes += (chunk as Buffer).length;
  if (response.statusCode !== 200) throw new Error(`${url} returned ${response.statusCode}`);
  return bytes;
}

/** Requests over a fixed number of keep-alive connections, one at a time on each: the cheapest possible client. */
export class Connections {
  readonly #origin: string;
  readonly #agent: Agent;

  constructor(origin: string, count: number = 1) {
    this.#origin = origin;
    this.#agent = new Agent({ keepAlive: true, maxSockets: count });
  }

  async get(path: string, headers: Headers = {}): Promise<string> {
    return await this.#send(path, { method: 'GET', headers }, '');
  }

  async post(path: string, body: unknown, more: Headers = {}): Promise<string> {
    const text = JSON.stringify(body);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      ...more,
    };
    return await this.#send(path, { method: 'POST', headers }, text);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #send(path: string, options: RequestOptions, body: string): Promise<string> {
    const sent = request(`${this.#origin}${path}`, { ...options, agent: this.#agent });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const status = response.statusCode ?? 0;
    const text = Buffer.concat(chunks).toString();
    if (status < 200 || status > 299) throw new Error(`${path} returned ${status}: ${text}`);
    return text;
  }
}
