import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi, type MockInstance } from 'vitest';
import { plainRow, type LedgerDraft } from '../../src/core/ledger/ledger.ts';
import { silentLog } from '../support/an-engine.ts';
import { FakeClock, settled } from '../support/fake-clock.ts';
import { aServer, type TestServer } from './support/a-server.ts';
import { open } from './support/raw-http.ts';
import { openSse, type EventFrame } from './support/sse-reader.ts';
import { echo, gatedTool } from './support/toy-tools.ts';
import { waitFor } from '../support/wait-for.ts';

let server: TestServer;
const gate = gatedTool();

beforeAll(async () => {
  server = await aServer({ tools: [echo, gate.tool] });
});
afterAll(async () => {
  await server.close();
});

const WAIT = { headers: { prefer: 'wait=10' } };

function states(frames: readonly EventFrame[]): string[] {
  return frames.filter(({ event }) => event === 'call.state').map(({ data }) => JSON.parse(data).state);
}

describe('GET /v1/tool_calls/:id/events', () => {
  it('sends all events from the first, progress included, and ends with the call', async () => {
    const { json } = await server.post('/v1/tools/gated/invoke', { run_id: 'run_1' });
    await gate.begun();
    const stream = await openSse(`${server.url}/v1/tool_calls/${json.tool_call_id}/events`);
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.headers.get('content-security-policy')).toContain("default-src 'none'");
    const begun = [(await stream.next())!, (await stream.next())!];
    expect(states(begun)).toEqual(['PENDING', 'EXECUTING']);
    gate.progress({ percent: 10 });
    expect((await stream.next())!).toMatchObject({ id: null, event: 'call.progress' });
    gate.open();
    expect(states(await stream.rest())).toEqual(['COMPLETED']);
  });

  it('resumes after an event, by header or query, also when the call is over', async () => {
    const { json } = await server.post('/v1/tools/echo/invoke', { run_id: 'run_1' }, WAIT);
    const url = `${server.url}/v1/tool_calls/${json.tool_call_id}/events`;
    const all = await (await openSse(url)).rest();
    expect(states(all)).toEqual(['PENDING', 'EXECUTING', 'COMPLETED']);
    const ids = all.map(({ id }) => id!);
    expect(states(await (await openSse(`${url}?after=${ids[0]}`)).rest())).toEqual([
      'EXECUTING',
      'COMPLETED',
    ]);
    const header = await openSse(`${url}?after=${ids[0]}`, { 'last-event-id': ids[1]! });
    expect(states(await header.rest())).toEqual(['COMPLETED']);
    expect(await (await openSse(`${url}?after=${ids[2]}`)).rest()).toEqual([]);
    expect(await (await openSse(`${url}?after=999999999`)).rest()).toEqual([]);
  });

  it('starts from now for a reader that is ahead of the ledger', async () => {
    const { json } = await server.post('/v1/tools/gated/invoke', { run_id: 'run_1' });
    await gate.begun();
    const head = (await server.store.ledgerHead()).seq;
    const stream = await openSse(`${server.url}/v1/tool_calls/${json.tool_call_id}/events?after=999999999`);
    gate.open();
    expect(states(await stream.rest())).toEqual(['COMPLETED']);
    expect(stream.position()).toBe(String(head));
  });

  it.each(['after=-1', 'after=x', 'after=1.5', 'since=1'])('refuses ?%s', async (query) => {
    expect((await server.get(`/v1/events?${query}`)).json).toMatchObject({
      status: 400,
      code: 'body_invalid',
    });
  });

  it('returns 404 for an unknown call', async () => {
    expect((await server.get('/v1/tool_calls/tc_none/events')).json).toMatchObject({ status: 404 });
  });
});

