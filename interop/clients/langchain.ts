import assert from 'node:assert/strict';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import type { Client, Target } from '../client-run.ts';
import { guideProgram } from '../guide-program.ts';

async function run({ mcpUrl }: Target): Promise<void> {
  const mcp = new MultiServerMCPClient({ mcpServers: { patchboard: { transport: 'http', url: mcpUrl } } });
  try {
    const greet = (await mcp.getTools()).find(({ name }) => name === 'greet');
    assert.ok(greet !== undefined, 'the list has no greet');
    // A string, if the result had no `_meta`.
    const { text } = (await greet.invoke({ name: 'Ada' })) as { text: string };
    assert.equal(text, 'Hello, Ada!');
  } finally {
    await mcp.close();
  }
}

export const client: Client = {
  package: '@langchain/mcp-adapters',
  runs: [
    { era: 'legacy', transport: 'http', does: 'list, call', run },
    guideProgram('legacy', '@langchain/mcp-adapters'),
  ],
};
