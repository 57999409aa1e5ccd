import type { TraceLedgerView } from '@patchboard/wire';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, foreignText, ToolFailure } from '../../src/core/failures.ts';
import type { ServerTool, ToolContext } from '../../src/core/tools/server-tool.ts';
import { aServerTool } from '../support/an-engine.ts';
import { aTenantServer, callResponse, OWN, type TenantServer } from './support/tenant-server.ts';

const JWT_SECRET = 'a secret of at least thirty-two characters';

let origins: ToolContext['origin'][] = [];
let runs = 0;
let flakes = 0;

function aTool(name: string, given: Partial<ServerTool>): ServerTool {
  return aServerTool({ name, description: '', execute: () => Promise.resolve({}), ...given });
}

const TOOLS: readonly ServerTool[] = [
  aTool('toy.liar', {
    outputSchema: { type: 'object', required: ['promised'], properties: { promised: { type: 'number' } } },
    execute: () => Promise.resolve({ promised: 'secret-in-the-output' }),
  }),
  aTool('toy.asking', { execute: (_args, { requestInput }) => requestInput({ message: 'Which city?' }) }),
  aTool('toy.sleeper', { timeoutMs: 50, execute: () => new Promise(() => {}) }),
  aTool('toy.dangerous', { annotations: { destructive: true } }),
  aTool('toy.for_people', { metadata: { ai_callable: false } }),
  aTool('toy.limited', {}),
  aTool('toy.fragile', { execute: () => Promise.reject(new Error('it broke')) }),
  aTool('toy.flaky', {
    annotations: { idempotent: true },
    execute: () => {
      flakes += 1;
      if (flakes < 3)
        return Promise.reject(new ToolFailure(failure('upstream_unreachable', foreignText('try again'))));
      return Promise.resolve({ flakes });
    },
  }),
  aTool('toy.counter', {
    annotations: { readonly: true },
    cacheTtlMs: 60_000,
    execute: (_args, context) => {
      runs += 1;
      origins.push(context.origin);
      return Promise.resolve({ runs });
    },
  }),
  aTool('toy.origin', {
    execute: (_args, context) => {
      origins.push(context.origin);
      return Promise.resolve({ traceparent: context.traceparent });
    },
  }),
];

let server: TenantServer;
beforeAll(async () => {
  server = await aTenantServer({
    tools: TOOLS,
    environment: { SECRET_OF_TOKENS: JWT_SECRET },
    config: {
      auth: {
        internal_keys: [{ tenant: 'yantian', key_env: 'KEY_OF_YANTIAN' }],
        jwt: { issuer: 'https://issuer.example', audience: 'patchboard', secret_env: 'SECRET_OF_TOKENS' },
      },
      tenants: {
        yantian: {
          sites: ['yantian-main', 'yantian-hill'],
          packs: ['heritage', 'guarded'],
          limits: { tools: { 'toy.limited': { burst: 2, per_second: 0.001 } } },
        },
      },
    },
  });
});
afterAll(async () => {
  await server.close();
});

/** Headers with a trace of their own, so that what is looked up is this call's alone. */
let traces = 0;
function traced(
  more: Readonly<Record<string, string>> = {},
): Record<string, string> & { 'x-trace-id': string } {
  traces += 1;
  return { ...OWN, 'x-trace-id': `trace-${traces}`, ...more };
}

