import { afterEach, describe, expect, it } from 'vitest';
import type { NodesView } from '@patchboard/wire';
import type { NodeStatus } from '../../src/core/nodes.ts';
import { StorageUnavailable } from '../../src/core/failures.ts';
import { VERSION } from '../../src/version.ts';
import { aServer, OPERATOR_TOKEN, type ServerGiven, type TestServer } from './support/a-server.ts';
import { operatorRoutes } from '../../src/transports/operator-api/routes.ts';

const OPERATOR = { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } };
const AT = Date.UTC(2026, 0, 1);

const ONE: NodeStatus = {
  writer: 1,
  epoch: 4,
  isSelf: true,
  state: 'running',
  holder: 'board-a, process 12',
  url: 'http://10.0.0.1:8080',
  version: '1.2.3',
  fingerprint: 'aa11',
  room: 60,
  calls: 4,
  lastBeatMs: 123.4,
  startedAt: AT,
  tookOver: { from: 2, at: AT + 1000, calls: 7 },
};
const FREE: NodeStatus = {
  ...ONE,
  writer: 2,
  isSelf: false,
  state: 'free',
  holder: null,
  url: null,
  version: null,
  fingerprint: null,
  startedAt: null,
  lastBeatMs: null,
  tookOver: null,
};

let server: TestServer;
afterEach(() => server.close());

async function serve(given: ServerGiven): Promise<void> {
  server = await aServer({ ...given, routes: operatorRoutes });
}

describe('GET /v1/nodes', () => {
  it('shows the one node of a store that one process uses', async () => {
    await serve({});
    const { status, json } = await server.get('/v1/nodes', OPERATOR);
    expect(status).toBe(200);
    expect(json).toEqual({
      same_config: true,
      nodes: [
        {
          writer: 1,
          epoch: 1,
          is_self: true,
          state: 'running',
          holder: expect.stringMatching(/, process \d+$/),
          url: null,
          version: VERSION,
          fingerprint: null,
          room: 64,
          calls: 0,
          last_beat_ms: null,
          started_at: expect.stringMatching(/^\d{4}-/),
          took_over: null,
        },
      ],
    });
    // In local mode without a credential too.
    expect((await server.get('/v1/nodes')).json).toEqual(json);
  });

  it('shows several nodes, their takeovers, and whether their configurations differ', async () => {
    let nodes: NodeStatus[] = [ONE, FREE];
    await serve({ nodes: { list: async () => nodes } });
    const read = async (): Promise<NodesView> => (await server.get('/v1/nodes', OPERATOR)).json as NodesView;
    const both = await read();
    expect(both.same_config).toBe(true);
    expect(both.nodes[0]).toMatchObject({
      fingerprint: 'aa11',
      last_beat_ms: 123,
      started_at: '2026-01-01T00:00:00.000Z',
      took_over: { writer: 2, at: '2026-01-01T00:00:01.000Z', calls: 7 },
    });
    expect(both.nodes[1]).toMatchObject({ writer: 2, state: 'free', holder: null, started_at: null });
    nodes = [ONE, { ...ONE, writer: 3, isSelf: false, fingerprint: 'bb22' }];
    expect((await read()).same_config).toBe(false);
  });

  it('is refused to the operator of another tenant, and is 503 while the nodes cannot be read', async () => {
    await serve({ nodes: { list: () => Promise.reject(new StorageUnavailable('the database is away')) } });
    const made = await server.post(
      '/v1/keys',
      { kind: 'operator', name: 'ann' },
      {
        headers: { ...OPERATOR.headers, 'x-tenant-id': 'acme' },
      },
    );
    const key = { headers: { authorization: `Bearer ${made.json.key}` } };
    expect(await server.get('/v1/nodes', key)).toMatchObject({
      status: 403,
      json: { code: 'permission_denied' },
    });
    expect(await server.get('/v1/nodes', OPERATOR)).toMatchObject({
      status: 503,
      json: { code: 'storage_unavailable' },
    });
  });
});
