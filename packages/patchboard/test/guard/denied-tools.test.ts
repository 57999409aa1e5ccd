import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatRequest } from '../../src/index.ts';
import { aServerTool } from '../support/an-engine.ts';
import { aPlatform, type TestPlatform } from './support/a-platform.ts';
import type { TestResponse } from './support/ask.ts';

/** Its schema has a name that appears nowhere else. */
const vault = aServerTool({
  name: 'vault.open',
  description: 'opens the vault, described at length',
  inputSchema: {
    type: 'object',
    properties: { combination: { type: 'integer' }, command: { type: 'string' } },
    required: ['combination'],
    additionalProperties: false,
  },
});
const drawers = aServerTool({
  name: 'vault.list',
  inputSchema: { type: 'object', properties: { drawer: { type: 'string' } } },
});
const SECRETS = /combination|described at length/;

/** Each agent is denied in another way. */
const AGENTS = {
  whitelist: { defaultToolEnabled: false, autoAllowTools: ['toy.*'] },
  list: { autoDenyTools: ['vault.*'] },
  rule: { rules: [{ tools: 'vault.*', effect: 'deny', reason: 'the vault is closed for the audit' }] },
  toggle: { toolToggles: { 'vault.open': false, 'vault.list': false } },
  mode: { mode: 'deny', autoAllowTools: ['toy.echo'] },
};
const DENIED = [
  ['whitelist', 'agents.whitelist.defaultToolEnabled', 'vault.open is not switched on'],
  ['list', 'agents.list.autoDenyTools[0]', 'the pattern vault.* matches the tool'],
  ['rule', 'agents.rule.rules[0]', 'the vault is closed for the audit'],
  ['toggle', 'agents.toggle.toolToggles', 'vault.open is switched off'],
  ['mode', 'agents.mode.mode', 'mode is deny'],
] as const;

let server: TestPlatform;
beforeAll(async () => {
  const tenant = { 'closed-tenant': { packs: [] } };
  server = await aPlatform({
    tools: [vault, drawers, aServerTool({ name: 'toy.echo' })],
    config: { policy: { agents: AGENTS }, tenants: tenant },
  });
});
afterAll(async () => await server.close());

async function ask(agent: string, method: string, path: string, body?: unknown): Promise<TestResponse> {
  const headers = { 'x-agent-id': agent, prefer: 'wait=10' };
  return await server.ask({ method, path, headers, ...(body === undefined ? {} : { body }) });
}

async function recordOf(id: unknown): Promise<Record<string, unknown>> {
  return (await server.asOperator('GET', `/v1/tool_calls/${String(id)}`)).json as Record<string, unknown>;
}

const invoke = (agent: string, tool = 'vault.open', args: unknown = { wrong: true }) =>
  ask(agent, 'POST', `/v1/tools/${tool}/invoke`, { run_id: `run_${agent}`, args });

describe.each(DENIED)('a tool that is denied by a %s', (agent, rule, reason) => {
  const detail = `permission denied: ${reason}`;

  it('is not listed, and its call is DENIED and recorded with rule and reason', async () => {
    expect((await ask(agent, 'GET', '/v1/tools')).text).not.toContain('vault');
    for (const name of ['vault.open', 'vault__open']) {
      const denied = await invoke(agent, name);
      expect(denied.json).toMatchObject({ status: 403, code: 'permission_denied', detail, state: 'DENIED' });
      expect(denied.text).not.toMatch(SECRETS);
      expect(await recordOf(denied.json.tool_call_id)).toMatchObject({
        tool_name: 'vault.open',
        agent_id: agent,
        state: 'DENIED',
        args: { wrong: true },
        error: { code: 'permission_denied', message: detail, retryable: false },
        decision: { effect: 'deny', rule, reason },
      });
    }
  });

  it('shows its call to the agent that made it', async () => {
    const { json } = await invoke(agent);
    const seen = await ask(agent, 'GET', `/v1/tool_calls/${json.tool_call_id}`);
    expect(seen.json).toMatchObject({ state: 'DENIED', decision: { rule } });
  });

  it('shows its contract on no route', async () => {
    const one = await ask(agent, 'GET', '/v1/tools/vault.open');
    expect(one.json).toMatchObject({ status: 403, code: 'permission_denied', detail });
    const dry = await ask(agent, 'POST', '/v1/tools/vault.open/invoke?dry_run=true', {
      run_id: 'r',
      args: { wrong: true },
    });
    expect([dry.status, dry.json]).toMatchObject([
      200,
      { errors: [], decision: { effect: 'deny', rule, reason }, route: { client_id: null, online: false } },
    ]);
    const parsed = await ask(agent, 'POST', '/v1/parse', {
      protocol: 'vcp',
      text: formatRequest({ toolName: 'vault.open', args: { wrong: 'yes' } }),
    });
    expect(parsed.json.errors).toMatchObject([{ code: 'permission_denied' }]);
    for (const { text } of [one, dry, parsed]) expect(text).not.toMatch(SECRETS);
  });

  it('is never suggested for a misspelt name', async () => {
    const { json, text } = await invoke(agent, 'vault.opem');
    expect(json).toMatchObject({ status: 404, code: 'tool_not_found' });
    expect(text).not.toContain('vault.open');
  });

  it('is an error result in a batch, of text and of JSON', async () => {
    const asked = { toolName: 'vault.open', command: 'now', args: { wrong: 'yes' } };
    const text = await ask(agent, 'POST', '/v1/tool_calls/batch', {
      format: 'vcp',
      reply: formatRequest(asked),
      run_id: `run_${agent}`,
    });
    const args = JSON.stringify({ wrong: true });
    const message = {
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'vault__open', arguments: args } }],
    };
    const json = await ask(agent, 'POST', '/v1/tool_calls/batch', {
      format: 'openai',
      reply: { choices: [{ message }] },
      run_id: `run_${agent}`,
    });
    for (const response of [text, json]) {
      const { calls, results } = response.json as { calls: Record<string, unknown>[]; results: unknown };
      expect(calls).toMatchObject([{ tool_name: 'vault.open', state: 'DENIED', decision: { rule } }]);
      expect(JSON.stringify(results)).toContain(detail);
      expect(response.text).not.toMatch(SECRETS);
      expect(await recordOf(calls[0]?.['tool_call_id'])).toMatchObject({ state: 'DENIED' });
    }
  });

  it('returns its error and the id of the call over the tenant API', async () => {
    const { status, json } = await server.ask({
      method: 'POST',
      path: '/api/tools/call',
      headers: {
        'x-agent-id': agent,
        'x-tenant-id': 'default',
        'x-site-id': 's',
        'x-trace-id': `t-${agent}`,
      },
      body: { tool_name: 'vault.open', input: { wrong: true } },
    });
    expect([status, json]).toMatchObject([
      200,
      { success: false, error: detail, error_type: 'PermissionError' },
    ]);
    const { audit } = json as { audit: { tool_call_id: string } };
    expect(await recordOf(audit.tool_call_id)).toMatchObject({ state: 'DENIED', decision: { rule } });
  });
});

