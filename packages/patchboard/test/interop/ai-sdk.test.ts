import { dynamicTool, generateText, isStepCount, jsonSchema, tool as aiTool, type ToolSet } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  fromAiSdkTools,
  toAiSdkTools,
  tool,
  type AiSdkToolError,
  type PolicyDocument,
} from '../../src/index.ts';
import { aBoard } from '../support/a-board.ts';

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** A model that asks for these tools in its first reply and is done in its second. */
function aModel(...wanted: { name: string; input: unknown }[]): MockLanguageModelV4 {
  const asking: Generated = {
    content: wanted.map(({ name, input }, index) => ({
      type: 'tool-call',
      toolCallId: `call_${index}`,
      toolName: name,
      input: JSON.stringify(input),
    })),
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage,
    warnings: [],
  };
  const done: Generated = {
    content: [{ type: 'text', text: 'done' }],
    finishReason: { unified: 'stop', raw: undefined },
    usage,
    warnings: [],
  };
  return new MockLanguageModelV4({ doGenerate: [asking, done] });
}

/** What the model gets after its first reply. */
function sentTo(model: MockLanguageModelV4): unknown[] {
  const last = model.doGenerateCalls.at(-1)?.prompt.at(-1);
  return last?.role === 'tool' ? last.content.map((part) => (part as { output: unknown }).output) : [];
}

const add = tool({
  name: 'math.add',
  description: 'Add two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

describe('toAiSdkTools', () => {
  it("runs generateText's calls through the engine, and shows the model what there is", async () => {
    const board = await aBoard({ tools: [add, tool('free.form', () => 1)] });
    const tools: ToolSet = toAiSdkTools(board, { agentId: 'writer', runId: 'run_text' });
    const model = aModel(
      { name: 'math__add', input: { a: 1, b: 2 } },
      { name: 'math__add', input: { a: 3, b: 4 } },
    );
    const { text, steps } = await generateText({ model, tools, prompt: 'add', stopWhen: isStepCount(3) });
    expect(text).toBe('done');
    expect(steps[0]?.toolResults.map(({ output }) => output as unknown)).toEqual([{ sum: 3 }, { sum: 7 }]);
    expect(sentTo(model)).toEqual([
      { type: 'json', value: { sum: 3 } },
      { type: 'json', value: { sum: 7 } },
    ]);
    expect(model.doGenerateCalls[0]?.tools).toMatchObject([
      { name: 'free__form', inputSchema: { type: 'object' } },
      { name: 'math__add', description: 'Add two numbers', inputSchema: { required: ['a', 'b'] } },
    ]);
    const { url } = await board.listen({ port: 0 });
    const ledger = await fetch(`${url}/v1/tool_calls?run_id=run_text`);
    const { tool_calls: calls } = (await ledger.json()) as {
      tool_calls: { agent_id: string; state: string }[];
    };
    expect(calls.map(({ agent_id, state }) => [agent_id, state])).toEqual([
      ['writer', 'COMPLETED'],
      ['writer', 'COMPLETED'],
    ]);
  });

  it("waits for an approval, and returns the operator's decision to the model", async () => {
    const risky = tool({ name: 'risky', metadata: { destructive: true }, execute: () => 'done it' });
    let waiting = (_id: string): void => {};
    const board = await aBoard({ tools: [risky], hooks: { preToolUse: (call) => waiting(call.id) } });
    const model = aModel({ name: 'risky', input: {} });
    const asked = new Promise<string>((resolve) => (waiting = resolve));
    const running = generateText({
      model,
      tools: toAiSdkTools(board),
      prompt: 'go',
      stopWhen: isStepCount(2),
    });
    const id = await asked;
    await expect.poll(async () => (await board.get(id))?.state).toBe('APPROVAL_REQUIRED');
    await board.decide(id, 'deny', { note: 'not today' });
    await running;
    const [sent] = sentTo(model) as { type: string; value: string }[];
    expect(sent?.type).toBe('error-text');
    expect(JSON.parse(sent?.value ?? '')).toMatchObject({
      ok: false,
      code: 'approval_denied',
      note: 'not today',
    });
  });

  it('applies policy and schema, and returns both errors in the uniform shape', async () => {
    const policy: PolicyDocument = {
      agents: {
        writer: { rules: [{ tools: ['math.add'], effect: 'deny', when: [{ arg: '/a', gt: 100 }] }] },
        guest: { autoDenyTools: ['math.*'] },
      },
    };
    const board = await aBoard({ tools: [add], policy });
    expect(toAiSdkTools(board, { agentId: 'guest' })).toEqual({});
    await board.call('math.add', { a: 1, b: 2 });
    const model = aModel(
      { name: 'math__add', input: { a: 'one', b: 2 } },
      { name: 'math__add', input: { a: 101, b: 2 } },
    );
    const tools = toAiSdkTools(board, { agentId: 'writer', language: 'zh' });
    const { steps } = await generateText({ model, tools, prompt: 'add', stopWhen: isStepCount(2) });
    const sent = (sentTo(model) as { value: string }[]).map(({ value }) => JSON.parse(value) as object);
    expect(sent).toMatchObject([
      {
        ok: false,
        code: 'input_invalid',
        recommendations: ['检查参数是否符合 schema', '根据提示修正后重试'],
      },
      { ok: false, code: 'permission_denied' },
    ]);
    const errors = steps[0]?.content.filter((part) => part.type === 'tool-error') ?? [];
    expect(errors.map(({ error }) => (error as AiSdkToolError).record?.state)).toEqual([undefined, 'DENIED']);
  });

  it('truncates large results for the model, not for the caller', async () => {
    const board = await aBoard({ tools: [tool('big', () => 'x'.repeat(50_000))] });
    const model = aModel({ name: 'big', input: {} });
    const { steps } = await generateText({
      model,
      tools: toAiSdkTools(board),
      prompt: '',
      stopWhen: isStepCount(2),
    });
    expect(steps[0]?.toolResults[0]?.output as unknown).toBe('x'.repeat(50_000));
    const [{ value }] = sentTo(model) as [{ value: { call_id: string } }];
    expect(value).toMatchObject({ truncated: true, total_bytes: 50_000 });
    expect((await board.get(value.call_id))?.result).toBe('x'.repeat(50_000));
  });

  it('cancels the call when the loop is aborted', async () => {
    let begun = (_id: string): void => {};
    const started = new Promise<string>((resolve) => (begun = resolve));
    const slow = tool('slow', (_args, { callId, signal }) => {
      begun(callId);
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('stopped'))),
      );
    });
    const board = await aBoard({ tools: [slow] });
    const stop = new AbortController();
    const model = aModel({ name: 'slow', input: {} });
    const tools = toAiSdkTools(board);
    const running = generateText({
      model,
      tools,
      prompt: '',
      stopWhen: isStepCount(2),
      abortSignal: stop.signal,
    });
    const id = await started;
    stop.abort();
    expect(await board.wait(id)).toMatchObject({ state: 'CANCELLED' });
    await running.catch(() => undefined);
  });
});

