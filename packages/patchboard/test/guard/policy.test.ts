import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@patchboard/client';
import { describe, expect, it } from 'vitest';
import {
  aDataFolder,
  aPlatform,
  platformsOfTests,
  recordOf,
  type TestPlatform,
} from './support/a-platform.ts';
import type { TestResponse } from './support/ask.ts';
import { aServerTool } from '../support/an-engine.ts';
import { deleteTool, echoTool } from './support/scene.ts';
import { closedAfterEach } from '../support/after-each.ts';

const closeLater = closedAfterEach();

const aServer = platformsOfTests(closeLater, { tools: [echoTool, deleteTool] });

async function invoke(
  server: TestPlatform,
  tool: string,
  agent = 'ada',
  args: unknown = {},
): Promise<TestResponse> {
  return await server.ask({
    method: 'POST',
    path: `/v1/tools/${tool}/invoke`,
    headers: { 'x-agent-id': agent, prefer: 'wait=10' },
    body: { run_id: `run_${agent}`, args },
  });
}

async function names(server: TestPlatform, agent: string): Promise<string[]> {
  const response = await server.ask({ method: 'GET', path: '/v1/tools', headers: { 'x-agent-id': agent } });
  return (response.json as { tools: { name: string }[] }).tools.map(({ name }) => name);
}

const put = (server: TestPlatform, document: unknown, version?: number): Promise<TestResponse> =>
  server.asOperator('PUT', '/v1/policy', version === undefined ? { document } : { document, version });

describe('PUT /v1/policy', () => {
  it('makes a new version that is in force at once, and after a restart', async () => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const first = await aPlatform({ folder, tools: [echoTool] });
    expect((await first.asOperator('GET', '/v1/policy')).json).toMatchObject({
      version: 0,
      changed_by: 'config',
    });
    const document = { default: { mode: 'deny' } };
    expect((await put(first, document, 0)).json).toMatchObject({
      version: 1,
      document,
      changed_by: 'operator',
    });
    expect((await invoke(first, 'toy.echo')).status).toBe(403);
    const ledger = await first.asOperator('GET', '/v1/ledger');
    expect(ledger.json.rows).toContainEqual(
      expect.objectContaining({ kind: 'policy.changed', body: { by: 'operator', version: 1 } }),
    );
    await first.close();
    const second = await aServer({ folder });
    expect((await second.asOperator('GET', '/v1/policy')).json).toMatchObject({ version: 1, document });
    expect((await invoke(second, 'toy.echo')).status).toBe(403);
  });

  it('is a conflict when another version is in force, and one of many at once wins', async () => {
    const server = await aServer();
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        put(server, { agents: { [`a${index}`]: { mode: 'deny' } } }, 0),
      ),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(19);
    const winner = responses.find(({ status }) => status === 200)!;
    const { json } = await server.asOperator('GET', '/v1/policy');
    expect(json).toEqual(winner.json);
    expect(json.version).toBe(1);
    expect(await server.store.documents('policy')).toHaveLength(1);
  });

  it.each([
    [{ agents: { ada: { mode: 'yolo' } } }, '/agents/ada/mode'],
    [{ agents: { ada: { autoDeny: ['x'] } } }, '/agents/ada/autoDeny'],
    [{ default: { rules: [{ tools: 'x', effect: 'maybe' }] } }, '/default/rules/0/effect'],
    [{ devices: { registerable: 'x' } }, '/devices/registerable'],
    [{ rules: [] }, '/rules'],
  ])('refuses %j, says where, and changes nothing', async (document, path) => {
    const server = await aServer();
    const before = await recordOf(server.store);
    const response = await put(server, document);
    expect([response.status, response.json.code]).toEqual([400, 'body_invalid']);
    expect((response.json.errors as { path: string }[]).map((issue) => issue.path)).toContain(path);
    expect(await recordOf(server.store)).toEqual(before);
    expect((await invoke(server, 'toy.echo')).status).toBe(200);
  });

  it("is the tenant's own: another tenant keeps the one it had", async () => {
    const server = await aServer();
    const document = { default: { mode: 'deny' } };
    const changed = await server.asOperator('PUT', '/v1/policy', { document }, 'acme');
    expect(changed.json).toMatchObject({ version: 1, document });
    expect((await server.asOperator('GET', '/v1/policy')).json).toMatchObject({ version: 0 });
    expect((await invoke(server, 'toy.echo')).status).toBe(200);
    const theirs = await server.ask({ method: 'GET', path: '/v1/tools', headers: { 'x-tenant-id': 'acme' } });
    expect(theirs.json).toEqual({ tools: [] });
  });

  it('needs an operator', async () => {
    const server = await aServer();
    const response = await server.ask({ method: 'PUT', path: '/v1/policy', body: { document: {} } });
    expect([response.status, response.json.code]).toEqual([403, 'permission_denied']);
  });
});

