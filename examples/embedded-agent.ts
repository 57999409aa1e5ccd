// An agent in your own process, with the APIs of two vendors. The models are scripted, so that this runs anywhere; in
// your program use `model: openai('gpt-5')` or any other model of the AI SDK.
//
//   node examples/embedded-agent.ts

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, createPatchboard, tool, type LanguageModel } from 'patchboard';
import { scriptedModels } from 'patchboard/testing';
import { z } from 'zod';

const add = tool({
  name: 'math.add',
  description: 'Add two numbers',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => ({ sum: a + b }),
});

const board = await createPatchboard({ tools: [add] });

async function ask(name: string, model: LanguageModel): Promise<void> {
  const agent = new Agent({ board, model, system: 'You are good at sums.', maxIterations: 5 });
  agent.on('tool:start', ({ call }) => console.log(`${name} calls ${call.name}`, call.inputPreview));
  agent.on('tool:end', ({ call }) => console.log(`${name} gets`, call.result ?? call.error));
  const reply = await agent.send('What is 1 + 2, and 3 + 4?');
  console.log(`${name} says: ${reply.text} (${reply.reason}, ${reply.calls.length} calls)`);
}

// The scripted replies: two calls at once, a call of an unknown tool, and a text.
const script = [
  {
    text: 'Let me see.',
    calls: [
      { name: 'math.add', args: { a: 1, b: 2 } },
      { name: 'math.add', args: { a: 3, b: 4 } },
    ],
  },
  { calls: [{ name: 'math.divide', args: {} }] },
  'It is 3 and 7.',
];

for (const vendor of ['openai', 'anthropic'] as const) {
  const models = await scriptedModels(script);
  const settings = { baseURL: models.baseUrl, apiKey: 'none' };
  const model =
    vendor === 'openai' ? createOpenAI(settings).chat('scripted') : createAnthropic(settings)('scripted');
  await ask(vendor, model);
  await models.close();
}
await board.close();
