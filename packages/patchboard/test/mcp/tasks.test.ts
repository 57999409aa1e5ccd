import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServerTool, manualTool } from '../support/an-engine.ts';
import { CITY } from '../support/asking-tools.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  anAgent,
  anMcpServer,
  FORM,
  TASKS,
  type McpFixture,
  type RpcReply,
} from './support/a-modern-client.ts';

const CAPABILITIES = { ...FORM, ...TASKS };
const always = aServerTool({
  name: 'always',
  task: 'always',
  execute: () => Promise.resolve('fast'),
});
const text = aServerTool({
  name: 'text',
  task: 'always',
  outputSchema: { type: 'string' },
  execute: () => Promise.resolve('fast'),
});
const asking = aServerTool({
  name: 'ask',
  execute: async (_args, context) => {
    const first = await context.requestInput(CITY);
    const second = await context.requestInput(CITY);
    return [first, second];
  },
});
const { tool: manual, running } = manualTool('manual');
let server: McpFixture;
beforeAll(async () => {
  server = await anMcpServer({ tools: [always, text, asking, manual], mcp: { taskAfterMs: 50 } });
  me = await anAgent(server, 'me');
  stranger = await anAgent(server, 'stranger');
});
afterAll(async () => {
  await server?.close();
});

let me: Readonly<Record<string, string>>;
let stranger: Readonly<Record<string, string>>;

const task = async (method: string, taskId: string, params = {}): Promise<RpcReply> =>
  await server.rpc(`tasks/${method}`, { taskId, ...params }, { capabilities: CAPABILITIES, headers: me });

async function aTask(name: string): Promise<string> {
  const { result } = await server.call(name, {}, { capabilities: CAPABILITIES, headers: me });
  expect(result).toMatchObject({ resultType: 'task' });
  return result.taskId as string;
}

describe('tools/call', () => {
  it('of a tool whose calls are always tasks returns one, even if it has ended', async () => {
    const { result } = await task('get', await aTask('always'));
    expect(result).toMatchObject({ status: 'completed', result: { content: [{ text: 'fast' }] } });
  });
});

describe('tasks/get', () => {
  it('returns a string as structured content too if its tool has an output schema', async () => {
    const { result } = await task('get', await aTask('text'));
    expect(result.result).toMatchObject({ content: [{ text: 'fast' }], structuredContent: 'fast' });
  });
});

describe('tasks/update', () => {
  const given = (city: string): unknown => ({ action: 'accept', content: { city } });

  it('gives each response once, and ignores the rest', async () => {
    const id = await aTask('ask');
    const update = async (inputResponses: unknown): Promise<RpcReply> =>
      await task('update', id, { inputResponses });
    const keys = async (): Promise<string[]> =>
      await waitFor(async () => {
        const { result } = await task('get', id);
        expect(result.status).toBe('input_required');
        return Object.keys(result.inputRequests as object);
      });
    expect(await keys()).toEqual(['input']);
    expect((await update({ unknown: given('x'), input: { action: 'cancel' } })).result).toBeDefined();
    expect(await keys()).toEqual(['input']);
    expect((await update({ input: { action: 'accept', content: { city: 7 } } })).error.code).toBe(-32_602);
    expect((await update({ input: given('Rome') })).result).toMatchObject({ resultType: 'complete' });
    expect(
      await waitFor(async () => {
        const next = await keys();
        expect(next).not.toEqual(['input']);
        return next;
      }),
    ).toEqual(['input.in_2']);
    // Again the first: it has its response.
    await update({ input: given('Oslo') });
    await update({ 'input.in_2': given('Bern') });
    await waitFor(async () => expect((await task('get', id)).result.status).toBe('completed'));
    expect((await task('get', id)).result.result.structuredContent).toEqual([
      { city: 'Rome' },
      { city: 'Bern' },
    ]);
    expect((await update({ input: given('Oslo') })).result).toMatchObject({ resultType: 'complete' });
  });

  it('refuses responses that are no object', async () => {
    const id = await aTask('ask');
    expect((await task('update', id, { inputResponses: [] })).error.code).toBe(-32_602);
    expect((await task('update', id)).error.code).toBe(-32_602);
    await task('cancel', id);
  });
});

describe('tasks/cancel', () => {
  it('cancels once, and returns the same afterwards', async () => {
    const id = await aTask('manual');
    const replies = [await task('cancel', id), await task('cancel', id)];
    for (const { result } of replies) expect(Object.keys(result)).toEqual(['resultType', '_meta']);
    expect((await task('get', id)).result.status).toBe('cancelled');
    expect(running.get(id)?.context.signal.aborted).toBe(true);
  });
});

describe.each(['get', 'update', 'cancel'])('tasks/%s', (method) => {
  it('needs the extension in the same request', async () => {
    const taskId = await aTask('always');
    const params = { taskId, inputResponses: {} };
    const refused = await server.rpc(`tasks/${method}`, params, { capabilities: FORM, headers: me });
    expect(refused.status).toBe(400);
    expect(refused.error).toMatchObject({ code: -32_021 });
    expect(refused.error.data.requiredCapabilities).toEqual(TASKS);
  });

  it('does not tell an unknown task from another caller’s', async () => {
    const taskId = await aTask('always');
    const sending = { capabilities: CAPABILITIES, headers: stranger };
    const errors: unknown[] = [];
    for (const id of [taskId, 'tc_none']) {
      const { error } = await server.rpc(`tasks/${method}`, { taskId: id, inputResponses: {} }, sending);
      expect(error.code).toBe(-32_602);
      errors.push(JSON.parse(JSON.stringify(error).replaceAll(id, 'ID')));
    }
    expect(errors[0]).toEqual(errors[1]);
  });
});
