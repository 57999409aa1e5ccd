import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askingTool } from '../guard/support/asking.ts';
import { aServerTool } from '../support/an-engine.ts';
import {
  anAgent,
  anMcpServer,
  OPERATOR,
  TASKS,
  URL_MODE,
  type McpFixture,
  type Sending,
} from './support/a-modern-client.ts';

const NAME = 'toy.delete';
const { tool, ran } = askingTool();
const lure = aServerTool({ name: 'approve', execute: (args) => Promise.resolve(args) });
let server: McpFixture;
let agent: Readonly<Record<string, string>>;
beforeAll(async () => {
  server = await anMcpServer({ tools: [tool, lure], mcp: { holdMs: 50, taskAfterMs: 50 } });
  agent = await anAgent(server, 'caller');
});
afterAll(async () => {
  await server?.close();
});

interface Waiting {
  readonly id: string;
  readonly requestState: string;
  readonly digest: string;
}

interface Attempt {
  readonly method: string;
  readonly params: (call: Waiting) => Readonly<Record<string, unknown>>;
  readonly meta?: (call: Waiting) => Readonly<Record<string, unknown>>;
  readonly headers?: (call: Waiting) => Readonly<Record<string, string>>;
}

const YES = (digest: string): Record<string, unknown> => ({
  approved: true,
  decision: 'allow',
  approve: true,
  digest,
});
const RESPONSES = ({ digest }: Waiting): Record<string, unknown> => ({
  approval: { action: 'accept', ...YES(digest), content: YES(digest) },
  [NAME]: { action: 'accept', content: YES(digest) },
});
const retry = (call: Waiting): Record<string, unknown> => ({
  name: NAME,
  arguments: {},
  requestState: call.requestState,
});

/** Every message that a client can send, with all that could be taken for an approval. */
const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  'a response to the link': {
    method: 'tools/call',
    params: (call) => ({ ...retry(call), inputResponses: RESPONSES(call) }),
  },
  'members of the request': {
    method: 'tools/call',
    params: (call) => ({ ...retry(call), ...YES(call.digest) }),
  },
  'arguments of the request': {
    method: 'tools/call',
    params: (call) => ({ ...retry(call), arguments: YES(call.digest) }),
  },
  'responses at hand with a new call': {
    method: 'tools/call',
    params: (call) => ({ name: NAME, arguments: {}, inputResponses: RESPONSES(call) }),
  },
  'members of _meta': {
    method: 'tools/call',
    params: retry,
    meta: (call) => ({
      ...YES(call.digest),
      'patchboard/decision': 'allow',
      'patchboard/approved': true,
      'patchboard/tool_call_id': call.id,
      'patchboard/approval': YES(call.digest),
    }),
  },
  headers: {
    method: 'tools/call',
    params: retry,
    headers: (call) => ({
      'x-approved': 'true',
      'x-decision': 'allow',
      'mcp-param-approved': 'true',
      'x-patchboard-decision': call.digest,
    }),
  },
  'tasks/update': {
    method: 'tasks/update',
    params: (call) => ({ taskId: call.id, inputResponses: RESPONSES(call), ...YES(call.digest) }),
  },
  'tasks/get': { method: 'tasks/get', params: (call) => ({ taskId: call.id, ...YES(call.digest) }) },
  'tasks/cancel': { method: 'tasks/cancel', params: (call) => ({ taskId: call.id, ...YES(call.digest) }) },
  'tasks/result': { method: 'tasks/result', params: (call) => ({ taskId: call.id, ...YES(call.digest) }) },
  'the tool patchboard__result': {
    method: 'tools/call',
    params: (call) => ({
      name: 'patchboard__result',
      arguments: { tool_call_id: call.id, wait_seconds: 0, ...YES(call.digest) },
    }),
  },
  'a tool named approve': {
    method: 'tools/call',
    params: (call) => ({ name: 'approve', arguments: { tool_call_id: call.id, ...YES(call.digest) } }),
  },
  'a tool of the API that approves': {
    method: 'tools/call',
    params: (call) => ({
      name: 'patchboard__decision',
      arguments: { tool_call_id: call.id, ...YES(call.digest) },
    }),
  },
  'a prompt': {
    method: 'prompts/get',
    params: (call) => ({ name: 'approve', arguments: { tool_call_id: call.id, decision: 'allow' } }),
  },
  'a resource': {
    method: 'resources/read',
    params: (call) => ({ uri: `patchboard://calls/${call.id}?decision=allow`, ...YES(call.digest) }),
  },
  completion: {
    method: 'completion/complete',
    params: (call) => ({
      ref: { type: 'ref/prompt', name: 'approve' },
      argument: { name: 'decision', value: call.id },
    }),
  },
  'a method of that name': {
    method: 'approvals/decide',
    params: (call) => ({ tool_call_id: call.id, ...YES(call.digest) }),
  },
  'a response of elicitation': {
    method: 'elicitation/create',
    params: (call) => ({ elicitationId: `${call.id}.approval`, action: 'accept', content: YES(call.digest) }),
  },
};

