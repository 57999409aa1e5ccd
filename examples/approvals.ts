// An agent with permissions: one tool is allowed, one requires approval, one is denied.
//
//   node examples/approvals.ts

import { createOpenAI } from '@ai-sdk/openai';
import { Agent, createPatchboard, tool } from 'patchboard';
import { scriptedModels } from 'patchboard/testing';

const tools = ['files.read', 'files.delete', 'files.send'].map((name) =>
  tool(name, ({ path }: { path: string }) => `${name} ${path}`),
);
const models = await scriptedModels([
  {
    calls: [
      { name: 'files.read', args: { path: 'notes.txt' } },
      { name: 'files.delete', args: { path: 'notes.txt' } },
      { name: 'files.delete', args: { path: 'old.txt' } },
      { name: 'files.send', args: { path: 'notes.txt' } },
    ],
  },
  'I have tidied up, as far as I was allowed.',
]);

const board = await createPatchboard({ tools });
const agent = new Agent({
  board,
  model: createOpenAI({ baseURL: models.baseUrl, apiKey: 'none' }).chat('scripted'),
  permission: { mode: 'ask', autoAllowTools: ['files.read'], autoDenyTools: ['files.send'] },
});

// The operator decides: `respond` decides on the call of the event, `decide` on any call by its id, at any time.
agent.on('permission_required', async ({ call, respond }) => {
  const { path } = call.inputPreview as { path: string };
  if (path === 'old.txt') await respond('allow', { note: 'nobody needs it' });
  else await agent.decide(call.id, 'deny', { note: 'keep the notes', decidedBy: 'ann' });
});
agent.on('permission_decided', ({ decision, decidedBy, note }) =>
  console.log(`${decidedBy} says ${decision}: ${note}`),
);

const { text, calls } = await agent.send('Tidy up, please.');
for (const { name, input, state, result, error } of calls)
  console.log(`${name} ${(input as { path: string }).path}: ${state},`, result ?? error);
console.log(text);
await board.close();
await models.close();
