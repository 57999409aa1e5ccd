import { writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../support/a-folder.ts';
import { silentLog } from '../support/an-engine.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { startServer } from '../support/server-process.ts';
import { aServer, OPERATOR_TOKEN, type ServerGiven, type TestServer } from './support/a-server.ts';
import { open } from './support/raw-http.ts';
import { openSse } from './support/sse-reader.ts';
import { gatedTool } from './support/toy-tools.ts';
import { waitFor } from '../support/wait-for.ts';

const closeLater = closedAfterEach();
const OPERATOR = { authorization: `Bearer ${OPERATOR_TOKEN}` };

async function closedServer(given: ServerGiven): Promise<TestServer> {
  const server = await aServer(given);
  closeLater(() => server.close());
  return server;
}

async function follow(
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; close(): void }> {
  const stream = await openSse(`${url}/v1/events`, headers);
  closeLater(() => stream.close());
  return stream;
}

async function metric(server: TestServer, name: string): Promise<number> {
  const { text } = await server.get('/metrics', { headers: OPERATOR });
  return Number(new RegExp(`^patchboard_${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

describe('event streams', () => {
  it('of one credential beyond its limit are 429 with Retry-After, until one has ended', async () => {
    const server = await closedServer({ limits: { eventStreamsPerCredential: 3 } });
    const streams = [
      await follow(server.url, { 'x-agent-id': 'one' }),
      await follow(server.url, { 'x-agent-id': 'two' }),
      await follow(server.url),
    ];
    const refused = await server.get('/v1/events');
    expect(refused.json).toMatchObject({ status: 429, code: 'rate_limited', retryable: true });
    expect(refused.json.detail).toBe('this credential has 3 event streams open, which is the limit');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await follow(server.url, OPERATOR)).status).toBe(200);
    streams[0]!.close();
    await waitFor(async () => expect((await follow(server.url)).status).toBe(200));
    expect(await metric(server, 'event_streams_open')).toBe(4);
  });

  it('of the sessions of a key count as streams of the key', async () => {
    const server = await closedServer({ limits: { eventStreamsPerCredential: 2 } });
    const made = await server.post('/v1/keys', { kind: 'agent', name: 'bot' }, { headers: OPERATOR });
    const token = String(made.json.key);
    const signIn = async (): Promise<Record<string, string>> => {
      const opened = await server.post('/v1/session', { token });
      const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      return { cookie, 'x-session-proof': String(opened.json.proof) };
    };
    const holders = [{ authorization: `Bearer ${token}` }, await signIn(), await signIn()];
    const statuses = [];
    for (const headers of holders) statuses.push((await follow(server.url, headers)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('of one client that runs tools are 429 beyond a hundred, and those of another are not', async () => {
    const server = await closedServer({});
    const requests = async (client: string): Promise<{ status: number; close(): void }> => {
      const stream = await openSse(`${server.url}/internal/clients/${client}/requests`);
      closeLater(() => stream.close());
      return stream;
    };
    const streams = await Promise.all(Array.from({ length: 100 }, () => requests('phone')));
    for (const wait of ['', '?wait=1']) {
      const refused = await server.get(`/internal/clients/phone/requests${wait}`);
      expect(refused.json).toMatchObject({ status: 429, code: 'rate_limited' });
    }
    expect((await requests('tablet')).status).toBe(200);
    streams[0]!.close();
    await waitFor(async () => expect((await requests('phone')).status).toBe(200));
  });

  it('beyond the limit of the server are 503 with Retry-After, and the streams of providers are not', async () => {
    const server = await closedServer({ limits: { eventStreams: 2 } });
    await follow(server.url);
    await follow(server.url, OPERATOR);
    const refused = await server.get('/v1/events', { headers: OPERATOR });
    expect(refused.json).toMatchObject({ status: 503, code: 'overloaded', retryable: true });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    for (const client of ['phone', 'tablet', 'desk']) {
      const requests = await openSse(`${server.url}/internal/clients/${client}/requests`);
      closeLater(() => requests.close());
      expect(requests.status).toBe(200);
    }
    expect([await metric(server, 'event_streams_open'), await metric(server, 'streams_open')]).toEqual([
      2, 5,
    ]);
  });

  it('of a call count like all others', async () => {
    const gate = gatedTool();
    const server = await closedServer({ tools: [gate.tool], limits: { eventStreams: 1 } });
    const { json } = await server.post('/v1/tools/gated/invoke', { run_id: 'run_1' });
    await follow(server.url);
    expect((await server.get(`/v1/tool_calls/${json.tool_call_id}/events`)).status).toBe(503);
    gate.open();
  });
});

describe('what event streams leave unread', () => {
  const UNREAD_BYTES = 2_000_000;

  /** Opens the events of a call and never reads. */
  async function lazyReader(server: TestServer, callId: string): Promise<Socket> {
    const before = await metric(server, 'event_streams_open');
    const socket = await open(server.port);
    closeLater(() => socket.destroy());
    socket.on('error', () => undefined).pause();
    socket.write(`GET /v1/tool_calls/${callId}/events HTTP/1.1\r\nHost: localhost:${server.port}\r\n\r\n`);
    await waitFor(async () => expect(await metric(server, 'event_streams_open')).toBe(before + 1));
    return socket;
  }

  it('is bounded in all, and the one with the most of it is dropped first', async () => {
    const [loud, quiet] = [gatedTool('loud'), gatedTool('quiet')];
    const dropped: unknown[] = [];
    const log = {
      ...silentLog,
      warn: (event: string, fields: unknown) => void dropped.push([event, fields]),
    };
    const server = await closedServer({
      tools: [loud.tool, quiet.tool],
      limits: { eventStreamsUnreadBytes: UNREAD_BYTES },
      // Alone none of them is over its own bound.
      http: { streamBufferBytes: 100 * UNREAD_BYTES },
      log,
    });
    const idOf = async (name: string): Promise<string> =>
      (await server.post(`/v1/tools/${name}/invoke`, { run_id: 'run_1' })).json.tool_call_id;
    const [loudId, quietId] = [await idOf('loud'), await idOf('quiet')];
    const lazyQuiet = await lazyReader(server, quietId);
    const good = await openSse(`${server.url}/v1/tool_calls/${quietId}/events`);
    await lazyReader(server, loudId);
    quiet.progress('x'.repeat(UNREAD_BYTES / 4));
    // The network takes the first part of it.
    while ((await metric(server, 'event_streams_dropped_total')) === 0) {
      loud.progress('x'.repeat(100_000));
      expect(await metric(server, 'event_streams_unread_bytes')).toBeLessThanOrEqual(UNREAD_BYTES);
    }
    await waitFor(async () => expect(await metric(server, 'event_streams_open')).toBe(2));
    expect(lazyQuiet.destroyed).toBe(false);
    expect(dropped).toEqual([
      ['http.stream_dropped', { credential: 'local', unread_bytes: expect.any(Number) }],
    ]);
    loud.open();
    quiet.open();
    expect((await good.rest()).at(-1)?.data).toContain('COMPLETED');
  });
});

describe('the limits of event streams', () => {
  it('are those of the config', async () => {
    const config = join(await aFolder(), 'config.json');
    const limits = {
      event_streams: 3,
      event_streams_per_credential: 2,
      event_streams_unread_bytes: 1_000_000,
    };
    await writeFile(config, JSON.stringify({ limits }));
    const server = await startServer({}, ['--config', config]);
    closeLater(() => server.stop());
    const statuses: number[] = [];
    for (let count = 0; count < 3; count += 1) statuses.push((await follow(server.url)).status);
    expect(statuses).toEqual([200, 200, 429]);
  });
});
