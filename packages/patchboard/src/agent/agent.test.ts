import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  Agent,
  createPatchboard,
  tool,
  type AgentOptions,
  type AnyTool,
  type BoardOptions,
  type LanguageModel,
  type Patchboard,
} from '../index.ts';
import { scriptedModels, type Script, type ScriptedModels } from '../testing/index.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const add = tool({
  name: 'math.add',
  description: 'Add two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

interface Scene {
  readonly agent: Agent;
  readonly board: Patchboard;
  readonly models: ScriptedModels;
}

async function aScene(
  script: Script,
  given: Partial<AgentOptions> & { tools_?: readonly AnyTool[]; board_?: BoardOptions; vendor?: Vendor } = {},
): Promise<Scene> {
  const { tools_ = [add], board_ = {}, vendor = 'openai', ...options } = given;
  const models = await scriptedModels(script);
  closing.push(() => models.close());
  const board = await createPatchboard({ tools: tools_, ...board_ });
  closing.push(() => board.close());
  const agent = new Agent({ board, model: aModel(vendor, models), ...options });
  return { agent, board, models };
}

type Vendor = 'openai' | 'anthropic';

function aModel(vendor: Vendor, { baseUrl: baseURL }: ScriptedModels): LanguageModel {
  const settings = { baseURL, apiKey: 'none' };
  return vendor === 'openai'
    ? createOpenAI(settings).chat('scripted')
    : createAnthropic(settings)('scripted');
}

describe.each(['openai', 'anthropic'] as const)('an agent over the wire of %s', (vendor) => {
  it('runs the tools that the model asks for, in parallel, and hands back the results', async () => {
    const script: Script = [
      {
        text: 'Let me see.',
        calls: [
          { name: 'math.add', args: { a: 1, b: 2 } },
          { name: 'math.add', args: { a: 3, b: 4 } },
        ],
      },
      'It is 3 and 7.',
    ];
    const { agent, models } = await aScene(script, { vendor, system: 'You add.' });
    const deltas: string[] = [];
    agent.on('text_delta', ({ delta }) => deltas.push(delta));
    const reply = await agent.send('What is 1 + 2, and 3 + 4?');
    expect(reply).toMatchObject({ text: 'It is 3 and 7.', reason: 'done' });
    expect(reply.calls.map(({ state, result }) => [state, result])).toEqual([
      ['COMPLETED', { sum: 3 }],
      ['COMPLETED', { sum: 7 }],
    ]);
    expect(deltas.join('')).toBe('Let me see.It is 3 and 7.');
    expect(deltas.length).toBeGreaterThan(2);
    expect(models.requests[0]?.tools).toEqual(['math__add']);
    expect(JSON.stringify(models.requests[1]?.body)).toContain('{\\"sum\\":3}');
    expect(agent.messages.map(({ role, content }) => [role, content.map(({ type }) => type)])).toEqual([
      ['user', ['text']],
      ['assistant', ['text', 'tool_use', 'tool_use']],
      ['user', ['tool_result', 'tool_result']],
      ['assistant', ['text']],
    ]);
    expect(agent.messages[2]?.content[0]).toMatchObject({ content: { sum: 3 }, is_error: false });
  });
});