describe('GET /v1/events', () => {
  it('loses and repeats nothing over reconnects under traffic', async () => {
    const before = (await server.store.ledgerHead()).seq;
    const seen: number[] = [];
    const calls = 60;
    const traffic = (async () => {
      for (let index = 0; index < calls; index += 1) {
        await Promise.all([
          server.post('/v1/tools/echo/invoke', { run_id: `run_t${index}` }, WAIT),
          server.post('/v1/tools/echo/invoke', { run_id: `run_u${index}` }, WAIT),
        ]);
      }
    })();
    const wanted = calls * 2 * 3;
    let last = before;
    while (seen.length < wanted) {
      const stream = await openSse(`${server.url}/v1/events`, { 'last-event-id': String(last) });
      // Hangs up again and again, in the middle of things.
      for (let count = 0; count < 17 && seen.length < wanted; count += 1) {
        const frame = await stream.next();
        if (frame === null) break;
        last = Number(frame.id);
        seen.push(last);
      }
      stream.close();
    }
    await traffic;
    const rows = await allRows(before);
    expect(seen).toEqual(rows);
    expect(rows).toHaveLength(wanted);
  });

  it('starts now when the reader does not say where it left off, and sees its own tenant only', async () => {
    const mine = await openSse(`${server.url}/v1/events`, { 'x-tenant-id': 'mine' });
    await server.post('/v1/tools/echo/invoke', { run_id: 'run_n' }, WAIT);
    const sent = { headers: { 'x-tenant-id': 'mine' } };
    const { json } = await server.post('/v1/tools/echo/invoke', { run_id: 'run_n' }, sent);
    expect(JSON.parse((await mine.next())!.data)).toMatchObject({
      tool_call_id: json.tool_call_id,
      state: 'PENDING',
    });
    mine.close();
  });

  it('replays more than a reader may leave unread', async () => {
    const small = await aServer({ tools: [echo], http: { streamBufferBytes: 100_000 } });
    const calls = 400;
    await Promise.all(
      Array.from({ length: calls }, (_, index) =>
        small.post('/v1/tools/echo/invoke', { run_id: `run_${index}` }, WAIT),
      ),
    );
    const stream = await openSse(`${small.url}/v1/events?after=0`);
    for (let count = 0; count < calls * 3; count += 1) expect(await stream.next()).not.toBeNull();
    stream.close();
    await small.close();
  });

  it('starts from now for a reader that is ahead of the ledger, as after a new data folder', async () => {
    const head = (await server.store.ledgerHead()).seq;
    const stream = await openSse(`${server.url}/v1/events?after=${head + 5000}`);
    await server.post('/v1/tools/echo/invoke', { run_id: 'run_ahead' }, WAIT);
    expect(Number((await stream.next())!.id)).toBe(head + 1);
    expect(stream.position()).toBe(String(head));
    stream.close();
  });

  it('sends its position before the first event', async () => {
    const head = (await server.store.ledgerHead()).seq;
    const stream = await openSse(`${server.url}/v1/events`, { 'x-tenant-id': 'quiet' });
    await server.post('/v1/tools/echo/invoke', { run_id: 'run_p' }, { headers: { 'x-tenant-id': 'quiet' } });
    expect(Number((await stream.next())!.id)).toBeGreaterThan(head);
    expect(Number(stream.position())).toBe(head);
    stream.close();
  });
});

describe('readers', () => {
  it('a slow one is dropped, and the others continue', async () => {
    const small = await aServer({ tools: [gate.tool], http: { streamBufferBytes: 65_536 } });
    const { json } = await small.post('/v1/tools/gated/invoke', { run_id: 'run_1' });
    await gate.begun();
    const path = `/v1/tool_calls/${json.tool_call_id}/events`;
    const good = await openSse(small.url + path);
    await good.next();
    const lazy = await open(small.port);
    lazy.pause();
    lazy.on('error', () => undefined);
    lazy.write(`GET ${path} HTTP/1.1\r\nHost: localhost:${small.port}\r\n\r\n`);
    while ((await small.get('/v1/stats')).json.streams < 2) await settled();
    let sent = 0;
    while ((await small.get('/v1/stats')).json.streams === 2) {
      gate.progress('x'.repeat(60_000));
      sent += 1;
      // The good reader keeps up.
      for (let frame = await good.next(); frame?.event !== 'call.progress'; frame = await good.next());
      expect(sent).toBeLessThan(1000);
    }
    gate.open();
    expect(states(await good.rest())).toEqual(['COMPLETED']);
    lazy.destroy();
    await small.close();
  });

  it('a quiet stream gets a comment now and then', async () => {
    const clock = new FakeClock();
    const quiet = await aServer({ clock });
    const socket = await open(quiet.port);
    socket.write(`GET /v1/events HTTP/1.1\r\nHost: localhost:${quiet.port}\r\n\r\n`);
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    while (!text.includes(': open')) await once(socket, 'data');
    await clock.advance(15_000);
    while (!text.includes(': still here')) await once(socket, 'data');
    socket.destroy();
    await quiet.close();
  });
});

