import assert from 'node:assert/strict';
import { createMCPClient } from '@ai-sdk/mcp';
import type { Client, Target } from '../client-run.ts';
import { guideProgram } from '../guide-program.ts';
import { textOf } from '../steps.ts';

async function run({ mcpUrl }: Target): Promise<void> {
  const mcp = await createMCPClient({ transport: { type: 'http', url: mcpUrl } });
  try {
    const { greet } = await mcp.tools();
    assert.ok(greet !== undefined, 'the list has no greet');
    const result = await greet.execute({ name: 'Ada' }, { toolCallId: 'call_1', messages: [] });
    assert.equal(textOf(result), 'Hello, Ada!');
  } finally {
    await mcp.close();
  }
}

export const client: Client = {
  package: '@ai-sdk/mcp',
  runs: [
    { era: 'modern', transport: 'http', does: 'list, call', run },
    guideProgram('modern', '@ai-sdk/mcp'),
  ],
};
