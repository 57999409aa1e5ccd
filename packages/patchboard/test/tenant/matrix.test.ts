import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HERITAGE_TOOLS } from '../../src/packs/heritage/names.ts';
import { recordOf } from '../guard/support/a-platform.ts';
import {
  aTenantServer,
  callResponse,
  MUYUAN_KEY,
  OWN,
  type Headers,
  type TenantServer,
} from './support/tenant-server.ts';

let server: TenantServer;
beforeAll(async () => {
  server = await aTenantServer();
});
afterAll(async () => {
  await server.close();
});

/** One input per tool that works where the data is; and what the same input finds where it is not. */
const TOOLS: Readonly<Record<string, { input: unknown; elsewhere: Record<string, unknown> }>> = {
  get_npc_profile: {
    input: { npc_id: 'ancestor_yan' },
    elsewhere: { success: false, error_type: 'ValueError', error: 'NPC profile not found: ancestor_yan' },
  },
  search_content: {
    input: { query: '家训' },
    elsewhere: { success: true, output: { items: [], total: 0, query: '家训' } },
  },
  get_site_map: {
    input: { include_routes: true },
    elsewhere: { success: false, error_type: 'ValueError' },
  },
  create_draft_content: {
    input: { content_type: 'knowledge', title: '机密草稿', body: '只给自己看' },
    elsewhere: { success: true, output: { status: 'draft' } },
  },
  log_user_event: {
    input: { event_type: 'visit' },
    elsewhere: { success: true },
  },
  get_prompt_active: {
    input: { npc_id: 'ancestor_yan' },
    elsewhere: { success: false, error_type: 'ValueError' },
  },
};

/** Neither tenant nor credential decides alone: each of these is a request that must be refused, and leave no trace. */
const REFUSED: readonly {
  name: string;
  headers: Headers;
  context?: unknown;
  expected: [number, string];
  says: RegExp;
}[] = [
  {
    name: "another tenant's name",
    headers: { ...OWN, 'x-tenant-id': 'muyuan' },
    expected: [403, 'permission_denied'],
    says: /x-tenant-id/,
  },
  {
    name: "another tenant's key",
    headers: { ...OWN, 'x-internal-api-key': MUYUAN_KEY },
    expected: [403, 'permission_denied'],
    says: /x-tenant-id/,
  },
  {
    name: 'a site of another tenant',
    headers: { ...OWN, 'x-site-id': 'muyuan-main' },
    expected: [403, 'permission_denied'],
    says: /tenant yantian has no site muyuan-main/,
  },
  {
    name: 'a site of no tenant',
    headers: { ...OWN, 'x-site-id': 'nowhere' },
    expected: [403, 'permission_denied'],
    says: /tenant yantian has no site nowhere/,
  },
  ...['x-tenant-id', 'x-site-id', 'x-trace-id'].map((header) => ({
    name: `no ${header}`,
    headers: Object.fromEntries(Object.entries(OWN).filter(([name]) => name !== header)),
    expected: [400, 'body_invalid'] as [number, string],
    says: new RegExp(`header/${header} is required`),
  })),
  ...Object.entries({ tenant_id: 'muyuan', site_id: 'yantian-hill' }).map(([member, value]) => ({
    name: `a context with another ${member}`,
    headers: OWN,
    context: { tenant_id: 'yantian', site_id: 'yantian-main', trace_id: 'trace-own', [member]: value },
    expected: [400, 'body_invalid'] as [number, string],
    says: new RegExp(`context/${member} differs from`),
  })),
  {
    name: 'a wrong key',
    headers: { ...OWN, 'x-internal-api-key': `${OWN['x-internal-api-key']}x` },
    expected: [401, 'auth_required'],
    says: /not known/,
  },
  {
    name: 'no key, where one is needed',
    headers: Object.fromEntries(Object.entries(OWN).filter(([name]) => name !== 'x-internal-api-key')),
    expected: [401, 'auth_required'],
    says: /credential/,
  },
];

describe('the table', () => {
  it('has every tool of the pack', () => {
    expect(Object.keys(TOOLS).toSorted()).toEqual(HERITAGE_TOOLS.toSorted());
  });
});

describe.each(Object.entries(TOOLS))('%s', (toolName, { input, elsewhere }) => {
  it('works for its own tenant and site', async () => {
    const response = callResponse(await server.call(toolName, input));
    expect(response).toMatchObject({ success: true, audit: { status: 'success', tool_name: toolName } });
  });

  it.each([
    ['another site of the tenant', { ...OWN, 'x-site-id': 'yantian-hill' }],
    [
      "another tenant's site of the same name",
      { ...OWN, 'x-tenant-id': 'muyuan', 'x-internal-api-key': MUYUAN_KEY },
    ],
  ])('sees nothing of it from %s', async (_name, headers) => {
    const response = callResponse(await server.call(toolName, input, headers));
    expect(response).toMatchObject(elsewhere);
    expect(JSON.stringify(response.output ?? {})).not.toMatch(/严氏|严田古村/);
  });

  it.each(REFUSED)('refuses $name', async ({ headers, context, expected, says }) => {
    const before = await recordOf(server.store);
    const response = await server.call(toolName, input, headers, context);
    const { code, detail } = response.json as { code: string; detail: string };
    expect([response.status, code]).toEqual(expected);
    expect(detail).toMatch(says);
    expect(await recordOf(server.store)).toEqual(before);
  });
});

describe('a draft', () => {
  it('is found by its own site alone', async () => {
    const query = { query: '机密草稿', status: 'draft' };
    const own = callResponse(await server.call('search_content', query));
    expect(own.output).toMatchObject({ total: 1 });
    for (const headers of [
      { ...OWN, 'x-site-id': 'yantian-hill' },
      { ...OWN, 'x-tenant-id': 'muyuan', 'x-internal-api-key': MUYUAN_KEY },
    ]) {
      // Each tenant created one draft above; none may see two.
      const { output } = callResponse(await server.call('search_content', query, headers));
      expect(output).toMatchObject({ total: 1 });
      expect(output?.['items']).not.toEqual(own.output?.['items']);
    }
  });
});

describe('an internal key', () => {
  it('lists the tools of its tenant alone', async () => {
    const list = (headers: Headers) =>
      server.ask({ method: 'POST', path: '/api/tools/list', headers, body: {} });
    expect((await list(OWN)).json).toMatchObject({ total: 6 });
    expect((await list({ ...OWN, 'x-site-id': 'nowhere' })).status).toBe(403);
    expect((await list({ ...OWN, 'x-tenant-id': 'default' })).status).toBe(403);
  });

  it.each(['/v1/tools', '/v1/ledger', '/v1/tool_calls', '/metrics'])(
    'opens no other face: %s',
    async (path) => {
      const response = await server.ask({ method: 'GET', path, headers: OWN });
      expect(response.status).toBe(401);
    },
  );
});