describe('a tool whose schema lets undeclared members through', () => {
  it('returns no warnings about them over the tenant API to a caller that may not call it', async () => {
    const call = async (agent: string): Promise<TestResponse> =>
      await server.ask({
        method: 'POST',
        path: '/api/tools/call',
        headers: {
          'x-agent-id': agent,
          'x-tenant-id': 'default',
          'x-site-id': 's',
          'x-trace-id': `m-${agent}`,
        },
        body: { tool_name: 'vault.list', input: { drawer: 'a', misspelt: 1 } },
      });
    expect((await call('anybody')).json).toMatchObject({
      success: true,
      audit: { warnings: [{ code: 'undeclared_member', path: '/misspelt' }] },
    });
    for (const [agent] of DENIED) {
      const { json, text } = await call(agent);
      expect(json).toMatchObject({ success: false, error_type: 'PermissionError' });
      expect(text).not.toContain('misspelt');
    }
  });
});

describe('a call that is denied now', () => {
  it('is denied when it is replayed, and names the old one', async () => {
    const allowed = await invoke('anybody', 'vault.open', { combination: 7 });
    expect(allowed.json).toMatchObject({ state: 'COMPLETED' });
    const headers = { 'x-agent-id': 'list', prefer: 'wait=10' };
    const path = `/v1/tool_calls/${allowed.json.tool_call_id}/replay`;
    const again = await server.ask({ method: 'POST', path, headers, body: { run_id: 'run_list' } });
    expect(again.json).toMatchObject({ status: 403, code: 'permission_denied', state: 'DENIED' });
    expect(await recordOf(again.json.tool_call_id)).toMatchObject({
      state: 'DENIED',
      replay_of: allowed.json.tool_call_id,
    });
  });

  it('is the same call under the same Idempotency-Key', async () => {
    const asked = {
      method: 'POST',
      path: '/v1/tools/vault.open/invoke',
      headers: { 'x-agent-id': 'list', 'idempotency-key': 'once' },
      body: { run_id: 'run_list', args: {} },
    };
    const [first, second] = [await server.ask(asked), await server.ask(asked)];
    expect(second.json).toMatchObject({ status: 403, tool_call_id: first.json.tool_call_id });
  });
});

describe('a tool of a pack that the tenant does not have', () => {
  it('is like one of another tenant: not found, whatever the policy says of it', async () => {
    for (const [method, path] of [
      ['GET', '/v1/tools/vault.open'],
      ['POST', '/v1/tools/vault.open/invoke'],
    ] as const) {
      const body = method === 'POST' ? { run_id: 'r', args: {} } : undefined;
      const response = await server.asOperator(method, path, body, 'closed-tenant');
      expect(response.json).toMatchObject({ status: 404, code: 'tool_not_found' });
      expect(response.text).not.toMatch(SECRETS);
    }
  });
});

describe('a tool of another tenant', () => {
  it('is not found', async () => {
    const lent = { client_id: 'hall', tools: [{ name: 'lamp.on', schema: {} }] };
    expect((await ask('list', 'POST', '/internal/tools/register', lent)).json).toMatchObject({ ok: true });
    expect((await ask('anybody', 'GET', '/v1/tools/lamp.on')).status).toBe(200);
    const path = '/v1/tools/lamp.on/invoke';
    const other = await server.asOperator('POST', path, { run_id: 'r', args: {} }, 'other');
    expect(other.json).toMatchObject({ status: 404, code: 'tool_not_found' });
  });
});