describe('a slow reader', () => {
  it('of many old events leaves no listener behind', async () => {
    const small = await aServer({ tools: [echo] });
    const count = 6000;
    await small.store.append(Array.from({ length: count }, (_, index) => aLongRow(index, 4000)));
    const warnings: string[] = [];
    const warned = (warning: Error): void => void warnings.push(warning.message);
    process.on('warning', warned);
    const sockets = await Promise.all(
      ['/v1/events?after=0', '/v1/ledger/export'].map(async (path) => {
        const socket = await open(small.port);
        socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost:${small.port}\r\n\r\n`);
        return socket;
      }),
    );
    await Promise.all(
      sockets.map(async (socket) => {
        let bytes = 0;
        // A little at a time: each time the server has to wait for room again.
        for await (const part of socket) {
          bytes += (part as Buffer).length;
          if (bytes > count * 4000) break;
          await settled();
        }
        expect(bytes).toBeGreaterThan(count * 4000);
      }),
    );
    process.off('warning', warned);
    expect(warnings).toEqual([]);
    await small.close();
  });
});

describe('an export of the ledger', () => {
  it('has the headers of every other response', async () => {
    const response = await fetch(`${server.url}/v1/ledger/export`);
    const other = await server.get('/v1/ledger');
    for (const name of ['content-security-policy', 'x-content-type-options', 'cache-control'])
      expect([name, response.headers.get(name)]).toEqual([name, other.headers.get(name)]);
    expect(response.headers.get('content-type')).toBe('application/jsonl; charset=utf-8');
  });

  it('that is not read ends with the server, and is recognisably incomplete', async () => {
    const closing = await aServer();
    for (let count = 0; count < 200; count += 1) await closing.store.append([aLongRow(count)]);
    const socket = await open(closing.port);
    socket.on('error', () => undefined).pause();
    socket.write(`GET /v1/ledger/export HTTP/1.1\r\nHost: localhost:${closing.port}\r\n\r\n`);
    await once(socket, 'readable');
    // Returns although no more of the response is read.
    await closing.close();
    let text = '';
    socket.setEncoding('utf8').on('data', (part: string) => (text += part));
    if (!socket.closed) await once(socket, 'close');
    expect(text).not.toContain('exported_at');
    expect(text).not.toMatch(/\r\n0\r\n\r\n$/);
  });

  it('ends when its rows cannot be read', async () => {
    const errors: string[] = [];
    const log = { ...silentLog, error: (event: string) => void errors.push(event) };
    const broken = await aServer({ log });
    await broken.store.append([aLongRow(1)]);
    broken.store.readLedger = () => Promise.reject(new Error('no disk'));
    await expect(broken.get('/v1/ledger/export')).rejects.toThrow();
    expect(errors).toEqual(['http.stream_failed']);
    await broken.close();
  });
});

function aLongRow(index: number, length = 100_000): LedgerDraft {
  return plainRow('registry.changed', 'default', index, {
    client_id: 'c',
    registered: ['a'],
    text: 'x'.repeat(length),
  });
}

describe('a response that takes long', () => {
  /** The idle timeouts that were set on the connections, in order. */
  function idleTimes(own: TestServer): () => number[] {
    const spies: MockInstance<Socket['setTimeout']>[] = [];
    own.app.server.on('connection', (socket) => spies.push(vi.spyOn(socket, 'setTimeout')));
    return () => spies.flatMap(({ mock }) => mock.calls.map(([ms]) => ms));
  }

  it('of the tenant API keeps its connection for as long as the tool may take', async () => {
    const slow = gatedTool();
    const own = await aServer({ tools: [slow.tool], http: { socketIdleMs: 90_000 } });
    const timeouts = idleTimes(own);
    const headers = { 'x-tenant-id': 'default', 'x-site-id': 'main', 'x-trace-id': 'slow' };
    const response = own.post('/api/tools/call', { tool_name: 'gated' }, { headers });
    await slow.begun();
    await waitFor(() => expect(timeouts().at(-1)).toBe(0));
    slow.open();
    expect((await response).json.success).toBe(true);
    expect(timeouts().slice(timeouts().lastIndexOf(0)).slice(0, 2)).toEqual([0, 90_000]);
    await own.close();
  });

  it('about the whole ledger keeps it for as long as the reading takes', async () => {
    const own = await aServer({ http: { socketIdleMs: 90_000 } });
    await own.store.append([aLongRow(1)]);
    const timeouts = idleTimes(own);
    const idleWhileRead: unknown[] = [];
    const readLedger = own.store.readLedger.bind(own.store);
    own.store.readLedger = async (...asked) => {
      idleWhileRead.push(timeouts().at(-1));
      return await readLedger(...asked);
    };
    expect((await own.get('/v1/ledger/verify')).json.ok).toBe(true);
    expect(idleWhileRead).toEqual([0]);
    expect(timeouts().slice(timeouts().lastIndexOf(0)).slice(0, 2)).toEqual([0, 90_000]);
    await own.close();
  });
});

describe('closing', () => {
  it('ends streams, waits and polls at once, and responds to what is open', async () => {
    const slow = gatedTool();
    const closing = await aServer({ tools: [slow.tool], limits: { drainMs: 1 } });
    const { json } = await closing.post('/v1/tools/gated/invoke', { run_id: 'run_1' });
    await slow.begun();
    const events = await openSse(`${closing.url}/v1/events`);
    const requests = await openSse(`${closing.url}/internal/clients/c/requests`);
    const wait = closing.get(`/v1/tool_calls/${json.tool_call_id}`, { headers: { prefer: 'wait=60' } });
    const poll = closing.get('/internal/clients/d/requests?wait=60');
    while (!closing.engine.clientQueues.isOnline('default', 'd')) await settled();
    await closing.app.close();
    expect(await events.rest()).toEqual([]);
    expect(await requests.rest()).toEqual([]);
    expect((await wait).json.status).toBe('RUNNING');
    expect((await poll).json).toEqual({ requests: [] });
    await closing.engine.drain();
  });

  it('is not ready while it drains, and takes no calls', async () => {
    const draining = await aServer({ tools: [echo] });
    expect((await draining.get('/readyz')).json).toEqual({ status: 'ready' });
    await draining.engine.drain();
    const ready = await draining.get('/readyz');
    expect(ready.json).toMatchObject({ status: 503, code: 'overloaded' });
    expect(ready.headers.get('retry-after')).toBe('1');
    expect((await draining.get('/healthz')).status).toBe(200);
    const call = await draining.post('/v1/tools/echo/invoke', { run_id: 'r' });
    expect(call.json).toMatchObject({ status: 503, code: 'overloaded', retryable: true });
    await draining.app.close();
  });
});

async function allRows(after: number): Promise<number[]> {
  const rows: number[] = [];
  for (let last = after; ;) {
    const { json } = await server.get(`/v1/ledger?after=${last}&limit=200`);
    if (json.rows.length === 0) return rows;
    for (const row of json.rows) if (row.kind === 'call.state') rows.push(row.seq);
    last = json.rows.at(-1).seq;
  }
}
