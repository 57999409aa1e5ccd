import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

/** A request with exactly these headers: `fetch` would not let `Host`, `Origin` or `Sec-Fetch-Site` be set. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is, anything else as JSON; `application/json` unless a header says otherwise. */
  readonly body?: unknown;
}

export interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

/** The failure code in a problem, or in the data of a JSON-RPC error; null if there is none. */
export function codeIn({ json }: Pick<TestResponse, 'json'>): string | null {
  const { code, error } = json as { code?: string; error?: { data?: { code?: string } } };
  return code ?? error?.data?.code ?? null;
}

/** Sends one request on a new connection. An endless response is closed after its headers. */
export async function ask(port: number, asked: Asked): Promise<TestResponse> {
  const response = await open(port, asked);
  const isStream = (response.headers['content-type'] ?? '').startsWith('text/event-stream');
  if (isStream) response.destroy();
  const text = isStream ? '' : await textOf(response);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    json: /json(;|$)/.test(response.headers['content-type'] ?? '') && text !== '' ? JSON.parse(text) : null,
  };
}

/** Resolves to the response once its headers have arrived. */
export async function open(port: number, asked: Asked): Promise<IncomingMessage> {
  const { method, path, headers = {}, body } = asked;
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const sent = request({
    host: '127.0.0.1',
    port,
    method,
    path,
    agent: false,
    headers: {
      ...(text === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }),
      ...headers,
    },
  });
  const received = once(sent, 'response') as Promise<[IncomingMessage]>;
  sent.end(text);
  const [response] = await received;
  return response;
}

export async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
