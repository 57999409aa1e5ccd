import assert from 'node:assert/strict';
import { MCPServerStreamableHttp } from '@openai/agents';
import type { Client, Target } from '../client-run.ts';
import { guideProgram } from '../guide-program.ts';
import { textOf } from '../steps.ts';

async function run({ mcpUrl }: Target): Promise<void> {
  const server = new MCPServerStreamableHttp({ url: mcpUrl, name: 'patchboard' });
  await server.connect();
  try {
    const tools = await server.listTools();
    assert.ok(tools.some(({ name }) => name === 'greet'));
    assert.equal(textOf({ content: await server.callTool('greet', { name: 'Ada' }) }), 'Hello, Ada!');
  } finally {
    await server.close();
  }
}

export const client: Client = {
  package: '@openai/agents',
  runs: [
    { era: 'modern', transport: 'http', does: 'list, call', run },
    guideProgram('modern', '@openai/agents'),
  ],
};