describe('a call that fails', () => {
  it.each([
    {
      name: 'of a tool that is not there',
      tool: 'no.such.tool',
      input: {},
      type: 'ToolNotFoundError',
      error: 'Unknown tool: no.such.tool',
      code: 'tool_not_found',
    },
    {
      name: 'of a tool that is misspelt',
      tool: 'serch_content',
      input: { query: '古井' },
      type: 'ToolNotFoundError',
      error: 'Unknown tool: serch_content; did you mean search_content?',
      reasons: [{ code: 'tool_unknown_near', params: { tool: 'serch_content', meant: 'search_content' } }],
      code: 'tool_not_found',
    },
    {
      name: 'of a tool that asks for input, which this API cannot give',
      tool: 'toy.asking',
      input: {},
      type: 'InputRequiredError',
      error: 'toy.asking needs input (form) from its caller, and this caller cannot give it',
      reasons: [{ code: 'input_caller_cannot', params: { tool: 'toy.asking', kind: 'form' } }],
      code: 'input_unavailable',
    },
    {
      name: 'of a tool of a pack that the tenant does not have',
      tool: 'calculation.eval',
      input: { expression: '1+1' },
      type: 'ToolNotFoundError',
      error: 'Unknown tool: calculation.eval',
      code: 'tool_not_found',
    },
    {
      name: 'with an input that lacks something',
      tool: 'get_npc_profile',
      input: {},
      type: 'ValidationError',
      error: "input must have required property 'npc_id'",
      code: 'input_invalid',
    },
    {
      name: 'with an input that is too much',
      tool: 'search_content',
      input: { query: '井', limit: 51 },
      type: 'ValidationError',
      error: 'input/limit must be <= 50',
      reasons: [
        {
          code: 'input_issue',
          params: { path: '/limit', problem: [{ code: 'issue_maximum', params: { limit: 50 } }] },
        },
      ],
      code: 'input_invalid',
    },
    {
      name: 'with an input that is no object',
      tool: 'search_content',
      input: '严氏家训',
      type: 'ValidationError',
      error: 'input must be object',
      code: 'input_invalid',
    },
    {
      name: 'with a value that names nothing',
      tool: 'get_npc_profile',
      input: { npc_id: 'unknown_npc' },
      type: 'ValueError',
      error: 'NPC profile not found: unknown_npc',
      code: 'value_not_found',
    },
    {
      name: 'of a tool that is for people',
      tool: 'toy.for_people',
      input: {},
      type: 'PermissionError',
      error: 'permission denied: toy.for_people is for operators, not for an AI',
      code: 'permission_denied',
    },
    {
      name: 'of a tool that takes too long',
      tool: 'toy.sleeper',
      input: {},
      type: 'TimeoutError',
      error: 'no result within 0.05s',
      code: 'timeout',
    },
    {
      name: 'of a tool that breaks',
      tool: 'toy.fragile',
      input: {},
      type: 'InternalError',
      error: 'it broke',
      code: 'tool_failed',
    },
  ])(
    '$name is 200 with success false, and in the ledger of its trace',
    async ({ tool, input, type, error, reasons, code }) => {
      const headers = traced();
      const response = callResponse(await server.call(tool, input, headers));
      expect(response).toMatchObject({
        success: false,
        error,
        ...(reasons === undefined ? {} : { reasons }),
        error_type: type,
        audit: {
          trace_id: headers['x-trace-id'],
          tool_name: tool,
          status: 'error',
          error_type: type,
          error_message: error,
          request_payload_hash: expect.stringMatching(/^[0-9a-f]{8}$/) as unknown,
        },
      });
      const [entry, ...others] = await server.trace(headers['x-trace-id']);
      expect(others).toEqual([]);
      expect(entry).toMatchObject({ status: 'error', error_code: code, site_id: 'yantian-main' });
      const [call] = entry?.tool_calls ?? [];
      expect(call).toMatchObject({ tool_name: tool, tool_call_id: response.audit['tool_call_id'] ?? null });
      expect(call?.request_payload_hash).toMatch(
        new RegExp(`^${String(response.audit['request_payload_hash'])}[0-9a-f]{56}$`),
      );
      // One line in the log, with the trace.
      const lines = server
        .log()
        .split('\n')
        .filter((line) => line.includes(`"${headers['x-trace-id']}"`));
      expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(['tool_call_error']);
    },
  );
});

describe('a call that is refused on another API', () => {
  it('has its line in the log too, once, with code and trace', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = {
      authorization: `Bearer ${server.operatorToken}`,
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
    };
    const path = '/v1/tools/no.such.tool/invoke';
    const response = await server.ask({
      method: 'POST',
      path,
      headers,
      body: { run_id: 'run_log', args: {} },
    });
    expect(response.status).toBe(404);
    const lines = server
      .log()
      .split('\n')
      .filter((line) => line.includes(trace));
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
      {
        level: 'warn',
        timestamp: expect.any(String) as string,
        event: 'tool_call_error',
        trace_id: trace,
        tool_name: 'no.such.tool',
        tenant_id: 'default',
        agent_id: 'operator',
        code: 'tool_not_found',
      },
    ]);
  });
});

