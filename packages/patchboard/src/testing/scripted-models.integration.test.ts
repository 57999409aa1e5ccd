import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText } from 'ai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scenes } from '../../test/support/agent-scene.ts';
import { Agent, createPatchboard, parseToolRequests, tool, type LanguageModel } from '../index.ts';
import { scriptedModels, type Script, type ScriptedModels } from './index.ts';

const { aScene } = scenes();

async function served(script: Script): Promise<ScriptedModels> {
  const models = await scriptedModels(script);
  onTestFinished(() => models.close());
  return models;
}

/** The model that `createOpenAI()('…')` returns, which uses the Responses API. */
function responses({ baseUrl }: ScriptedModels): LanguageModel {
  return createOpenAI({ baseURL: baseUrl, apiKey: 'none' })('scripted');
}

const CALLS: Script = [
  {
    text: 'Let me see.',
    calls: [
      { name: 'math.add', args: { a: 1, b: 2 } },
      { name: 'math.add', args: { a: 3, b: 4 } },
    ],
  },
  'It is 3 and 7.',
];

describe('scripted models over the Responses API', () => {
  it('stream calls and text to an agent', async () => {
    const models = await served(CALLS);
    const add = tool('math.add', ({ a, b }: { a: number; b: number }) => ({ sum: a + b }));
    const board = await createPatchboard({ tools: [add] });
    onTestFinished(() => board.close());
    const agent = new Agent({ board, model: responses(models) });
    const deltas: string[] = [];
    agent.on('text_delta', ({ delta }) => deltas.push(delta));
    const reply = await agent.send('Add.');
    expect(reply).toMatchObject({ text: 'It is 3 and 7.', reason: 'done' });
    expect(reply.usage).toEqual({ inputTokens: 20, outputTokens: 10 });
    expect(reply.calls.map(({ result }) => result)).toEqual([{ sum: 3 }, { sum: 7 }]);
    expect(deltas.join('')).toBe('Let me see.It is 3 and 7.');
    expect(deltas.length).toBeGreaterThan(2);
    expect(models.requests.map(({ format, tools }) => [format, tools])).toEqual([
      ['openai-responses', ['math__add']],
      ['openai-responses', ['math__add']],
    ]);
    expect(JSON.stringify(models.requests[1]?.body)).toContain('{\\"sum\\":7}');
  });

  it('respond with a single body to requests without streaming', async () => {
    const models = await served(CALLS);
    const { text, toolCalls, usage, finishReason } = await generateText({
      model: responses(models) as Parameters<typeof generateText>[0]['model'],
      prompt: 'Add.',
    });
    expect([text, finishReason, usage.totalTokens]).toEqual(['Let me see.', 'tool-calls', 15]);
    expect(toolCalls.map(({ toolName, input }) => [toolName, input])).toEqual([
      ['math__add', { a: 1, b: 2 }],
      ['math__add', { a: 3, b: 4 }],
    ]);
  });

  it.each([true, false])('send what the openai-responses protocol parses, streamed: %j', async (stream) => {
    const { baseUrl } = await served(CALLS);
    const body = JSON.stringify({ model: 'm', stream, input: [] });
    const response = await fetch(`${baseUrl}/responses`, { method: 'POST', body });
    const requests = parseToolRequests(await response.text(), 'openai-responses');
    expect(requests.map(({ toolName, args }) => [toolName, args])).toEqual([
      ['math__add', { a: 1, b: 2 }],
      ['math__add', { a: 3, b: 4 }],
    ]);
  });

  it('end a reply early if the script says so', async () => {
    const models = await served([{ text: 'Once upon a time', ending: 'break' }]);
    const board = await createPatchboard();
    onTestFinished(() => board.close());
    const agent = new Agent({ board, model: responses(models) });
    await expect(agent.send('A story?')).rejects.toThrow('the model scripted of openai.responses failed');
  });
});

describe('a script that has run out', () => {
  const models: [string, (models: ScriptedModels) => LanguageModel][] = [
    [
      'chat completions',
      ({ baseUrl }) => createOpenAI({ baseURL: baseUrl, apiKey: 'none' }).chat('scripted'),
    ],
    ['Responses', responses],
    ['messages', ({ baseUrl }) => createAnthropic({ baseURL: baseUrl, apiKey: 'none' })('scripted')],
  ];
  it.each(models)('returns an error over %s that is not retried', async (_wire, connect) => {
    const scripted = await served(['One.']);
    const board = await createPatchboard();
    onTestFinished(() => board.close());
    const agent = new Agent({ board, model: connect(scripted) });
    await agent.send('First?');
    await expect(agent.send('Second?')).rejects.toThrow(
      'the script has run out: it has 1 reply, and this is request 2',
    );
    expect(scripted.requests).toHaveLength(2);
  });

  it('returns an error for a function that returns nothing', async () => {
    const { agent } = await aScene(() => undefined as never);
    await expect(agent.send('First?')).rejects.toThrow('the script returned no reply to request 1');
  });
});
