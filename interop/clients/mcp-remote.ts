import assert from 'node:assert/strict';
import process from 'node:process';
import { Client as McpClient } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Client, Target } from '../client-run.ts';
import { fileOf } from '../program.ts';
import { textOf } from '../steps.ts';

const PROXY = fileOf('mcp-remote/dist/proxy.js');

async function run({ mcpUrl }: Target): Promise<void> {
  const mcp = new McpClient({ name: 'interop', version: '1.0.0' });
  const args = [PROXY, mcpUrl, '--transport', 'http-only'];
  await mcp.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  try {
    const { tools } = await mcp.listTools();
    assert.ok(tools.some(({ name }) => name === 'greet'));
    assert.equal(textOf(await mcp.callTool({ name: 'greet', arguments: { name: 'Ada' } })), 'Hello, Ada!');
  } finally {
    await mcp.close();
  }
}

export const client: Client = {
  package: 'mcp-remote',
  runs: [{ era: 'legacy', transport: 'http', does: 'list, call, for a client over stdio', run }],
};