describe('an output that breaks its schema', () => {
  it('is an error to the caller, a row in the ledger and a metric, and is never passed on', async () => {
    const metrics = async (): Promise<number> => {
      const { text } = await server.asOperator('GET', '/metrics');
      const line = /patchboard_call_failures_total\{code="output_invalid",source="server"\} (\d+)/.exec(text);
      return Number(line?.[1] ?? 0);
    };
    const before = await metrics();
    const headers = traced();
    const response = await server.call('toy.liar', {}, headers);
    expect(callResponse(response)).toMatchObject({
      success: false,
      error_type: 'OutputValidationError',
      audit: { status: 'error', error_type: 'OutputValidationError' },
    });
    expect(response.text).not.toContain('secret-in-the-output');
    expect(await server.trace(headers['x-trace-id'])).toMatchObject([
      { status: 'error', error_code: 'output_invalid' },
    ]);
    expect(await metrics()).toBe(before + 1);
    expect(server.folder.filesWith('secret-in-the-output')).toEqual([]);
    expect(server.log()).not.toContain('secret-in-the-output');
  });
});

describe('a trace', () => {
  it('has both calls in order, and is invisible to other tenants', async () => {
    const headers = traced();
    callResponse(await server.call('search_content', { query: '古井' }, headers));
    callResponse(await server.call('get_npc_profile', { npc_id: 'nobody' }, headers));
    const entries = await server.trace(headers['x-trace-id']);
    expect(entries.map(({ status, tool_calls: [call] }) => [call?.tool_name, status])).toEqual([
      ['search_content', 'success'],
      ['get_npc_profile', 'error'],
    ]);
    expect(entries).toMatchObject([
      { latency_ms: expect.any(Number) as unknown, error: null },
      { latency_ms: expect.any(Number) as unknown, error: 'NPC profile not found: nobody' },
    ]);
    expect(await server.trace(headers['x-trace-id'], 'muyuan')).toEqual([]);
  });

  it('goes page by page', async () => {
    const headers = traced();
    for (let turn = 0; turn < 5; turn += 1) {
      callResponse(await server.call(turn % 2 === 0 ? 'no.such.tool' : 'get_site_map', {}, headers));
    }
    const names: string[] = [];
    let path: string | null = `/v1/trace_ledger?limit=2&trace_id=${headers['x-trace-id']}`;
    while (path !== null) {
      const { json } = await server.asOperator('GET', path, undefined, 'yantian');
      const page = json as { trace_ledger: TraceLedgerView[]; next_cursor: string | null };
      names.push(...page.trace_ledger.map(({ tool_calls: [call] }) => call?.tool_name ?? ''));
      path =
        page.next_cursor === null
          ? null
          : `/v1/trace_ledger?limit=2&trace_id=${headers['x-trace-id']}&cursor=${page.next_cursor}`;
    }
    expect(names).toEqual(['no.such.tool', 'get_site_map', 'no.such.tool', 'get_site_map', 'no.such.tool']);
  });

  it('of the body is kept beside that of the header', async () => {
    const headers = traced();
    const context = { tenant_id: 'yantian', site_id: 'yantian-main', trace_id: 'trace-of-the-body' };
    const { audit } = callResponse(await server.call('get_site_map', {}, headers, context));
    expect(audit).toMatchObject({ trace_id: headers['x-trace-id'], context_trace_id: 'trace-of-the-body' });
    const { json } = await server.asOperator(
      'GET',
      `/v1/ledger?trace_id=${headers['x-trace-id']}`,
      undefined,
      'yantian',
    );
    expect(JSON.stringify(json)).toContain('"context_trace_id":"trace-of-the-body"');
  });
});

