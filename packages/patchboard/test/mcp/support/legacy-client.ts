import { sseDecoder } from '@patchboard/wire';
import { onTestFinished } from 'vitest';

/** A JSON-RPC message. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any;

export const ACCEPT = 'application/json, text/event-stream';

/** An HTTP response whose messages are read one by one. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** The next JSON-RPC message; null at the end. */
  next(): Promise<Json>;
  rest(): Promise<Json[]>;
  /** Closes the connection. */
  hangUp(): void;
}

export interface LegacyClient {
  readonly session: string;
  post(body: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Sends a request and returns its response, without what is sent before. */
  request(method: string, params?: object, id?: number | string): Promise<Json>;
  notify(method: string, params?: object): Promise<number>;
  listen(headers?: Record<string, string>): Promise<Reply>;
  end(): Promise<number>;
}

export const FORMS = { elicitation: {} };

/** A client of an older protocol version that has opened a session. */
export async function aLegacyClient(
  url: string,
  {
    version = '2025-11-25',
    capabilities = {},
    headers = {},
    query = '',
  }: {
    version?: string;
    capabilities?: object;
    headers?: Record<string, string>;
    query?: string;
  } = {},
): Promise<LegacyClient> {
  const at = `${url}/mcp${query}`;
  const opened = await send(at, { method: 'POST', headers, body: opening(version, capabilities) });
  const session = opened.headers.get('mcp-session-id');
  if (session === null) throw new Error(`no session: ${JSON.stringify(await opened.next())}`);
  await opened.rest();
  const own = { ...headers, 'mcp-session-id': session };
  const post = (body: unknown, more: Record<string, string> = {}): Promise<Reply> =>
    send(at, { method: 'POST', headers: { ...own, ...more }, body });
  let lastId = 0;
  return {
    session,
    post,
    request: async (method, params = {}, id = (lastId += 1)) => {
      const messages = await (await post({ jsonrpc: '2.0', id, method, params })).rest();
      return messages.at(-1);
    },
    notify: async (method, params = {}) => (await post({ jsonrpc: '2.0', method, params })).status,
    listen: (more = {}) =>
      send(at, { method: 'GET', headers: { accept: 'text/event-stream', ...own, ...more } }),
    end: async () => (await send(at, { method: 'DELETE', headers: own })).status,
  };
}

export function opening(version = '2025-11-25', capabilities: object = {}): object {
  const params = { protocolVersion: version, capabilities, clientInfo: { name: 'test', version: '1' } };
  return { jsonrpc: '2.0', id: 'open', method: 'initialize', params };
}

export function toolCall(
  name: string,
  args: object = {},
  meta: object = {},
  id: number | string = 7,
): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, _meta: meta } };
}

/** Sends a request; the connection is closed when the test has ended. */
export async function send(
  url: string,
  { method, headers = {}, body }: { method: string; headers?: Record<string, string>; body?: unknown },
): Promise<Reply> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(url, {
    method,
    headers: { accept: ACCEPT, ...json, ...headers },
    signal: stop.signal,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { status } = response;
  const isStream = (response.headers.get('content-type') ?? '').includes('event-stream');
  const next = isStream ? frames(response) : documents(response);
  return {
    status,
    headers: response.headers,
    next,
    rest: async () => {
      const messages: Json[] = [];
      for (let one = await next(); one !== null; one = await next()) messages.push(one);
      return messages;
    },
    hangUp: () => stop.abort(),
  };
}

function documents(response: Response): () => Promise<Json> {
  let isRead = false;
  return async () => {
    const text = isRead ? '' : await response.text();
    isRead = true;
    return text === '' ? null : JSON.parse(text);
  };
}

function frames(response: Response): () => Promise<Json> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  const decode = sseDecoder();
  const ready: string[] = [];
  return async () => {
    while (ready.length === 0) {
      const { done, value } = await reader.read();
      if (done) return null;
      for (const { data } of decode(value)) if (data !== null) ready.push(data);
    }
    return JSON.parse(ready.shift()!);
  };
}
