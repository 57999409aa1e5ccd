import { sseDecoder } from '@patchboard/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../src/transports/shared/routes/routes.ts';
import { ROUTES } from '../../src/wiring/apis.ts';
import { callId } from '../devices/support/agent.ts';
import { recordOf, type MintedKey } from './support/a-platform.ts';
import { open, type TestResponse } from './support/ask.ts';
import { requestTo, sampleOf, UNKNOWN, type Ids } from './support/route-samples.ts';
import { aScene, type Scene } from './support/scene.ts';

let scene: Scene;

beforeAll(async () => {
  scene = await aScene();
}, 30_000);
afterAll(async () => {
  await scene.close();
});

const WITH_ID = ROUTES.filter((route) => sampleOf(route).id !== undefined).map((route) => ({
  at: `${route.method} ${route.url}`,
  route,
}));

/** Everything about a response that the caller can see, without the id. */
function visible({ status, headers, text }: TestResponse, id: string): unknown {
  const { date: _date, ...rest } = headers;
  const length = Number(headers['content-length']) - id.length * (text.split(id).length - 1);
  return { status, headers: { ...rest, 'content-length': length }, text: text.replaceAll(id, '<id>') };
}

async function askAbout(route: Route, key: MintedKey, ids: Ids): Promise<unknown> {
  const response = await scene.ask({ ...requestTo(route, ids), headers: key.headers });
  return visible(response, ids[sampleOf(route).id!]);
}

describe("another tenant's id", () => {
  it.each(WITH_ID)('gets the response for one that does not exist: $at', async ({ route }) => {
    const { ids, clientCall, stranger, store } = scene;
    const before = await recordOf(store);
    for (const call of [ids.call, clientCall]) {
      const theirs = { ...ids, call };
      expect(await askAbout(route, stranger, theirs)).toEqual(await askAbout(route, stranger, UNKNOWN));
    }
    expect(await recordOf(store)).toEqual(before);
  });

  it('shows in no list, and neither does anything else of that tenant', async () => {
    // Nodes belong to no tenant: only operators of the server list them.
    const lists = ROUTES.filter(
      ({ name, method }) =>
        method === 'GET' && name !== 'listNodes' && (name.startsWith('list') || name === 'readLedger'),
    );
    expect(lists.length).toBeGreaterThan(6);
    for (const route of lists) {
      const response = await scene.ask({ ...requestTo(route, UNKNOWN), headers: scene.stranger.headers });
      expect(response.status).toBe(200);
      for (const known of [scene.ids.call, scene.ids.key, scene.ids.grant, 'run_a', 'lent.tool', 'agent-a']) {
        expect(response.text).not.toContain(known);
      }
    }
    const exported = await scene.ask({
      method: 'GET',
      path: '/v1/ledger/export',
      headers: scene.stranger.headers,
    });
    expect(exported.text).not.toContain('agent-a');
  });

  it.each(['tool_call_id', 'trace_id'])('filters the ledger like an unknown one: %s', async (filter) => {
    const read = async (id: string): Promise<string> =>
      (
        await scene.ask({
          method: 'GET',
          path: `/v1/ledger?${filter}=${id}`,
          headers: scene.stranger.headers,
        })
      ).text;
    expect(await read(scene.ids.call)).toBe(await read(UNKNOWN.call));
  });

  it('is not reached by a tenant header or parameter', async () => {
    const { stranger } = scene;
    const asked = [
      { method: 'GET', path: '/v1/ledger?tenant_id=default' },
      { method: 'POST', path: '/v1/keys', body: { kind: 'agent', name: 'x', tenant_id: 'default' } },
    ];
    for (const request of asked) {
      const response = await scene.ask({ ...request, headers: stranger.headers });
      expect([response.status, (response.json as { code: string }).code]).toEqual([403, 'permission_denied']);
    }
  });

  it('does not free a tool name, and is not found as a tool', async () => {
    const lent = async (method: string, path: string, body?: unknown): Promise<TestResponse> =>
      await scene.ask({
        method,
        path,
        headers: scene.stranger.headers,
        ...(body === undefined ? {} : { body }),
      });
    const theirs = await lent('GET', '/v1/tools/lent.tool');
    const unknown = await lent('GET', '/v1/tools/gone.tool');
    expect(visible(theirs, 'lent.tool')).toEqual(visible(unknown, 'gone.tool'));
    const call = await lent('POST', '/v1/tools/lent.tool/invoke', { run_id: 'r', args: {} });
    expect(call.status).toBe(404);
    expect((await lent('DELETE', '/internal/clients/boss/tools')).json).toEqual({ ok: true, removed: [] });
    expect((await scene.asOperator('GET', '/v1/tools/lent.tool')).status).toBe(200);
  });
});

