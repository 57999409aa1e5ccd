import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import {
  aCall,
  clientOf,
  drop,
  fakeServer,
  json,
  openSse,
  problem,
  running,
} from '../../test/fake-server.ts';
import {
  createClient,
  isCallProgressEvent,
  isCallStateEvent,
  NetworkError,
  PatchboardError,
} from '../index.ts';

function stateOf(state: string, status = 'PENDING'): Record<string, unknown> {
  return { tool_call_id: 'tc_1', state, status, at: '2026-01-01T00:00:00.000Z' };
}

async function idsOf(
  events: AsyncIterable<{ id: string | null }>,
  count: number,
): Promise<(string | null)[]> {
  const ids: (string | null)[] = [];
  for await (const event of events) {
    ids.push(event.id);
    if (ids.length === count) break;
  }
  return ids;
}

describe('a reader whose position is ahead of a server with a new store', () => {
  it('continues from the position that the server sends', async () => {
    const server = await fakeServer(async (seen, response) => {
      const send = openSse(response);
      if (seen.path.endsWith('after=5000')) {
        response.write('id: 3\n\n');
        send(4, 'call.state', stateOf('PENDING'));
        await drop(response);
        return;
      }
      send(5, 'call.state', stateOf('EXECUTING', 'RUNNING'));
    });
    expect(await idsOf(clientOf(server).events({ after: 5000 }), 2)).toEqual(['4', '5']);
    expect(server.seen.map(({ path }) => path)).toEqual(['/v1/events?after=5000', '/v1/events?after=4']);
  });
});

describe('events of one call', () => {
  it('start with the first event and end with the call', async () => {
    const server = await fakeServer((_seen, response) => {
      const send = openSse(response);
      send(4, 'call.state', stateOf('PENDING'));
      send(5, 'call.state', stateOf('EXECUTING', 'RUNNING'));
      send(undefined, 'call.progress', { tool_call_id: 'tc_1', data: { percent: 50 } });
      send(6, 'call.state', stateOf('COMPLETED', 'SUCCEEDED'));
      // The connection stays open: the end is in the event, not in the socket.
    });
    const seen: string[] = [];
    for await (const event of clientOf(server).events({ callId: 'tc_1' })) {
      if (isCallStateEvent(event)) seen.push(`${event.id}:${event.data.state}`);
      else if (isCallProgressEvent(event)) seen.push(`${event.id}:${JSON.stringify(event.data.data)}`);
    }
    expect(seen).toEqual(['4:PENDING', '5:EXECUTING', 'null:{"percent":50}', '6:COMPLETED']);
    expect(server.seen[0]).toMatchObject({
      path: '/v1/tool_calls/tc_1/events?after=0',
      headers: { accept: 'text/event-stream, application/problem+json' },
    });
    await server.seen[0]!.closed;
  });

  it('resume after a dropped connection without loss or duplicates', async () => {
    const states = ['PENDING', 'APPROVAL_REQUIRED', 'APPROVED', 'EXECUTING', 'COMPLETED'];
    const server = await fakeServer(async (seen, response) => {
      if (!seen.path.includes('/events')) return json(response, 200, running);
      const send = openSse(response);
      const after = Number(/after=(\d+)/.exec(seen.path)?.[1]);
      // Sends the last event again, as a server with an inclusive `after` would, and one more.
      for (const seq of after === 0 ? [1] : [after, after + 1])
        send(seq, 'call.state', stateOf(states[seq - 1]!));
      await drop(response);
    });
    const ids = await idsOf(clientOf(server).events({ callId: 'tc_1' }), Infinity);
    expect(ids).toEqual(['1', '2', '3', '4', '5']);
    const streams = server.seen.filter((seen) => seen.path.includes('/events'));
    expect(streams.map((seen) => seen.path.split('after=')[1])).toEqual(['0', '1', '2', '3', '4']);
  });

  it('are complete when a connection drops in the middle of an event', async () => {
    const server = await fakeServer((seen, response, count) => {
      if (!seen.path.includes('/events')) return json(response, 200, running);
      const send = openSse(response);
      if (count > 1) return send(2, 'call.state', stateOf('COMPLETED'));
      send(1, 'call.state', stateOf('PENDING'));
      response.write('id: 2\nevent: call.state\ndata: {"state":"COMPL', () => response.destroy());
    });
    expect(await idsOf(clientOf(server).events({ callId: 'tc_1' }), Infinity)).toEqual(['1', '2']);
  });

  it('end for a reader that starts after the last event', async () => {
    const server = await fakeServer((seen, response) => {
      if (!seen.path.includes('/events')) return json(response, 200, aCall());
      openSse(response);
      response.end();
    });
    expect(await idsOf(clientOf(server).events({ callId: 'tc_1', after: 99 }), Infinity)).toEqual([]);
    expect(server.seen[0]!.path).toContain('after=99');
  });

  it('survive a restart of the server', async () => {
    const server = await fakeServer((seen, response) => {
      if (!seen.path.includes('/events')) return json(response, 200, running);
      const send = openSse(response);
      if (seen.path.endsWith('after=0')) send(1, 'call.state', stateOf('PENDING'));
      else send(2, 'call.state', stateOf('COMPLETED'));
    });
    const events = clientOf(server).events({ callId: 'tc_1' });
    expect((await events.next()).value).toMatchObject({ id: '1' });
    await server.stop();
    const next = events.next();
    await server.start();
    expect((await next).value).toMatchObject({ id: '2' });
    expect(await events.next()).toMatchObject({ done: true });
  });

  it('throw for a call that does not exist', async () => {
    const server = await fakeServer((_seen, response) => problem(response, 404, 'call_not_found'));
    await expect(clientOf(server).events({ callId: 'tc_9' }).next()).rejects.toMatchObject({
      code: 'call_not_found',
    });
  });
});

