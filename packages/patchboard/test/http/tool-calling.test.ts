import {
  createClient,
  createToolCalling,
  type PatchboardClient,
  type ToolCallConfig,
} from '@patchboard/client';
import { useToolCalling } from '@patchboard/client/vue';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServer, type TestServer } from './support/a-server.ts';
import { aServerTool } from '../support/an-engine.ts';
import { add, echo, failing, gatedTool } from './support/toy-tools.ts';

let server: TestServer;
let client: PatchboardClient;
const never = gatedTool('never');
const gate = gatedTool();
const method = aServerTool({ name: 'files_read', metadata: { module: 'files', method: 'read' } });
const plain = aServerTool({ name: 'text_upper' });

beforeAll(async () => {
  server = await aServer({ tools: [echo, add, failing, gate.tool, never.tool, method, plain] });
  client = createClient({ url: server.url });
});
afterAll(async () => {
  await server.close();
});

const ON: ToolCallConfig = { enabled: true, defaultToolEnabled: true };
const sum = (a: string, b: string): string =>
  `<<<[TOOL_REQUEST]>>>tool_name:「始」math.add「末」a:「始」${a}「末」b:「始」${b}「末」<<<[END_TOOL_REQUEST]>>>`;

describe('createToolCalling', () => {
  it('runs a cycle over HTTP, and formats its results', async () => {
    const calling = createToolCalling(client);
    const text = `${sum('1', '2')}\n<<<[TOOL_REQUEST]>>>x:「始」1「末」<<<[END_TOOL_REQUEST]>>>\n${sum('one', '2')}\n${sum('3', '4')}`;
    for (const parallelExecution of [true, false]) {
      const cycle = await calling.processCycle(text, { ...ON, parallelExecution });
      expect(cycle).toMatchObject({ hasToolRequests: true });
      expect(cycle.executionResults.map(({ status, result }) => `${status} ${result.slice(0, 17)}`)).toEqual([
        'success 3',
        'error tool_name_missing',
        'error input_invalid: ar',
        'success 7',
      ]);
      const next = await calling.formatCycleResults(cycle.executionResults);
      expect(next.split('<<<[TOOL_RESULT]>>>')).toHaveLength(5);
    }
  });

  it('generates prompts of enabled tools, and caches them until invalidated', async () => {
    const calling = createToolCalling(client);
    const config = { enabled: true, toolToggles: { echo: true } };
    const prompt = await calling.generateToolsPrompt(config);
    expect(prompt).toContain('tool_name:「始」echo「末」');
    expect(prompt).not.toContain('math.add');
    await client.provider('c_prompt').register([{ name: 'echo.late', schema: { type: 'object' } }]);
    const all = { enabled: true, defaultToolEnabled: true };
    expect(await calling.generateToolsPrompt(all)).toContain('echo.late');
    await client.provider('c_prompt').unregister();
    expect(await calling.generateToolsPrompt(all)).toContain('echo.late');
    calling.invalidateDiscoveryCache();
    expect(await calling.generateToolsPrompt(all)).not.toContain('echo.late');
    const found = await calling.getDiscoveredMethods(({ toolId }) => toolId.startsWith('math'));
    expect(found.map(({ toolId, methods }) => [toolId, methods.length])).toEqual([['math.add', 1]]);
  });

  it('obeys the config: off, manual, toggles, confirmation and time limit', async () => {
    const calling = createToolCalling(client);
    expect(calling.hasToolCallingEnabled({})).toBe(false);
    expect(calling.hasToolCallingEnabled(ON)).toBe(true);
    expect(await calling.processCycle(sum('1', '2'), {})).toMatchObject({ hasToolRequests: false });
    const manual = await calling.processCycle(sum('1', '2'), { ...ON, mode: 'manual' });
    expect(manual).toMatchObject({ executionResults: [], parsedRequests: [{ toolName: 'math.add' }] });
    const off = await calling.processCycle(sum('1', '2'), { ...ON, toolToggles: { 'math.add': false } });
    expect(off.executionResults).toMatchObject([
      { status: 'error', result: expect.stringContaining('switched off') as string },
    ]);
    const no = await calling.processCycle(sum('1', '2'), { ...ON, requireConfirmation: true }, () => false);
    expect(no.executionResults).toMatchObject([{ result: 'approval_denied: Permission denied by user' }]);
    const unconfirmed = await calling.processCycle(sum('1', '2'), { ...ON, requireConfirmation: true });
    expect(unconfirmed.executionResults).toMatchObject([
      { status: 'error', result: expect.stringContaining('no onBeforeExecute was given') as string },
    ]);
    const asked: unknown[] = [];
    const torn = await calling.processCycle(
      sum('1', '2'),
      { ...ON, requireConfirmation: true },
      (request) => {
        asked.push(request);
        throw new Error('the window is closed');
      },
    );
    expect(torn.executionResults).toMatchObject([
      { result: 'approval_denied: onBeforeExecute failed: the window is closed' },
    ]);
    expect(asked).toMatchObject([{ requestId: 'call-1', toolName: 'math.add', args: { a: 1, b: 2 } }]);
    const gated = '<<<[TOOL_REQUEST]>>>tool_name:「始」never「末」<<<[END_TOOL_REQUEST]>>>';
    const late = await calling.processCycle(gated, { ...ON, timeout: 200 });
    expect(late.executionResults).toMatchObject([{ result: 'timeout: no result within 200 ms' }]);
    const call = await client.wait(late.executionResults[0]?.callId ?? '');
    expect(call.state).toBe('CANCELLED');
  });
});

