// An agent whose process is killed while a tool runs, and that continues in another process.
//
//   node examples/resume.ts

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import { Agent, createPatchboard, sqlite, tool } from 'patchboard';
import { scriptedModels } from 'patchboard/testing';

const [isFirst, folder = mkdtempSync(join(tmpdir(), 'resume-'))] = process.argv.slice(2);

// Before there is a result, the model calls the tool; after that it replies with text.
const models = await scriptedModels(({ body }) =>
  JSON.stringify(body).includes('outcome')
    ? 'I do not know whether the money was sent. Please look before I try again.'
    : { calls: [{ name: 'money.send', args: { cents: 500 } }] },
);
const model = createOpenAI({ baseURL: models.baseUrl, apiKey: 'none' }).chat('scripted');

const send = tool('money.send', () => {
  console.log('the tool runs, and the lights go out');
  process.kill(process.pid, 'SIGKILL');
});

if (isFirst === 'first') {
  const board = await createPatchboard({ tools: [send], store: sqlite(folder) });
  await new Agent({ board, model, id: 'payment' }).send('Send 5 euros.');
} else {
  const flags = [...process.execArgv, import.meta.filename, 'first', folder];
  spawnSync(process.execPath, flags, { stdio: 'inherit' });

  const board = await createPatchboard({ tools: [send], store: sqlite(folder) });
  const agent = await Agent.resume('payment', { board, model });
  const [block] = agent.messages.at(-1)?.content ?? [];
  if (block?.type === 'tool_result') console.log(block.content);
  console.log((await agent.continue()).text);
  await board.close();
  rmSync(folder, { recursive: true });
}
await models.close();