describe('a policy that cannot be read', () => {
  it.each([
    ['no JSON', '{"document":'],
    ['no policy', '"a text"'],
    ['an unknown mode', '{"version":7,"document":{"default":{"mode":"yolo"}},"changedBy":"x"}'],
    ['nothing', 'null'],
  ])('denies everything, and the server starts and says so: %s', async (_what, body) => {
    const folder = aDataFolder();
    closeLater(() => folder.remove());
    const first = await aPlatform({ folder, tools: [echoTool] });
    await put(first, {});
    await first.close();
    const file = new DatabaseSync(folder.storeFile);
    file
      .prepare("insert into documents (kind, id, body) values ('policy', 'default 000000000007', ?)")
      .run(body);
    file.close();
    const server = await aServer({ folder });
    expect(server.log()).toContain('"policy.unreadable"');
    const shown = await server.asOperator('GET', '/v1/policy');
    expect([shown.status, shown.json.version]).toEqual([200, 7]);
    const url = `http://127.0.0.1:${server.port}`;
    const operator = createClient({ url, key: server.operatorToken });
    expect(await operator.policy.get()).toMatchObject({ version: 7, document: shown.json.document });
    expect(await names(server, 'ada')).toEqual([]);
    const denied = await invoke(server, 'toy.echo');
    expect(denied.json).toMatchObject({
      status: 403,
      state: 'DENIED',
      detail: 'permission denied: the policy cannot be read',
    });
    const lend = await server.ask({
      method: 'POST',
      path: '/internal/tools/register',
      body: { client_id: 'c1', tools: [{ name: 'lent.tool', schema: {} }] },
    });
    expect(lend.json).toMatchObject({ ok: false, registered_count: 0 });
    // An operator puts it right without a restart.
    expect((await put(server, {}, 7)).json).toMatchObject({ version: 8 });
    expect((await invoke(server, 'toy.echo')).status).toBe(200);
  });
});

describe('a tool that an agent may never call', () => {
  const config = {
    policy: {
      agents: {
        ada: { autoDenyTools: ['toy.echo'] },
        bob: { mode: 'deny', autoAllowTools: ['toy.echo'] },
        eve: { rules: [{ tools: 'toy.echo', effect: 'deny', when: [{ arg: '/n', gt: 1 }] }] },
      },
    },
  };

  it('is not listed', async () => {
    const server = await aServer({ config });
    expect(await names(server, 'ada')).not.toContain('toy.echo');
    expect(await names(server, 'bob')).toEqual(['toy.echo']);
    expect((await invoke(server, 'toy__echo', 'bob')).status).toBe(200);
  });

  it('comes and goes with the policy', async () => {
    const server = await aServer({ config });
    expect(await names(server, 'ada')).not.toContain('toy.echo');
    await put(server, {});
    expect(await names(server, 'ada')).toContain('toy.echo');
    await put(server, { default: { autoDenyTools: ['*'] } });
    expect(await names(server, 'ada')).toEqual([]);
  });

  it('is denied and recorded when only these arguments are denied', async () => {
    const server = await aServer({ config });
    expect(await names(server, 'eve')).toContain('toy.echo');
    expect((await invoke(server, 'toy.echo', 'eve', { n: 1 })).status).toBe(200);
    const denied = await invoke(server, 'toy.echo', 'eve', { n: 2 });
    expect([denied.status, denied.json.code]).toEqual([403, 'permission_denied']);
    const record = await server.asOperator('GET', `/v1/tool_calls/${denied.json.tool_call_id}`);
    expect(record.json).toMatchObject({ state: 'DENIED', decision: { rule: 'agents.eve.rules[0]' } });
  });
});

describe('a tool for people', () => {
  it('is offered to no model, in no format, and to an operator', async () => {
    const people = aServerTool({ name: 'toy.people', metadata: { ai_callable: false } });
    const server = await aServer({ tools: [echoTool, people] });
    for (const format of ['', '?format=openai', '?format=anthropic', '?format=mcp', '?format=vcp']) {
      const path = `/v1/tools${format}`;
      const tools = (await server.ask({ method: 'GET', path })).text;
      expect([tools.includes('toy'), tools.includes('people')]).toEqual([true, false]);
      expect((await server.asOperator('GET', path)).text).toContain('people');
    }
    const one = { method: 'GET', path: '/v1/tools/toy.people' };
    const denied = (await invoke(server, 'toy.people')).json;
    expect(denied).toMatchObject({ status: 403, state: 'DENIED' });
    expect(denied).toMatchObject((await server.ask(one)).json);
    const record = await server.asOperator('GET', `/v1/tool_calls/${denied.tool_call_id}`);
    expect(record.json).toMatchObject({ decision: { effect: 'deny', rule: 'metadata.ai_callable' } });
    expect((await server.asOperator(one.method, one.path)).json).toMatchObject({ name: 'toy.people' });
  });
});

describe('devices.registerable', () => {
  it('lets clients lend those names and no others', async () => {
    const server = await aServer({ config: { devices: { registerable: ['lamp.*'] } } });
    const response = await server.ask({
      method: 'POST',
      path: '/internal/tools/register',
      body: {
        client_id: 'c1',
        tools: [
          { name: 'lamp.on', schema: {} },
          { name: 'door.open', schema: {} },
        ],
      },
    });
    expect(response.json).toMatchObject({
      ok: false,
      registered_count: 1,
      rejected: [{ name: 'door.open', code: 'permission_denied' }],
    });
    expect(await names(server, 'ada')).toContain('lamp.on');
    expect(await names(server, 'ada')).not.toContain('door.open');
  });
});

describe('POST /v1/policy/explain', () => {
  it('tells the decision and what else matched, and records nothing', async () => {
    const server = await aServer({
      config: {
        policy: { agents: { ada: { autoAllowTools: ['toy.*'], requireApprovalTools: ['toy.delete'] } } },
      },
    });
    const before = await recordOf(server.store);
    const response = await server.asOperator('POST', '/v1/policy/explain', {
      tool_name: 'toy.delete',
      agent_id: 'ada',
    });
    expect(response.json).toMatchObject({
      effect: 'allow',
      rule: 'agents.ada.autoAllowTools[0]',
      listed: true,
      also_matched: [{ rule: 'agents.ada.requireApprovalTools[0]', effect: 'ask' }, { rule: 'annotations' }],
    });
    expect(await recordOf(server.store)).toEqual(before);
  });
});
