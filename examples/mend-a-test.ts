// An agent fixes a failing test in a small repository, in a sandbox. The model is scripted, so that this runs anywhere;
// use any model of the AI SDK instead.
//
//   node examples/mend-a-test.ts

import { createOpenAI } from '@ai-sdk/openai';
import { Agent, createPatchboard } from 'patchboard';
import { scriptedModels } from 'patchboard/testing';

const steps = [
  { name: 'bash_run', args: { command: 'node --test' } },
  { name: 'fs_read', args: { path: 'sum.mjs' } },
  { name: 'fs_edit', args: { path: 'sum.mjs', edits: [{ old: 'a - b', new: 'a + b' }] } },
  { name: 'bash_run', args: { command: 'node --test' } },
];
const models = await scriptedModels([...steps.map((call) => ({ calls: [call] })), 'The test passes now.']);
const model = createOpenAI({ baseURL: models.baseUrl, apiKey: 'none' }).chat('scripted');

// Writes and commands require approval by default; this policy allows them. They still run in the sandbox.
const board = await createPatchboard({
  workspace: {},
  policy: { default: { autoAllowTools: ['fs_*', 'bash_run'] } },
});
const agent = new Agent({ board, model, name: 'mender' });

const test = `import assert from 'node:assert';
import { test } from 'node:test';
import { sum } from './sum.mjs';
test('adds', () => assert.equal(sum(2, 3), 5));
`;
const as = { runId: agent.id, agentId: 'mender' };
await board.call('fs_write', { path: 'sum.mjs', content: 'export const sum = (a, b) => a - b;\n' }, as);
await board.call('fs_write', { path: 'sum.test.mjs', content: test }, as);

const { text, calls } = await agent.send('The test fails. Mend what is wrong.');
for (const { name, result, sandbox } of calls) {
  const { exitCode, diff } = result as { exitCode?: number; diff?: string };
  console.log(
    name,
    exitCode === undefined ? '' : `exit ${exitCode}`,
    sandbox === 'none' ? 'not enclosed' : 'enclosed',
  );
  if (diff !== undefined) console.log(diff);
}
console.log(text);

await board.close();
await models.close();
