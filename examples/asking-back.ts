// A tool that asks its caller while it runs: once for a value, and once for a confirmation that it can wait for.
//
//   node examples/asking-back.ts

import { createOpenAI } from '@ai-sdk/openai';
import { Agent, createPatchboard, DECLINE_INPUT, inputRequired, tool } from 'patchboard';
import { scriptedModels } from 'patchboard/testing';
import { z } from 'zod';

// Held: the tool waits for the response where it is.
const Trip = z.object({ city: z.string(), days: z.number().int().min(1).default(3) });
const plan = tool({
  name: 'trip.plan',
  metadata: { asksInput: true },
  execute: async (_args, context) => {
    const { city, days } = await context.requestInput({ message: 'Where do you want to go?', schema: Trip });
    return `${days} days in ${city}`;
  },
});

// Returned: the tool is over, and runs again with the response, after a restart too.
const book = tool({
  name: 'trip.book',
  metadata: { asksInput: true },
  execute: (_args, { inputs, carried }) => {
    if (inputs['input'] === undefined)
      return inputRequired(
        { message: 'Book it for 300 euros?', schema: { type: 'object' } },
        { carry: { price: 300 } },
      );
    return `booked for ${(carried as { price: number }).price} euros`;
  },
});

const board = await createPatchboard({ tools: [plan, book] });

// A program that calls a tool gives `onInputRequest`.
const planned = await board.call('trip.plan', {}, { onInputRequest: () => ({ city: 'Paris' }) });
console.log(planned.state, planned.result);
const refused = await board.call('trip.book', {}, { onInputRequest: () => DECLINE_INPUT });
console.log(refused.state, refused.code);
const silent = await board.call('trip.plan');
console.log(silent.state, silent.code);

// An agent has listeners.
const models = await scriptedModels([{ calls: [{ name: 'trip.book' }] }, 'Your trip is booked.']);
const model = createOpenAI({ baseURL: models.baseUrl, apiKey: 'none' }).chat('scripted');
const agent = new Agent({ board, model });
agent.on('input_required', async ({ call, request, respond }) => {
  console.log(`${call.name} asks: ${request.message}`);
  await respond({});
});
const { calls, text } = await agent.send('Book the trip.');
console.log(calls[0]?.state, calls[0]?.result);
console.log(text);
await board.close();
await models.close();
