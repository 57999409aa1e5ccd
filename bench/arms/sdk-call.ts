// One tool, called three ways in one process: as a function, through a board, and as one more step of the AI SDK's loop.
import process from 'node:process';
import { generateText, isStepCount, tool as aiTool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { createPatchboard, tool } from '../../packages/patchboard/src/index.ts';

export interface SdkCallSettings {
  readonly calls: number;
  readonly loops: number;
}

/** CPU time of this process in microseconds, which depends less on the machine's load. */
export interface SdkCall {
  readonly bareUs: number;
  readonly boardUs: number;
  readonly aiSdkUs: number;
}

/** Before all code is compiled, and afterwards. */
export interface SdkCalls {
  readonly first: SdkCall;
  readonly later: SdkCall;
}

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;

const STEPS = 10;
const settings = JSON.parse(process.argv[2] ?? '') as SdkCallSettings;
const parameters = z.object({ a: z.number(), b: z.number() });
const add = ({ a, b }: { a: number; b: number }): { sum: number } => ({ sum: a + b });
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

const DONE: Generated = {
  content: [{ type: 'text', text: 'done' }],
  finishReason: { unified: 'stop', raw: undefined },
  usage,
  warnings: [],
};

const { calls, loops } = settings;
await once(Math.ceil(calls / 4), 1); // warm
const first = await once(calls, loops);
await once(2 * calls, 2 * loops);
const result: SdkCalls = { first, later: await once(calls, loops) };
process.stdout.write(`${JSON.stringify(result)}\n`);

async function once(count: number, repeats: number): Promise<SdkCall> {
  const bareUs = await costOf(count, async () => await Promise.resolve(add({ a: 1, b: 2 })));
  const boardUs = await throughBoard(count);
  const withSteps = await costOf(repeats, async () => await loop(STEPS));
  const withNone = await costOf(repeats, async () => await loop(0));
  return { bareUs, boardUs, aiSdkUs: Math.max(0, withSteps - withNone) / STEPS };
}

async function throughBoard(count: number): Promise<number> {
  const board = await createPatchboard({ tools: [tool({ name: 'math.add', parameters, execute: add })] });
  const cost = await costOf(count, async () => await board.call('math.add', { a: 1, b: 2 }));
  await board.close();
  return cost;
}

/** The same tool, requested `steps` times by a model that replies at once. */
async function loop(steps: number): Promise<unknown> {
  const replies = [...Array.from({ length: steps }, (_, step) => asking(step)), DONE];
  const model = new MockLanguageModelV4({ doGenerate: replies });
  const tools = { add: aiTool({ inputSchema: parameters, execute: add }) };
  return await generateText({ model, tools, prompt: 'add', stopWhen: isStepCount(steps + 1) });
}

function asking(step: number): Generated {
  const input = JSON.stringify({ a: 1, b: 2 });
  return {
    content: [{ type: 'tool-call', toolCallId: `call_${step}`, toolName: 'add', input }],
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage,
    warnings: [],
  };
}

async function costOf(times: number, work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < times; count += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}
