import type { KnownPart, LanguageModel, ModelRequest } from '../../src/agent/loop/model.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { World } from './world.ts';

/** The task of a scripted agent: `count` rounds of tool calls, with numbers from `first` on. */
export interface AgentTask {
  readonly first: number;
  readonly count: number;
  readonly mayDelegate: boolean;
}

/** The second call of a round has this number more. */
const SECOND = 500;
/** The numbers of a sub-agent begin this much above the number of the call that started it. */
export const DELEGATED = 1000;

export function promptOf({ first, count, mayDelegate }: AgentTask): string {
  return `${first} ${count} ${mayDelegate ? 'delegate' : 'alone'}`;
}

function taskOf(prompt: string): AgentTask {
  const [first, count, word] = prompt.split(' ');
  return { first: Number(first), count: Number(count), mayDelegate: word === 'delegate' };
}

/** The tools and numbers of one round. */
export function roundOf({ first, mayDelegate }: AgentTask, round: number): { tool: string; n: number }[] {
  const n = first + round;
  if (mayDelegate && n % 3 === 2) return [{ tool: 'agents.delegate', n }];
  const one = { tool: n % 3 === 0 ? 'server.plain' : 'server.idempotent', n };
  return n % 4 === 0 ? [one, { tool: 'server.plain', n: n + SECOND }] : [one];
}

/** A model whose reply depends on the conversation only: asked again after a crash, it says the same. */
export function scriptedModel(world: World, process: SimulatedProcess): LanguageModel {
  return {
    specificationVersion: 'v3',
    provider: 'simulated',
    modelId: 'scripted',
    doStream: async (request) => {
      const ms = world.random.of('model', process.name).delay(1, 300);
      await new Promise<void>((resolve) => void world.kernel.after(ms, () => process.enter(resolve)));
      const parts = replyTo(request);
      return {
        stream: new ReadableStream({
          start: (controller) => {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      };
    },
  };
}

function replyTo({ prompt, tools = [] }: ModelRequest): KnownPart[] {
  const user = prompt.find((message) => message.role === 'user');
  const task = taskOf(user?.content[0]?.text ?? '');
  const rounds = prompt.filter(
    ({ role, content }) => role === 'assistant' && content.some(({ type }) => type === 'tool-call'),
  ).length;
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  if (rounds >= task.count)
    return [
      { type: 'text-delta', id: 't', delta: 'done' },
      { type: 'finish', finishReason: { unified: 'stop' }, usage },
    ];
  const calls = roundOf(task, rounds).map(({ tool, n }) => ({
    type: 'tool-call' as const,
    toolCallId: `request-${n}`,
    toolName: tools.find(({ name }) => name.endsWith(tool.split('.')[1] ?? ''))?.name ?? tool,
    input: JSON.stringify({ n, ms: (n * 37) % 400, ends: 'ok' }),
  }));
  return [...calls, { type: 'finish', finishReason: { unified: 'tool-calls' }, usage }];
}
