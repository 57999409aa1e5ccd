import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { aTenantServer, callResponse, MUYUAN_KEY, OWN, type TenantServer } from './support/tenant-server.ts';

/** As the original back end's client serialises its context: every member, null where it has nothing. */
const CONTEXT = {
  tenant_id: 'yantian',
  site_id: 'yantian-main',
  trace_id: 'trace-own',
  span_id: null,
  user_id: null,
  session_id: null,
  npc_id: null,
  agent_type: 'guide',
};

let server: TenantServer;
beforeAll(async () => {
  server = await aTenantServer();
});
afterAll(async () => {
  await server.close();
});

describe("the original back end's client", () => {
  it.each([
    ['get_npc_profile', { npc_id: 'ancestor_yan', version: null }],
    ['search_content', { query: '古井', content_type: null, tags: null, status: null, limit: null }],
    ['get_site_map', { include_pois: null, include_routes: null }],
    ['get_prompt_active', { npc_id: 'ancestor_yan', prompt_type: null }],
    ['log_user_event', { event_type: 'visit', event_data: null, user_id: null, session_id: null }],
    [
      'create_draft_content',
      {
        content_type: 'knowledge',
        title: '古井',
        body: '井水',
        summary: null,
        tags: null,
        domains: null,
        source: null,
      },
    ],
  ])('sends null for what it has not set: %s', async (tool, input) => {
    const response = callResponse(await server.call(tool, input, OWN, CONTEXT));
    expect(response).toMatchObject({ success: true, audit: { status: 'success' } });
    expect(response.audit).not.toHaveProperty('warnings');
  });

  it('means the default by null', async () => {
    const given = callResponse(
      await server.call('get_site_map', { include_pois: null, include_routes: null }),
    );
    const left = callResponse(await server.call('get_site_map', {}));
    expect(given.output).toEqual(left.output);
    expect(given.output?.['pois']).not.toHaveLength(0);
  });

  it('may send null in place of the whole context or input', async () => {
    expect(callResponse(await server.call('get_site_map', null, OWN, null))).toMatchObject({ success: true });
  });

  it('gets warnings for undeclared members, and the call runs without them', async () => {
    const input = { npc_id: 'ancestor_yan', verbose: true, 'a/b': 1 };
    const { success, audit } = callResponse(await server.call('get_npc_profile', input));
    expect(success).toBe(true);
    expect(audit['warnings']).toEqual([
      expect.objectContaining({ code: 'undeclared_member', path: '/verbose' }),
      expect.objectContaining({ code: 'undeclared_member', path: '/a~1b' }),
    ]);
  });

  it('is still refused where a member is of the wrong type, or body and header disagree', async () => {
    const wrongType = callResponse(await server.call('get_npc_profile', { npc_id: 7 }));
    expect(wrongType.error_type).toBe('ValidationError');
    const other = await server.call('get_site_map', {}, OWN, { ...CONTEXT, site_id: 'yantian-hill' });
    expect(other.status).toBe(400);
  });
});

describe('an internal key', () => {
  it("reads the trace ledger of its own tenant, and no other's", async () => {
    const headers = { ...OWN, 'x-trace-id': 'trace-to-read' };
    callResponse(await server.call('get_site_map', {}, headers));
    const path = '/v1/trace_ledger?trace_id=trace-to-read';
    const key = OWN['x-internal-api-key'] ?? '';
    const own = await server.ask({ method: 'GET', path, headers: { 'x-internal-api-key': key } });
    expect(own.json).toMatchObject({ trace_ledger: [{ tenant_id: 'yantian', status: 'success' }] });
    const foreign = await server.ask({ method: 'GET', path, headers: { 'x-internal-api-key': MUYUAN_KEY } });
    expect(foreign.json).toMatchObject({ trace_ledger: [] });
    for (const route of ['/v1/ledger', '/v1/tool_calls', '/v1/keys', '/v1/stats']) {
      const asked = { method: 'GET', path: route, headers: { 'x-internal-api-key': key } };
      expect([route, (await server.ask(asked)).status]).toEqual([route, 401]);
    }
  });

  it('that is wrong or empty is refused if keys are configured', async () => {
    for (const key of ['wrong', '']) {
      const headers = { ...OWN, 'x-internal-api-key': key };
      expect([key, (await server.call('get_site_map', {}, headers)).status]).toEqual([key, 401]);
    }
  });
});

describe('in local mode', () => {
  let local: TestPlatform;
  beforeAll(async () => {
    local = await aPlatform();
  });
  afterAll(async () => {
    await local.close();
  });

  const siteMap = async (key: string): Promise<{ status: number; json: unknown }> =>
    await local.ask({
      method: 'POST',
      path: '/api/tools/call',
      headers: { ...OWN, 'x-internal-api-key': key },
      body: { tool_name: 'get_site_map', input: {}, context: CONTEXT },
    });

  it('an empty or unknown internal key is ignored, with one warning in the log', async () => {
    for (const key of ['', 'left-over-from-production', 'left-over-from-production'])
      expect(await siteMap(key)).toMatchObject({ status: 200, json: { success: true } });
    expect(local.log().match(/auth\.internal_key_ignored/g)).toHaveLength(1);
  });

  it('an unknown key of our own format is an error, and after the first key every unknown one is', async () => {
    expect(await siteMap(`pb_${'x'.repeat(43)}000000`)).toMatchObject({ status: 401 });
    await local.mint({ kind: 'agent', name: 'planner' });
    expect(await siteMap('left-over-from-production')).toMatchObject({ status: 401 });
  });
});