describe("another agent's call, in the same tenant", () => {
  const BY_AGENT = WITH_ID.filter(({ route }) => route.api === 'agent' || route.name === 'decideCall');

  it.each(BY_AGENT)('gets the response for one that does not exist: $at', async ({ route }) => {
    const { ids, neighbour, store } = scene;
    const before = await recordOf(store);
    expect(await askAbout(route, neighbour, ids)).toEqual(await askAbout(route, neighbour, UNKNOWN));
    expect(await recordOf(store)).toEqual(before);
  });

  it('cannot be waited for', async () => {
    const wait = async (id: string): Promise<unknown> => {
      const response = await scene.ask({
        method: 'GET',
        path: `/v1/tool_calls/${id}`,
        headers: { ...scene.neighbour.headers, prefer: 'wait=30' },
      });
      return visible(response, id);
    };
    expect(await wait(scene.ids.call)).toEqual(await wait(UNKNOWN.call));
  });

  it('is in no list, and asking for that agent by name is refused', async () => {
    for (const path of ['/v1/tool_calls', '/v1/runs']) {
      const own = await scene.ask({ method: 'GET', path, headers: scene.neighbour.headers });
      expect(own.text).not.toContain('agent-a');
      const named = await scene.ask({
        method: 'GET',
        path: `${path}?agent_id=agent-a`,
        headers: scene.neighbour.headers,
      });
      expect(named.status).toBe(403);
    }
    const byRun = await scene.ask({
      method: 'GET',
      path: '/v1/tool_calls?run_id=run_a',
      headers: scene.neighbour.headers,
    });
    expect(byRun.json).toEqual({ tool_calls: [], next_cursor: null, complete: true });
  });

  it('does not join its run', async () => {
    const response = await scene.ask({
      method: 'POST',
      path: '/v1/tools/toy.echo/invoke',
      headers: scene.neighbour.headers,
      body: { run_id: 'run_a', args: {} },
    });
    expect(response.status).toBe(202);
    const { tool_call_id: id } = response.json as { tool_call_id: string };
    const { json } = await scene.ask({
      method: 'GET',
      path: `/v1/tool_calls/${id}`,
      headers: scene.neighbour.headers,
    });
    expect(json).toMatchObject({ run_id: expect.stringMatching(/^run_a\.[0-9a-f]{8}$/) as unknown });
  });

  it.each([
    ['from the beginning', 'after=0'],
    ['live', ''],
  ])('is not in the stream of all events, %s', async (_when, query) => {
    const stream = await open(scene.port, {
      method: 'GET',
      path: `/v1/events?${query}`,
      headers: scene.neighbour.headers,
    });
    await callId(scene, 'toy.echo', { headers: scene.boss.headers, run: 'run_boss' });
    const own = await callId(scene, 'toy.echo', { headers: scene.neighbour.headers, run: `run_b_${query}` });
    const decode = sseDecoder();
    const agents = new Set<unknown>();
    reading: for await (const part of stream) {
      for (const { event, data } of decode(String(part))) {
        if (data === null) continue; // only says where the stream stands
        const said = JSON.parse(data) as { agent_id?: string; tool_call_id?: string; state?: string };
        if (event !== 'registry.changed') agents.add(said.agent_id);
        if (said.tool_call_id === own && said.state === 'COMPLETED') break reading;
      }
    }
    expect([...agents]).toEqual(['agent-b']);
  });
});

describe("another client's call, in the same tenant", () => {
  it.each(['ack', 'progress', 'submit'])('cannot be completed: %s', async (verb) => {
    const other = await scene.mint({ kind: 'client', name: 'c-other' });
    const before = await scene.store.ledgerHead();
    const response = await scene.ask({
      method: 'POST',
      path: `/internal/tool_calls/${scene.clientCall}/${verb}`,
      headers: other.headers,
      body: verb === 'submit' ? { status: 'SUCCEEDED', result: 1 } : verb === 'progress' ? { data: 1 } : {},
    });
    expect([response.status, (response.json as { code: string }).code]).toEqual([403, 'permission_denied']);
    expect(response.text).not.toContain('state');
    expect(await scene.store.ledgerHead()).toEqual(before);
  });
});

describe('a call of an agent, for a service that may call tools and not read calls', () => {
  it.each(['cancel', 'replay'])('gets the response for one that does not exist: %s', async (verb) => {
    const service = await scene.mint({ kind: 'service', name: 'backend', scopes: ['tools:call'] });
    const before = await recordOf(scene.store);
    const act = async (id: string): Promise<unknown> => {
      const path = `/v1/tool_calls/${id}/${verb}`;
      const response = await scene.ask({ method: 'POST', path, headers: service.headers, body: {} });
      return visible(response, id);
    };
    const unknown = await act(UNKNOWN.call);
    expect(unknown).toMatchObject({ status: 404 });
    for (const id of [scene.ids.call, scene.clientCall]) expect(await act(id)).toEqual(unknown);
    expect(await recordOf(scene.store)).toEqual(before);
  });
});
