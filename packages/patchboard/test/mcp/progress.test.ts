import { describe, expect, it } from 'vitest';
import { InputRequired } from '../../src/core/call/input.ts';
import { aPrincipal, aServerTool } from '../support/an-engine.ts';
import { CITY } from '../support/asking-tools.ts';
import {
  FORM,
  mcpServers,
  OPERATOR,
  TASKS,
  URL_MODE,
  type McpFixture,
  type RpcReply,
} from './support/a-modern-client.ts';

const start = mcpServers();
const LEVEL = 'io.modelcontextprotocol/logLevel';

const talking = aServerTool({
  name: 'talk',
  execute: (_args, context) => {
    context.progress({ progress: 0, total: 2 });
    context.progress('half');
    context.emit('log', 'plain');
    context.emit('disk', { level: 'warning', free: 3 });
    context.log.info('of the server');
    context.progress({ progress: 2, total: 2, message: 'done' });
    return Promise.resolve('said');
  },
});

const asking = aServerTool({
  name: 'ask',
  execute: (_args, context) => {
    const step = context.inputs['it'] === undefined ? 1 : 2;
    context.progress(step);
    return step === 1 ? new InputRequired({ it: CITY }) : 'done';
  },
});

const slow = aServerTool({
  name: 'slow',
  execute: (_args, { progress, signal }) =>
    new Promise((resolve) => {
      let count = 0;
      const timer = setInterval(() => progress((count += 1)), 20);
      signal.addEventListener('abort', () => (clearInterval(timer), resolve('stopped')));
    }),
});

const risky = aServerTool({
  name: 'risky',
  annotations: { destructive: true },
  execute: (_args, context) => {
    context.progress(1);
    return 'done';
  },
});

async function serving(mcp = {}): Promise<McpFixture> {
  return await start({ tools: [talking, asking, slow, risky], mcp });
}

const of = ({ notifications }: RpcReply, method: string): Record<string, unknown>[] =>
  notifications.filter((one) => one.method === method).map(({ params }) => params);

describe('progress', () => {
  it.each(['token', 7])('is sent with the token %j, before the result', async (progressToken) => {
    const server = await serving();
    const reply = await server.call('talk', {}, { meta: { progressToken } });
    expect(of(reply, 'notifications/progress')).toEqual([
      { progressToken, progress: 0, total: 2 },
      { progressToken, progress: 1, message: 'half' },
      { progressToken, progress: 2, total: 2, message: 'done' },
    ]);
    expect(reply.notifications).toHaveLength(3);
    expect(reply.result.content[0].text).toBe('said');
  });

  it('is sent to the request that continues the call', async () => {
    const server = await serving();
    const sending = (progressToken: string) => ({ capabilities: FORM, meta: { progressToken } });
    const first = await server.call('ask', {}, sending('a'));
    expect(of(first, 'notifications/progress')).toEqual([{ progressToken: 'a', progress: 1 }]);
    const { requestState } = first.result;
    const inputResponses = { it: { action: 'accept', content: { city: 'Rome' } } };
    const second = await server.call('ask', { requestState, inputResponses }, sending('b'));
    expect(of(second, 'notifications/progress')).toEqual([{ progressToken: 'b', progress: 2 }]);
  });

  it('is sent to the request that waits, also after another one was refused', async () => {
    const server = await serving();
    const sending = (progressToken: string) => ({ capabilities: URL_MODE, meta: { progressToken } });
    const { result } = await server.call('risky', {}, sending('a'));
    const { requestState } = result;
    const respond = (action: string, token: string): Promise<RpcReply> =>
      server.call('risky', { requestState, inputResponses: { approval: { action } } }, sending(token));
    const waiting = respond('accept', 'b');
    await server.rpc('tools/list', {});
    expect((await respond('perhaps', 'c')).error.code).toBe(-32_602);
    const id = String(result._meta['patchboard/tool_call_id']);
    const { approval } = (await server.engine.calls.find(aPrincipal(), id))!;
    const decision = { decision: 'allow', digest: approval!.digest };
    await server.post(`/v1/tool_calls/${id}/decision`, decision, { headers: { ...OPERATOR } });
    expect(of(await waiting, 'notifications/progress')).toEqual([{ progressToken: 'b', progress: 1 }]);
  });

  it.each([
    ['task', TASKS],
    ['complete', {}],
  ])('ends with a result of the type %s', async (resultType, capabilities) => {
    const server = await serving({ holdMs: 100, taskAfterMs: 100 });
    const reply = await server.call('slow', {}, { capabilities, meta: { progressToken: 1 } });
    expect(of(reply, 'notifications/progress').length).toBeGreaterThan(0);
    expect(reply.result.resultType).toBe(resultType);
    const id = reply.result.taskId ?? reply.result.structuredContent.tool_call_id;
    await server.post(`/v1/tool_calls/${id}/cancel`, {});
  });

  it('is not sent without a token, nor to a client that takes no stream', async () => {
    const server = await serving();
    expect((await server.call('talk')).notifications).toEqual([]);
    const meta = { progressToken: 1, [LEVEL]: 'debug' };
    const plain = await server.call('talk', {}, { meta, headers: { accept: 'application/json' } });
    expect(plain.notifications).toEqual([]);
  });
});

describe('events of a tool', () => {
  const LOG = { level: 'info', logger: 'log', data: 'plain' };
  const DISK = { level: 'warning', logger: 'disk', data: { level: 'warning', free: 3 } };

  it.each([
    ['debug', [LOG, DISK]],
    ['info', [LOG, DISK]],
    ['notice', [DISK]],
    ['error', []],
  ])('are sent from the level %s on, and never the log of the server', async (level, expected) => {
    const server = await serving();
    const reply = await server.call('talk', {}, { meta: { [LEVEL]: level } });
    expect(reply.notifications).toEqual(
      expected.map((params) => ({ jsonrpc: '2.0', method: 'notifications/message', params })),
    );
  });

  it('with an unknown level are refused', async () => {
    const server = await serving();
    const { error } = await server.call('talk', {}, { meta: { [LEVEL]: 'loud' } });
    expect(error.code).toBe(-32_602);
  });
});
