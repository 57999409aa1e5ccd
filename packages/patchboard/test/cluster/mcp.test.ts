import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { connectDevice } from '@patchboard/client';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  createPatchboard,
  postgres,
  ResourceRegistry,
  tool,
  type BoardOptions,
  type Patchboard,
} from '../../src/index.ts';
import { aSchema, sharedPostgres, type SharedPostgres } from '../services/shared-postgres.ts';
import { waitFor } from '../support/wait-for.ts';

let service: SharedPostgres;
beforeAll(async () => {
  service = await sharedPostgres(15);
}, 120_000);

interface TestNode {
  readonly board: Patchboard;
  readonly url: string;
  readonly resources: ResourceRegistry;
}

/** What the tool of each node does, and the signals of its running calls. */
interface Work {
  readonly signals: AbortSignal[];
  readonly ran: string[];
  isDone: boolean;
}

interface Scene {
  readonly a: TestNode;
  readonly b: TestNode;
  readonly work: Work;
  readonly secret: string;
}

const NOTE = 'note:one';

/** Two nodes on one database. The first has one slot. */
async function aScene(): Promise<Scene> {
  const schema = aSchema(service);
  const work: Work = { signals: [], ran: [], isDone: false };
  const aNode = async (name: string, limits: NonNullable<BoardOptions['limits']>): Promise<TestNode> => {
    const report = tool({
      name: 'report',
      execute: async (_args: unknown, { progress, signal }) => {
        work.ran.push(name);
        work.signals.push(signal);
        while (!work.isDone && !signal.aborted) {
          progress({ progress: 1, total: 2 });
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        return name;
      },
    });
    const resources = new ResourceRegistry({
      resources: [{ uri: NOTE, name: 'one', read: () => 'text' }],
    });
    const store = postgres(service.url, { schema });
    const board = await createPatchboard({ tools: [report], resources, store, limits });
    onTestFinished(() => board.close());
    const { url } = await board.listen({ port: 0 });
    return { board, url, resources };
  };
  const [a, b] = [await aNode('a', { concurrencyServer: 1 }), await aNode('b', {})];
  const { secret } = await a.board.createKey({ kind: 'agent', name: 'ann' });
  onTestFinished(() => {
    work.isDone = true;
  });
  return { a, b, work, secret };
}

type Route = (method: string) => TestNode;

/** The SDK's client of a version with sessions. `route` selects the node for a JSON-RPC method; the stream is `GET`. */
async function aClient({ a, secret }: Scene, route: Route): Promise<Client> {
  const client = new Client({ name: 'two', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  const transport = new StreamableHTTPClientTransport(new URL(`${a.url}/mcp`), {
    fetch: (url, init) => {
      const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as { method?: string }) : {};
      const node = route(init?.method === 'POST' ? (body.method ?? '') : 'GET');
      return fetch(String(url).replace(a.url, node.url), init);
    },
    requestInit: { headers: { authorization: `Bearer ${secret}` } },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

describe('a client of MCP between two nodes', { timeout: 60_000 }, () => {
  it('cancels at one node what the other one has taken', async () => {
    const scene = await aScene();
    const { a, b, work } = scene;
    const client = await aClient(scene, (method) => (method === 'notifications/cancelled' ? b : a));
    const stop = new AbortController();
    const calling = client.callTool({ name: 'report', arguments: {} }, { signal: stop.signal });
    const failed = expect(calling).rejects.toThrow();
    await waitFor(() => expect(work.ran).toEqual(['a']));
    stop.abort();
    await failed;
    await waitFor(() => expect(work.signals[0]?.aborted).toBe(true));
  });

  it('gets progress of a call that another node runs', async () => {
    const scene = await aScene();
    const { a, work } = scene;
    const client = await aClient(scene, () => a);
    // It takes the only slot of the node.
    const first = client.callTool({ name: 'report', arguments: {} });
    await waitFor(() => expect(work.ran).toEqual(['a']));
    const seen: unknown[] = [];
    const second = client.callTool(
      { name: 'report', arguments: {} },
      { onprogress: (progress) => void seen.push(progress) },
    );
    await waitFor(() => expect(work.ran).toEqual(['a', 'b']));
    await waitFor(() => expect(seen[0]).toMatchObject({ progress: 1, total: 2 }));
    work.isDone = true;
    expect([await first, await second].map(({ content }) => content)).toEqual([
      [{ type: 'text', text: 'a' }],
      [{ type: 'text', text: 'b' }],
    ]);
  });

  it('hears on the stream of one node of resources and tools that change at the other', async () => {
    const scene = await aScene();
    const { a, b } = scene;
    // All requests but the first and the stream reach the other node.
    const client = await aClient(scene, (method) => (['initialize', 'GET'].includes(method) ? a : b));
    const heard: string[] = [];
    client.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void heard.push(params.uri),
    );
    client.setNotificationHandler('notifications/tools/list_changed', () => void heard.push('tools'));
    await client.subscribeResource({ uri: NOTE });
    await waitFor(() => {
      b.resources.updated(NOTE);
      expect(heard).toContain(NOTE);
    });
    const { secret: ofDevice } = await b.board.createKey({ kind: 'client', name: 'phone' });
    const device = connectDevice(b.url, {
      key: ofDevice,
      tools: [{ name: 'camera.take', run: () => 'taken' }],
    });
    onTestFinished(() => device.close());
    await device.ready;
    await waitFor(() => expect(heard).toContain('tools'));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('camera__take');
  });
});