describe('fromAiSdkTools', () => {
  it('runs tools of the AI SDK on a board, with their schemas, defaults and approvals', async () => {
    const tools = await fromAiSdkTools({
      greet: aiTool({
        description: 'Greet',
        inputSchema: z.object({ name: z.string(), mark: z.string().default('!') }),
        execute: ({ name, mark }) => `hello ${name}${mark}`,
      }),
      double: dynamicTool({
        description: 'Double',
        inputSchema: jsonSchema({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }),
        execute: (input) => (input as { n: number }).n * 2,
      }),
      careful: aiTool({
        inputSchema: z.object({ cents: z.number() }),
        needsApproval: ({ cents }) => cents > 100,
        execute: ({ cents }, { toolCallId }) => ({ cents, toolCallId }),
      }),
      // `needsApproval` gets what runs, defaults included.
      spending: aiTool({
        inputSchema: z.object({ cents: z.number().default(500) }),
        needsApproval: ({ cents }) => cents > 100,
        execute: ({ cents }) => cents,
      }),
      counting: aiTool({
        inputSchema: z.object({}),
        async *execute() {
          yield 1;
          yield 2;
        },
      }),
    } as never);
    const board = await aBoard({ tools });
    expect((await board.call('greet', { name: 'Ann' })).result).toBe('hello Ann!');
    await expect(board.call('greet', { name: 7 })).rejects.toMatchObject({
      failure: { code: 'input_invalid' },
    });
    expect((await board.call('double', { n: 4 })).result).toBe(8);
    expect((await board.call('counting')).result).toBe(2);
    expect((await board.invoke('spending')).state).toBe('APPROVAL_REQUIRED');
    expect((await board.call('spending', { cents: 5 })).result).toBe(5);
    const small = await board.call('careful', { cents: 5 });
    expect(small.result).toEqual({ cents: 5, toolCallId: small.id });
    expect((await board.invoke('careful', { cents: 500 })).state).toBe('APPROVAL_REQUIRED');
  });

  it.each([
    ['a tool that runs elsewhere', { x: { inputSchema: z.object({}) } }, 'x has no execute'],
    ['a schema of nothing', { x: { inputSchema: {}, execute: (): number => 1 } }, 'neither zod 4'],
    [
      'a schema without JSON Schema',
      { x: { inputSchema: { '~standard': { validate: () => ({ value: 1 }) } }, execute: (): number => 1 } },
      'cannot be written as JSON Schema',
    ],
  ])('refuses %s', async (_what, tools, message) => {
    await expect(fromAiSdkTools(tools as never)).rejects.toThrow(message);
  });

  it('converts to the AI SDK and back', async () => {
    const board = await aBoard({
      tools: await fromAiSdkTools(toAiSdkTools(await aBoard({ tools: [add] })) as never),
    });
    expect((await board.call('math__add', { a: 1, b: 2 })).result).toEqual({ sum: 3 });
  });
});
