import { describe, expect, it } from 'vitest';
import { guardedFetch } from '../../src/sources/shared/guarded-fetch.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';
import { AConnection, httpSettings } from './support/a-connection.ts';
import { sendResult, stream } from './support/scripted-server.ts';
import { aWebServer, readBody, type WebServer } from './support/web-server.ts';

const closing = closedAfterEach();
const PINGS = 300;
const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'flood', version: '1.0' },
};

/** Sends requests of its own with each call, and never acknowledges the responses. */
async function aFloodingServer(): Promise<WebServer> {
  return await aWebServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    const { id, method } = JSON.parse(await readBody(request)) as { id?: unknown; method?: string };
    if (method === undefined) return undefined;
    if (method === 'initialize') return sendResult(response, id, INITIALIZED);
    if (method === 'tools/list') return sendResult(response, id, { tools: [] });
    if (method !== 'tools/call') return response.writeHead(202).end();
    const send = stream(response);
    for (let count = 0; count < PINGS; count += 1)
      send({ id: `ping-${count}`, method: count % 2 === 0 ? 'ping' : 'roots/list' });
    send({ id, result: { content: [] } });
    return response.end();
  });
}

describe('an HTTP server that sends requests without end', () => {
  it('gets a bounded number of responses at once, and is still called', async () => {
    const { url } = await aFloodingServer();
    const fetch = guardedFetch({ allowedOrigins: [url] });
    let responses = 0;
    const counting: typeof fetch = Object.assign(
      (...[target, init]: Parameters<typeof fetch>) => {
        if (typeof init?.body === 'string' && !init.body.includes('"method"')) responses += 1;
        return fetch(target, init);
      },
      { close: () => fetch.close() },
    );
    const up = new AConnection(httpSettings(url, { protocol: 'legacy' }), { fetch: counting }).start();
    closing(() => up.connection.close());
    await up.online();
    await up.call('any');
    await waitFor(() => expect(responses).toBeGreaterThan(0));
    // All requests of the first stream have been handled before the second call returns.
    expect(await up.call('any')).toMatchObject({ kind: 'result' });
    expect(responses).toBeLessThanOrEqual(32);
  });
});
