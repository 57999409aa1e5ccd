import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ResourceRegistry } from '../../src/sdk/resource-registry.ts';
import { aPlatform, type MintedKey, type TestPlatform } from '../guard/support/a-platform.ts';
import { openSse, type SseReader } from '../http/support/sse-reader.ts';
import { waitFor } from '../support/wait-for.ts';
import { eraClient, type EraClient } from './support/era-client.ts';

const registry = new ResourceRegistry({
  resources: ['a', 'b'].map((name) => ({ uri: `notes://${name}`, name, read: () => name })),
});

let server: TestPlatform;
let ada: MintedKey;
let stranger: MintedKey;
let client: EraClient;
beforeAll(async () => {
  server = await aPlatform({
    resources: { resourceSource: registry },
    config: { tenants: { other: { packs: ['essentials'] } } },
  });
  ada = await server.mint({ kind: 'agent', name: 'ada' });
  stranger = await server.mint({ kind: 'agent', name: 'ada', tenant: 'other' });
  client = await eraClient(server.platform.url, 'legacy', ada.headers);
});
afterAll(() => server.close());

const stream = async (): Promise<SseReader> =>
  await openSse(`${server.platform.url}/mcp`, { ...client.headers, accept: 'text/event-stream' });

async function nextOf(reader: SseReader): Promise<unknown> {
  return JSON.parse((await reader.next())!.data);
}

const updated = (uri: string): object => ({
  jsonrpc: '2.0',
  method: 'notifications/resources/updated',
  params: { uri },
});

describe('a session that subscribes to a resource', () => {
  it('gets its updates until it unsubscribes, whenever its stream is opened', async () => {
    const before = server.platform.engine.feed.listenerCount;
    expect((await client.request('resources/subscribe', { uri: 'notes://a' })).result).toEqual({});
    const reader = await stream();
    expect((await client.request('resources/subscribe', { uri: 'notes://b' })).result).toEqual({});
    registry.updated('notes://a');
    expect(await nextOf(reader)).toEqual(updated('notes://a'));
    expect((await client.request('resources/unsubscribe', { uri: 'notes://a' })).result).toEqual({});
    registry.updated('notes://a');
    registry.updated('notes://b');
    expect(await nextOf(reader)).toEqual(updated('notes://b'));
    reader.close();
    await waitFor(() => expect(server.platform.engine.feed.listenerCount).toBe(before));
  });

  it('must see the resource, and be a session', async () => {
    const uri = 'notes://a';
    const other = await eraClient(server.platform.url, 'legacy', stranger.headers);
    for (const [who, wanted] of [
      [other, uri],
      [client, 'notes://gone'],
    ] as const) {
      const { error } = await who.request('resources/subscribe', { uri: wanted });
      expect(error).toMatchObject({ code: -32_002, data: { uri: wanted } });
    }
    const response = await fetch(`${server.platform.url}/mcp`, {
      method: 'POST',
      headers: { ...ada.headers, 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } }),
    });
    expect(await response.json()).toMatchObject({ error: { code: -32_600 } });
  });

  it('can subscribe to a bounded number of resources', async () => {
    const replies = await Promise.all(
      Array.from({ length: 101 }, (_, n) =>
        client.request('resources/subscribe', { uri: `patchboard://tools/t${n}` }),
      ),
    );
    const codes = replies.flatMap(({ error }) => (error === undefined ? [] : [error.code as number]));
    expect(codes.length).toBeGreaterThan(0);
    expect(new Set(codes)).toEqual(new Set([-32_602]));
  });
});