describe('the context of a tool', () => {
  it('is site, user, session, character and the trace context, from headers and body', async () => {
    origins = [];
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const headers = traced({ 'x-user-id': 'user-1', 'x-npc-id': 'ancestor_yan', traceparent });
    const response = callResponse(await server.call('toy.origin', {}, headers, { session_id: 'session-1' }));
    expect(response.output).toEqual({ traceparent });
    expect(origins).toEqual([
      {
        siteId: 'yantian-main',
        userId: 'user-1',
        sessionId: 'session-1',
        npcId: 'ancestor_yan',
        traceparent,
      },
    ]);
  });

  it("is stored with a visitor's event, unless the input has its own values", async () => {
    const headers = traced({ 'x-user-id': 'user-1', 'x-session-id': 'session-1' });
    const { output } = callResponse(await server.call('log_user_event', { event_type: 'visit' }, headers));
    expect(output).toEqual({
      event_id: expect.stringMatching(/^event_/) as unknown,
      logged_at: expect.stringMatching(/Z$/) as unknown,
    });
  });
});

describe('a cached result', () => {
  it('is returned with its age as a new call, but not for another site or other arguments', async () => {
    runs = 0;
    origins = [];
    const first = traced({ 'x-user-id': 'user-1' });
    const fresh = callResponse(await server.call('toy.counter', { a: 1, b: 2 }, first));
    expect(fresh).toMatchObject({ output: { runs: 1 } });
    expect(fresh).not.toHaveProperty('cached');
    const second = traced({ 'x-user-id': 'user-2' });
    const again = callResponse(await server.call('toy.counter', { b: 2, a: 1 }, second));
    expect(again).toMatchObject({
      success: true,
      output: { runs: 1 },
      cached: true,
      cache_age_ms: expect.any(Number) as unknown,
    });
    expect(again.audit['tool_call_id']).not.toBe(fresh.audit['tool_call_id']);
    const entries = [
      ...(await server.trace(first['x-trace-id'])),
      ...(await server.trace(second['x-trace-id'])),
    ];
    expect(entries.map(({ status, tool_calls: [call] }) => [status, call?.cached, call?.attempts])).toEqual([
      ['success', false, 1],
      ['success', true, 0],
    ]);
    const other = traced({ 'x-site-id': 'yantian-hill' });
    expect(callResponse(await server.call('toy.counter', { a: 1, b: 2 }, other)).output).toEqual({ runs: 2 });
    expect(callResponse(await server.call('toy.counter', { a: 2 }, traced())).output).toEqual({ runs: 3 });
    // A cached result must not depend on the first caller.
    expect(origins).toEqual([
      { siteId: 'yantian-main' },
      { siteId: 'yantian-hill' },
      { siteId: 'yantian-main' },
    ]);
    const verdict = await server.asOperator('GET', '/v1/ledger/verify');
    expect(verdict.json).toMatchObject({ ok: true });
  });
});

describe('a tool', () => {
  it('that is idempotent is retried after a transient failure', async () => {
    const headers = traced();
    const response = callResponse(await server.call('toy.flaky', {}, headers));
    expect(response).toMatchObject({ success: true, output: { flakes: 3 } });
    const [entry] = await server.trace(headers['x-trace-id']);
    expect(entry?.tool_calls).toMatchObject([{ attempts: 3 }]);
  });

  it('that asks is recorded and waits for an operator', async () => {
    const response = callResponse(await server.call('toy.dangerous', {}, traced()));
    expect(response).toMatchObject({
      success: false,
      error_type: 'ApprovalRequiredError',
      audit: { tool_call_id: expect.stringMatching(/^tc_/) as unknown },
    });
    const path = `/v1/tool_calls/${String(response.audit['tool_call_id'])}`;
    const { json } = await server.asOperator('GET', path, undefined, 'yantian');
    expect(json).toMatchObject({ state: 'APPROVAL_REQUIRED' });
  });

  it('that is for people may be called by an operator', async () => {
    const { 'x-internal-api-key': _key, ...rest } = traced();
    const headers = { ...rest, authorization: `Bearer ${server.operatorToken}` };
    expect(callResponse(await server.call('toy.for_people', {}, headers))).toMatchObject({ success: true });
  });

  it('that is for people is listed only on request', async () => {
    const names = async (body: unknown): Promise<string[]> => {
      const response = await server.ask({ method: 'POST', path: '/tools/list', headers: OWN, body });
      return (response.json as { tools: { name: string }[] }).tools.map(({ name }) => name);
    };
    expect(await names({})).not.toContain('toy.for_people');
    expect(await names({ ai_callable_only: false })).toContain('toy.for_people');
    expect((await names({ category: 'npc' })).toSorted()).toEqual(['get_npc_profile', 'get_prompt_active']);
    expect(await names({ category: 'nothing' })).toEqual([]);
  });

  it('has a rate limit per tenant, and returns the remaining calls', async () => {
    const [first, second, third] = [
      await server.call('toy.limited', {}, traced()),
      await server.call('toy.limited', {}, traced()),
      await server.call('toy.limited', {}, traced()),
    ];
    expect([first.status, second.status, third.status]).toEqual([200, 200, 429]);
    expect(first.headers).toMatchObject({
      'ratelimit-policy': '"tool";q=2;w=2000',
      ratelimit: expect.stringMatching(/^"tool";r=1;t=\d+$/) as unknown,
    });
    expect(third.headers).toMatchObject({
      'retry-after': expect.stringMatching(/^\d+$/) as unknown,
      ratelimit: expect.stringMatching(/^"tool";r=0;t=\d+$/) as unknown,
      'content-type': expect.stringContaining('application/problem+json') as unknown,
    });
    expect(third.json).toMatchObject({
      code: 'rate_limited',
      error_type: 'RateLimitError',
      audit: { status: 'error', error_type: 'RateLimitError', tool_name: 'toy.limited' },
    });
    const trace = String((third.json as { audit: { trace_id: string } }).audit.trace_id);
    expect(await server.trace(trace)).toMatchObject([{ status: 'error', error_code: 'rate_limited' }]);
  });
});

