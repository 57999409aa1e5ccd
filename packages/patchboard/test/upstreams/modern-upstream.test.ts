import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputRequired } from '../../src/core/call/input.ts';
import type { ServerTool, ToolContext } from '../../src/core/tools/server-tool.ts';
import { httpSettings } from '../mcp-connection/support/a-connection.ts';
import { anMcpServer, FORM, type McpFixture } from '../mcp/support/a-modern-client.ts';
import { aServerTool, manualTool } from '../support/an-engine.ts';
import { waitFor } from '../support/wait-for.ts';
import { AGateway } from './support/a-gateway.ts';
import { failureOf, me, SECRET, valueOf } from './support/an-mcp-upstream.ts';

const CITY = {
  message: 'Which city?',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const;

const slow = manualTool('slow');
const reporting = manualTool('reporting');
const tools: readonly ServerTool[] = [
  slow.tool,
  reporting.tool,
  aServerTool({
    name: 'seen',
    execute: (args, { origin, traceparent }: ToolContext) => ({ args, hops: origin?.hops, traceparent }),
  }),
  aServerTool({
    name: 'leak',
    execute: () => {
      throw new Error(`the token is ${SECRET}`);
    },
  }),
  aServerTool({
    name: 'ask',
    execute: (_args, { inputs }) => inputs['city']?.content ?? new InputRequired({ city: CITY }),
  }),
  aServerTool({ name: 'hold', execute: async (_args, context) => await context.requestInput(CITY) }),
];

let upstream: McpFixture;
let gateway: AGateway;
beforeAll(async () => {
  // A call that takes longer becomes a task.
  upstream = await anMcpServer({ tools, onlyMcp: true, mcp: { taskAfterMs: 200 } });
  gateway = await AGateway.start(httpSettings(`${upstream.url}/mcp`, { inputRequests: true }));
});
afterAll(async () => {
  await gateway?.close();
  await upstream?.close();
});

describe('a Patchboard as upstream', () => {
  it('is called with the arguments, the trace and the hops', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const call = await gateway.run('up.seen', { args: { q: 'cats' }, traceId, spanId: 'b7ad6b7169203331' });
    expect(valueOf(call)).toMatchObject({
      args: { q: 'cats' },
      hops: 1,
      traceparent: expect.stringContaining(traceId) as string,
    });
  });

  it('reports a failure, without secret values', async () => {
    const failed = failureOf(await gateway.run('up.leak'));
    expect(failed.code).toBe('tool_failed');
    expect(JSON.stringify(failed)).toContain('the token is [redacted]');
    expect(JSON.stringify(failed)).not.toContain(SECRET);
  });

  it('reports progress while the call runs', async () => {
    const { id } = await gateway.submit('up.reporting');
    const reports = gateway.progressOf(id);
    const [running] = await waitFor(() => {
      expect(reporting.running.size).toBe(1);
      return [...reporting.running.values()];
    });
    running?.context.progress({ progress: 1, total: 2, message: `half of ${SECRET}` });
    await waitFor(() =>
      expect(reports).toContainEqual({ progress: 1, total: 2, message: 'half of [redacted]' }),
    );
    running?.resolve('done');
    expect(valueOf(await gateway.reached(id))).toBe('done');
  });

  it('asks the caller of the gateway, and continues with its response', async () => {
    const { id } = await gateway.submit('up.ask');
    const waiting = await gateway.reached(id, 'INPUT_REQUIRED');
    expect(waiting.inputs[0]).toMatchObject({ key: 'city', message: 'up: Which city?', held: false });
    await gateway.server.engine.calls.respond(me, id, {
      id: 'in_1',
      action: 'accept',
      content: { city: 'Oslo' },
    });
    expect(valueOf(await gateway.reached(id))).toEqual({ city: 'Oslo' });
  });

  it('asks an MCP client of the gateway', async () => {
    const first = await gateway.server.call('up__ask', {}, { capabilities: FORM });
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { city: { params: { message: 'up: Which city?', requestedSchema: CITY.schema } } },
    });
    const inputResponses = { city: { action: 'accept', content: { city: 'Rome' } } };
    const { requestState } = first.result as { requestState: string };
    const second = await gateway.server.call(
      'up__ask',
      { requestState, inputResponses },
      { capabilities: FORM },
    );
    expect(second.result.structuredContent).toEqual({ city: 'Rome' });
  });

  it('says which input a caller of the gateway cannot give', async () => {
    const { error } = await gateway.server.call('up__ask');
    expect(error).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
  });

  it('gets no call that too many gateways have passed on', async () => {
    const seen = (hops: number) => gateway.server.call('up__seen', {}, { meta: { 'patchboard/hops': hops } });
    expect((await seen(2)).result).toMatchObject({ structuredContent: { hops: 3 } });
    const { result } = await seen(3);
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain('3 gateways have passed the call on');
    expect(result._meta['patchboard/error']).toMatchObject({ outcome: 'not_started' });
  });

  it('runs a long call as a task, which may ask too', async () => {
    const { id } = await gateway.submit('up.hold');
    await gateway.reached(id, 'INPUT_REQUIRED');
    await gateway.server.engine.calls.respond(me, id, {
      id: 'in_1',
      action: 'accept',
      content: { city: 'Lima' },
    });
    expect(valueOf(await gateway.reached(id))).toEqual({ city: 'Lima' });
  });

  it('cancels a cancelled call before it is a task', async () => {
    const { id } = await gateway.submit('up.slow');
    const { callId } = await slowContext();
    await gateway.server.engine.calls.cancel(me, id);
    await cancelled(id, callId);
  });

  it('cancels the task of a cancelled call', async () => {
    const { id } = await gateway.submit('up.slow');
    const { callId } = await slowContext();
    const reports = gateway.progressOf(id);
    // The message of the task: it was polled.
    await waitFor(() => expect(reports).toContain('attempt 1'));
    await gateway.server.engine.calls.cancel(me, id);
    await cancelled(id, callId);
  });

  /** Of the call that runs at the upstream. */
  async function slowContext(): Promise<ToolContext> {
    return await waitFor(() => {
      const [running] = slow.running.values();
      if (running === undefined) throw new Error('the call has not reached the upstream');
      return running.context;
    });
  }

  async function cancelled(id: string, upstreamId: string): Promise<void> {
    expect((await gateway.reached(id)).state.name).toBe('CANCELLED');
    await waitFor(async () =>
      expect((await upstream.engine.calls.find(me, upstreamId))?.state.name).toBe('CANCELLED'),
    );
    slow.running.clear();
  }
});
