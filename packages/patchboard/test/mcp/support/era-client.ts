import type { Era } from '../../../src/transports/mcp-server/exchange.ts';
import { openSse, type SseReader } from '../../http/support/sse-reader.ts';

export const ERAS: readonly Era[] = ['modern', 'legacy'];
export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const VERSIONS = { modern: '2026-07-28', legacy: '2025-11-25' };

/** A JSON-RPC response. */
export interface Reply {
  readonly status: number;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly result: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly error: any;
}

/** A notification of a stream, or the response that ends it. */
interface Message {
  readonly method?: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly params?: any;
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly result?: any;
}

export interface Listening extends Pick<SseReader, 'status' | 'headers' | 'close'> {
  next(): Promise<Message | null>;
}

type Params = Readonly<Record<string, unknown>>;

/** A client of one protocol era that sends requests without checking anything. */
export interface EraClient {
  readonly era: Era;
  /** Its credential, and its session if it has one. */
  readonly headers: Readonly<Record<string, string>>;
  request(method: string, params?: Params, capabilities?: Params): Promise<Reply>;
  /** Follows `cursor` to the last page. */
  pages(method: string): Promise<Reply[]>;
  /** `subscriptions/listen`. */
  listen(notifications: unknown, capabilities?: Params): Promise<Listening>;
}

/** `query` is added to the URL. */
export async function eraClient(
  url: string,
  era: Era,
  credential: Readonly<Record<string, string>> = {},
  query = '',
): Promise<EraClient> {
  const at = `${url}/mcp${query}`;
  const session = era === 'legacy' ? await openSession(at, credential) : {};
  const message = (
    method: string,
    params: Params,
    capabilities: Params,
  ): { body: object; headers: Headers } => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': VERSIONS.modern,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    };
    const name = params['name'] ?? params['uri'] ?? params['taskId'];
    const modern = {
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': encoded(name) } : {}),
    };
    return {
      body: { jsonrpc: '2.0', id: 7, method, params: era === 'modern' ? { ...params, _meta: meta } : params },
      headers: { ...COMMON, ...credential, ...session, ...(era === 'modern' ? modern : {}), ...version(era) },
    };
  };
  const request: EraClient['request'] = async (method, params = {}, capabilities = {}) => {
    const { body, headers } = message(method, params, capabilities);
    return replyOf(await fetch(at, { method: 'POST', headers, body: JSON.stringify(body) }));
  };
  return {
    era,
    headers: { ...credential, ...session },
    request,
    pages: async (method) => {
      const replies = [await request(method)];
      for (let cursor = cursorOf(replies); cursor !== undefined; cursor = cursorOf(replies))
        replies.push(await request(method, { cursor }));
      return replies;
    },
    listen: async (notifications, capabilities = {}) => {
      const { body, headers } = message('subscriptions/listen', { notifications } as Params, capabilities);
      const stream = await openSse(at, headers, body);
      return {
        status: stream.status,
        headers: stream.headers,
        close: () => stream.close(),
        next: async () => {
          const frame = await stream.next();
          return frame === null ? null : (JSON.parse(frame.data) as Message);
        },
      };
    },
  };
}

type Headers = Record<string, string>;

const COMMON = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

function version(era: Era): Headers {
  return { 'mcp-protocol-version': VERSIONS[era] };
}

function encoded(name: string): string {
  return /^[\x21-\x7e]+$/.test(name) ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`;
}

async function openSession(at: string, credential: Readonly<Record<string, string>>): Promise<Headers> {
  const params = {
    protocolVersion: VERSIONS.legacy,
    capabilities: {},
    clientInfo: { name: 'tester', version: '1' },
  };
  const response = await fetch(at, {
    method: 'POST',
    headers: { ...COMMON, ...credential },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  const id = response.headers.get('mcp-session-id');
  if (id === null) throw new Error(`no session: ${response.status} ${await response.text()}`);
  return { 'mcp-session-id': id };
}

async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  const { result, error } = JSON.parse(text) as { result?: unknown; error?: unknown };
  return { status: response.status, text, result, error };
}

function cursorOf(replies: readonly Reply[]): string | undefined {
  return (replies.at(-1)?.result as { nextCursor?: string } | undefined)?.nextCursor;
}