describe('authentication', () => {
  const { 'x-internal-api-key': _key, ...anonymous } = OWN;
  const token = (claims: Record<string, unknown>): Promise<string> =>
    new SignJWT({ tenant: 'yantian', kind: 'service', ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer('https://issuer.example')
      .setAudience('patchboard')
      .setSubject('ai-orchestrator')
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(JWT_SECRET));

  it('accepts a token of another issuer, for its own tenant', async () => {
    const own = { ...anonymous, authorization: `Bearer ${await token({})}` };
    expect(callResponse(await server.call('get_site_map', {}, own))).toMatchObject({ success: true });
    const foreign = { ...anonymous, authorization: `Bearer ${await token({ tenant: 'muyuan' })}` };
    expect((await server.call('get_site_map', {}, foreign)).status).toBe(403);
    const weak = { ...anonymous, authorization: `Bearer ${await token({ scope: 'calls:read' })}` };
    expect((await server.call('get_site_map', {}, weak)).status).toBe(403);
  });

  it('accepts a key in either header, until it is revoked', async () => {
    const key = await server.mint({ kind: 'service', name: 'ai-orchestrator', tenant: 'yantian' });
    const headers = { ...anonymous, 'x-internal-api-key': key.secret };
    expect(callResponse(await server.call('get_site_map', {}, headers))).toMatchObject({ success: true });
    const bearer = { ...anonymous, ...key.headers };
    expect(callResponse(await server.call('get_site_map', {}, bearer))).toMatchObject({ success: true });
    await server.asOperator('DELETE', `/v1/keys/${key.id}`, undefined, 'yantian');
    expect((await server.call('get_site_map', {}, headers)).status).toBe(401);
  });
});

describe('a request that cannot be read', () => {
  it.each([
    ['no tool_name', {}, /body\/tool_name is required/],
    ['a tool_name that is no text', { tool_name: 7 }, /body\/tool_name must be string/],
    ['something unknown beside it', { tool_name: 'x', args: {} }, /body\/args is not known here/],
    ['a context that is no object', { tool_name: 'x', context: [] }, /body\/context must be object/],
  ])('%s is 400 and says where', async (_name, body, says) => {
    const response = await server.ask({ method: 'POST', path: '/api/tools/call', headers: OWN, body });
    expect(response.status).toBe(400);
    expect((response.json as { detail: string }).detail).toMatch(says);
  });

  it('a user in the body that is another than in the header is 400', async () => {
    const headers = { ...OWN, 'x-user-id': 'user-1' };
    const response = await server.call('get_site_map', {}, headers, { user_id: 'user-2' });
    expect(response.status).toBe(400);
    expect((response.json as { detail: string }).detail).toContain('context/user_id');
  });
});
