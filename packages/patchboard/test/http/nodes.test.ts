import { afterEach, describe, expect, it } from 'vitest';
import type { NodesView } from '@patchboard/wire';
import type { NodeMeasures, NodeStatus } from '../../src/core/nodes.ts';
import { StorageUnavailable } from '../../src/core/failures.ts';
import { VERSION } from '../../src/version.ts';
import { aServer, OPERATOR_TOKEN, type ServerGiven, type TestServer } from './support/a-server.ts';
import { CLUSTER_METRICS } from '../../src/transports/shared/http/cluster-metrics.ts';
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

const MEASURES: NodeMeasures = {
  takeovers: 2,
  callsTakenOver: 7,
  fenced: 1,
  isBusConnected: false,
  sent: new Map([['moved', 5]]),
  received: new Map([['ended', 3]]),
  clockOffsetMs: -1500,
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
    // It has not loaded its packs yet.
    nodes = [ONE, { ...ONE, writer: 3, isSelf: false, fingerprint: null }];
    expect((await read()).same_config).toBe(true);
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

describe('GET /v1/stats and /metrics', () => {
  it('show the node and its cluster', async () => {
    const other: NodeStatus = {
      ...ONE,
      writer: 3,
      isSelf: false,
      fingerprint: 'bb22',
      room: 9,
      lastBeatMs: null,
    };
    await serve({
      nodes: { list: async () => [{ ...ONE, lastBeatMs: 250 }, FREE, other], measures: () => MEASURES },
    });
    expect((await server.get('/v1/stats')).json.cluster).toEqual({
      node: 1,
      nodes: { running: 2, leaving: 0, free: 1 },
      open: 0,
      executing: 0,
      approvals: 0,
      same_config: false,
    });
    const { text } = await server.get('/metrics');
    for (const name of Object.keys(CLUSTER_METRICS)) expect(text).toContain(`# HELP ${name} `);
    const lines = text.split('\n').filter((line) => /^patchboard_(node|bus|notif|clock)/.test(line));
    expect(lines).toEqual([
      'patchboard_node_info{node="1",epoch="4",version="1.2.3"} 1',
      'patchboard_nodes{state="running"} 2',
      'patchboard_nodes{state="leaving"} 0',
      'patchboard_nodes{state="free"} 1',
      'patchboard_nodes_same_config 0',
      'patchboard_node_calls{node="1"} 4',
      'patchboard_node_calls{node="3"} 4',
      'patchboard_node_room{node="1"} 60',
      'patchboard_node_room{node="3"} 9',
      'patchboard_node_heartbeat_age_seconds{node="1"} 0.25',
      'patchboard_node_takeovers_total 2',
      'patchboard_node_calls_taken_over_total 7',
      'patchboard_node_fenced_total 1',
      'patchboard_bus_connected 0',
      'patchboard_notifications_sent_total{kind="moved"} 5',
      'patchboard_notifications_received_total{kind="ended"} 3',
      'patchboard_clock_offset_seconds -1.5',
    ]);
  });

  it('have nothing of a cluster if one node uses the store', async () => {
    await serve({});
    expect((await server.get('/v1/stats')).json).not.toHaveProperty('cluster');
    const { text } = await server.get('/metrics');
    for (const name of Object.keys(CLUSTER_METRICS)) expect(text).not.toContain(name);
    expect(text).toMatch(/^patchboard_store_waiting 0$/m);
  });
});