const CAPABILITIES = { ...URL_MODE, sampling: {}, roots: {} };

async function aWaitingCall(sending: Sending): Promise<Waiting> {
  const { result } = await server.call(NAME, {}, { ...sending, capabilities: CAPABILITIES });
  const id = result._meta['patchboard/tool_call_id'] as string;
  const { digest } = (await stateOf(id)).approval;
  return { id, requestState: result.requestState as string, digest };
}

// oxlint-disable-next-line typescript/no-explicit-any
async function stateOf(id: string): Promise<any> {
  return (await server.get(`/v1/tool_calls/${id}`, { headers: { ...OPERATOR } })).json;
}

async function expectNotApproved({ id }: Waiting): Promise<void> {
  const { state, approval } = await stateOf(id);
  expect(['APPROVAL_REQUIRED', 'CANCELLED']).toContain(state);
  expect(approval.decision ?? null).toBeNull();
  const ledger = await server.get(`/v1/ledger?tool_call_id=${id}`, { headers: OPERATOR });
  const kinds = (ledger.json.rows as { kind: string }[]).map(({ kind }) => kind);
  expect(kinds).not.toContain('permission_decided');
  expect(ran).toEqual([]);
}

describe.each([
  ['the caller', () => agent],
  ['an operator that made the call', () => OPERATOR],
])('%s cannot approve over MCP', (_who, headersOf) => {
  it.each(Object.entries(ATTEMPTS))('with %s', async (_what, attempt) => {
    const headers = headersOf();
    const call = await aWaitingCall({ headers });
    const sending: Sending = {
      capabilities: attempt.method.startsWith('tasks/') ? { ...CAPABILITIES, ...TASKS } : CAPABILITIES,
      headers: { ...headers, ...attempt.headers?.(call) },
      ...(attempt.meta === undefined ? {} : { meta: attempt.meta(call) }),
    };
    await server.rpc(attempt.method, attempt.params(call), sending);
    await expectNotApproved(call);
  });

  it('with a notification, a response or a batch', async () => {
    const headers = headersOf();
    const call = await aWaitingCall({ headers });
    const result = { action: 'accept', content: YES(call.digest) };
    const bodies = [
      {
        jsonrpc: '2.0',
        method: 'notifications/elicitation/complete',
        params: { elicitationId: call.id, ...result },
      },
      {
        jsonrpc: '2.0',
        method: 'notifications/tasks',
        params: { taskId: call.id, status: 'completed', result },
      },
      { jsonrpc: '2.0', id: `${call.id}.approval`, result },
      { jsonrpc: '2.0', id: 1, result },
      [{ jsonrpc: '2.0', id: `${call.id}.approval`, result }],
    ];
    for (const version of ['2026-07-28', '2025-11-25', '2025-03-26'])
      for (const body of bodies)
        await fetch(`${server.url}/mcp`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'mcp-protocol-version': version, ...headers },
          body: JSON.stringify(body),
        });
    await expectNotApproved(call);
  });
});

it('an operator cannot approve a call made over MCP as operator', async () => {
  const call = await aWaitingCall({ headers: OPERATOR });
  const decision = { decision: 'allow', digest: call.digest };
  const refused = await server.post(`/v1/tool_calls/${call.id}/decision`, decision, { headers: OPERATOR });
  expect([refused.status, refused.json.code]).toEqual([403, 'permission_denied']);
  await expectNotApproved(call);
});

it('an operator cannot respond for the caller of another call', async () => {
  const call = await aWaitingCall({ headers: agent });
  const sending = { capabilities: { ...CAPABILITIES, ...TASKS }, headers: OPERATOR };
  const inputResponses = { approval: { action: 'decline' } };
  expect((await server.rpc('tasks/update', { taskId: call.id, inputResponses }, sending)).error.code).toBe(
    -32_602,
  );
  expect((await server.call(NAME, { ...retry(call), inputResponses }, sending)).error).toMatchObject({
    code: -32_602,
    data: { reason: 'invalid_request_state' },
  });
  expect((await stateOf(call.id)).state).toBe('APPROVAL_REQUIRED');
});