describe('toggles', () => {
  const ask = (name: string): string =>
    `<<<[TOOL_REQUEST]>>>tool_name:「始」${name}「末」<<<[END_TOOL_REQUEST]>>>`;

  it.each([
    [{ files: false, text: false }, ['error', 'success']],
    [{ files: false, files_read: true }, ['success', 'success']],
    [{ text_upper: false }, ['success', 'error']],
  ])('%j are of a module only for its own methods', async (toolToggles, statuses) => {
    const calling = createToolCalling(client);
    const text = `${ask('files_read')}\n${ask('text_upper')}\n${ask('nowhere')}`;
    const { executionResults } = await calling.processCycle(text, { ...ON, toolToggles });
    expect(executionResults.map(({ status }) => status)).toEqual([...statuses, 'error']);
    expect(executionResults[2]?.result).toContain('tool_not_found');
  });
});

describe('prompts', () => {
  it('are cached up to a limit; the oldest is evicted', async () => {
    let asked = 0;
    const counting = createClient({
      url: server.url,
      fetch: async (...request) => {
        asked += 1;
        return await fetch(...request);
      },
    });
    const calling = createToolCalling(counting);
    for (let n = 0; n <= 100; n += 1) await calling.generateToolsPrompt(ON, `agent-${n}`);
    await calling.generateToolsPrompt(ON, 'agent-100');
    expect(asked).toBe(101);
    await calling.generateToolsPrompt(ON, 'agent-0');
    expect(asked).toBe(102);
  });
});

describe('a loop over cycles', () => {
  it('ends at maxIterations, and runs nothing that comes after', async () => {
    const calling = createToolCalling(client);
    const config = { ...ON, maxIterations: 2 };
    const cycles = [];
    for (const iteration of [1, 2, 3])
      cycles.push(await calling.processCycle(sum('1', '2'), config, undefined, iteration));
    expect(cycles.map(({ shouldContinue }) => shouldContinue)).toEqual([true, false, false]);
    expect(cycles.map(({ executionResults: [result] }) => result?.result)).toEqual([
      '3',
      '3',
      'conflict: maxIterations is reached: 2 replies may call tools',
    ]);
    expect(await calling.processCycle('That is all.', config)).toMatchObject({ shouldContinue: false });
  });

  it('ends if there is no result for the model', async () => {
    const calling = createToolCalling(client);
    const quiet = sum('1', '2').replace('a:「始」', 'archery:「始」no_reply「末」a:「始」');
    const cycle = await calling.processCycle(quiet, ON);
    expect(cycle).toMatchObject({
      executionResults: [{ result: '3', noReply: true }],
      shouldContinue: false,
    });
    expect(await calling.processCycle(quiet + sum('1', '2'), ON)).toMatchObject({ shouldContinue: true });
  });
});

describe('POST /v1/prompt', () => {
  const ask = async (config: ToolCallConfig): Promise<string> => (await client.prompt({ config })).prompt;

  it('is another for every config and protocol, and follows the registry', async () => {
    const all = await ask(ON);
    expect(await ask(ON)).toBe(all);
    expect(await ask({ ...ON, toolToggles: { echo: false } })).not.toContain('「始」echo「末」');
    expect(await ask({ ...ON, protocol: 'anthropic' })).toContain('"input_schema"');
    expect(await ask({})).toBe('');
    await client.provider('c_later').register([{ name: 'later', schema: { type: 'object' } }]);
    expect(await ask(ON)).toContain('「始」later「末」');
    await client.provider('c_later').unregister();
    expect(await ask(ON)).toBe(all);
  });
});

describe('useToolCalling', () => {
  it('has the same six methods, and says whether a cycle is under way', async () => {
    const calling = useToolCalling({ client });
    const gated = '<<<[TOOL_REQUEST]>>>tool_name:「始」gated「末」<<<[END_TOOL_REQUEST]>>>';
    const begun = gate.begun();
    const running = calling.processCycle(gated, ON);
    expect(calling.isProcessing.value).toBe(true);
    await begun;
    gate.open('now');
    expect((await running).executionResults).toMatchObject([{ status: 'success', result: 'now' }]);
    expect(calling.isProcessing.value).toBe(false);
    expect(calling.lastError.value).toBeNull();
    const gone = useToolCalling({
      client: createClient({ url: 'http://127.0.0.1:9', retry: { retries: 0 } }),
    });
    await expect(gone.processCycle(gated, ON)).rejects.toThrow();
    expect(gone.lastError.value).toBeInstanceOf(Error);
  });
});
