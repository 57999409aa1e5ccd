import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encodeSse, type CallView } from '@patchboard/wire';
import { expect, onTestFinished } from 'vitest';
import {
  createClient,
  PatchboardError,
  type ClientClock,
  type ClientOptions,
  type PatchboardClient,
} from '../src/index.ts';

/** A request as the server saw it. */
interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
  /** Settles when the connection behind it is gone. */
  readonly closed: Promise<void>;
}

export type Handler = (seen: Seen, response: ServerResponse, count: number) => void | Promise<void>;

export interface FakeServer {
  readonly url: string;
  readonly seen: Seen[];
  /** Resolves once the server has seen that many requests. */
  requests(count: number): Promise<void>;
  /** Drops every connection and stops to listen. */
  stop(): Promise<void>;
  /** Listens again, at the same address. */
  start(): Promise<void>;
}

/** A real HTTP server that speaks whatever the test scripts. */
export async function fakeServer(handler: Handler): Promise<FakeServer> {
  const seen: Seen[] = [];
  const waiters: { count: number; done: () => void }[] = [];
  let server: Server | undefined;
  let port = 0;

  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const record: Seen = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
      closed: new Promise((resolve) => response.once('close', resolve)),
    };
    seen.push(record);
    const count = seen.length;
    for (const waiter of waiters) if (waiter.count <= count) waiter.done();
    await handler(record, response, count);
  }

  async function start(): Promise<void> {
    server = createServer((request, response) => {
      reply(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  }

  async function stop(): Promise<void> {
    const stopping = server;
    server = undefined;
    if (stopping === undefined) return;
    await new Promise<void>((resolve) => {
      stopping.close(() => resolve());
      stopping.closeAllConnections();
    });
  }

  await start();
  onTestFinished(stop);
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    requests: (count) =>
      seen.length >= count
        ? Promise.resolve()
        : new Promise((done) => {
            waiters.push({ count, done });
          }),
    stop,
    start,
  };
}

export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

export function problem(
  response: ServerResponse,
  status: number,
  code: string,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): void {
  const body = {
    type: 'about:blank',
    title: code,
    status,
    detail: `${code}!`,
    code,
    retryable: false,
    ...more,
  };
  json(response, status, body, { 'content-type': 'application/problem+json', ...headers });
}

export function openSse(
  response: ServerResponse,
): (id: number | undefined, event: string, data: unknown) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  return (id, event, data) => {
    response.write(encodeSse({ ...(id === undefined ? {} : { id }), event, data: JSON.stringify(data) }));
  };
}

/** Ends the connection without an end of the response. What was written before is delivered first. */
export async function drop(response: ServerResponse): Promise<void> {
  await new Promise<void>((resolve) => response.write(': last words\n\n', () => resolve()));
  response.destroy();
}

export const receipt = { tool_call_id: 'tc_1', status: 'pending', message: 'tool call created' };

export function aCall(given: Partial<CallView> = {}): CallView {
  return {
    tool_call_id: 'tc_1',
    run_id: 'run_1',
    tool_name: 'demo.echo',
    source: 'server',
    status: 'SUCCEEDED',
    args: {},
    result: { value: 42 },
    error: null,
    created_at: 1_700_000_000,
    completed_at: 1_700_000_001,
    state: 'COMPLETED',
    agent_id: 'local',
    decision: { effect: 'allow', rule: 'annotations', reason: 'not risky', policy_version: 0 },
    approval: null,
    attempts: [],
    duration_ms: 5,
    waited_ms: 1,
    ran_ms: 4,
    deadline_at: null,
    replay_of: null,
    sandbox: null,
    timeline: [],
    ...given,
  };
}

export const running: CallView = aCall({
  status: 'RUNNING',
  state: 'EXECUTING',
  result: null,
  completed_at: null,
});

/** A thousand times as fast as the wall clock, and remembers what was asked of it. */
export function swiftClock(): ClientClock & { readonly asked: number[] } {
  const asked: number[] = [];
  return {
    asked,
    now: () => performance.now() * 1000,
    after: (ms, action) => {
      asked.push(ms);
      const timer = setTimeout(action, ms / 1000);
      return () => clearTimeout(timer);
    },
  };
}

/** Long time limits: on the swift clock a second is a millisecond. */
export const UNHURRIED = {
  requestTimeoutMs: 1e8,
  idleTimeoutMs: 1e8,
  retry: { reconnectForMs: 1e9 },
} as const;

export function clientOf(server: FakeServer, options: Partial<ClientOptions> = {}): PatchboardClient {
  return createClient({ url: server.url, runId: 'run_1', clock: swiftClock(), ...UNHURRIED, ...options });
}

/** The error that `work` must end with. */
export async function failureOf(work: Promise<unknown>): Promise<PatchboardError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PatchboardError);
  return error as PatchboardError;
}
