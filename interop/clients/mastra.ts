import assert from 'node:assert/strict';
import { MCPClient } from '@mastra/mcp';
import type { Client, Target } from '../client-run.ts';
import { guideProgram } from '../guide-program.ts';
import { textOf } from '../steps.ts';

async function run({ mcpUrl }: Target): Promise<void> {
  const mcp = new MCPClient({ servers: { patchboard: { url: new URL(mcpUrl) } } });
  try {
    const { patchboard_greet: greet } = await mcp.listTools();
    assert.ok(greet !== undefined, 'the list has no greet');
    assert.equal(textOf(await greet.execute({ name: 'Ada' }, {})), 'Hello, Ada!');
  } finally {
    await mcp.disconnect();
  }
}

export const client: Client = {
  package: '@mastra/mcp',
  runs: [
    { era: 'modern', transport: 'http', does: 'list, call', run },
    guideProgram('modern', '@mastra/mcp'),
  ],
};