describe('all events', () => {
  it('start now, or after the given id', async () => {
    const server = await fakeServer((_seen, response) => openSse(response)(8, 'registry.changed', {}));
    await idsOf(clientOf(server).events(), 1);
    await idsOf(clientOf(server).events({ after: '7' }), 1);
    expect(server.seen.map((seen) => seen.path)).toEqual(['/v1/events', '/v1/events?after=7']);
  });

  it('close the connection when the reader stops iterating', async () => {
    const server = await fakeServer((_seen, response) => openSse(response)(1, 'registry.changed', {}));
    for await (const event of clientOf(server).events()) {
      expect(event.type).toBe('registry.changed');
      break;
    }
    await server.seen[0]!.closed;
  });

  it('end a pending next() when return() is called', async () => {
    const server = await fakeServer((_seen, response) => void openSse(response));
    const events = clientOf(server).events();
    const pending = events.next();
    await server.requests(1);
    await events.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    await server.seen[0]!.closed;
  });

  it('close a stream that a fetch which ignores the signal opens after return()', async () => {
    let cancelled = (): void => undefined;
    const closed = new Promise<void>((resolve) => (cancelled = resolve));
    const body = new ReadableStream<Uint8Array>({ cancel: () => cancelled() });
    let open = (_response: Response): void => undefined;
    let asked = (): void => undefined;
    const requested = new Promise<void>((resolve) => (asked = resolve));
    const fetch = (): Promise<Response> => {
      asked();
      return new Promise((resolve) => (open = resolve));
    };
    const events = createClient({ url: 'http://board.test', fetch }).events();
    const pending = events.next();
    await requested;
    await events.return?.();
    expect(await pending).toEqual({ done: true, value: undefined });
    open(new Response(body, { headers: { 'content-type': 'text/event-stream' } }));
    await closed;
  });

  it('reconnect when a stream is idle for too long', async () => {
    const streams: ServerResponse[] = [];
    const server = await fakeServer((_seen, response, count) => {
      streams.push(response);
      const send = openSse(response);
      if (count >= 3) send(1, 'registry.changed', {});
    });
    const events = clientOf(server, { idleTimeoutMs: 30_000 }).events();
    expect(await idsOf(events, 1)).toEqual(['1']);
    expect(streams.length).toBeGreaterThanOrEqual(3);
  });

  it('throw without long retries if the server was never reachable', async () => {
    const server = await fakeServer(() => undefined);
    await server.stop();
    await expect(clientOf(server).events().next()).rejects.toBeInstanceOf(NetworkError);
  });

  it.each([
    ['an HTML page', 'text/html', '<h1>Welcome</h1>'],
    ['JSON', 'application/json', '{}'],
  ])('throw when the response is %s instead of a stream', async (_name, type, body) => {
    const server = await fakeServer((_seen, response) => {
      response.writeHead(200, { 'content-type': type });
      response.end(body);
    });
    await expect(clientOf(server).events().next()).rejects.toThrow(`no event stream (${type})`);
  });

  it('throw when an event is not JSON', async () => {
    const server = await fakeServer((_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: call.state\ndata: oops\n\n');
    });
    const error: unknown = await clientOf(server)
      .events()
      .next()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PatchboardError);
    expect(error).toMatchObject({ code: 'bad_response' });
  });

  it('throw when fetch cannot stream', async () => {
    const fetch = (): Promise<{ status: number; headers: Headers; text: () => Promise<string> }> =>
      Promise.resolve({
        status: 200,
        headers: new Headers({ 'content-type': 'text/event-stream' }),
        text: () => Promise.resolve(''),
      });
    const server = await fakeServer(() => undefined);
    await expect(clientOf(server, { fetch }).events().next()).rejects.toThrow('cannot stream');
  });
});
