import assert from 'node:assert/strict';
import type { Client, Target } from '../client-run.ts';
import { fileOf, program } from '../program.ts';
import { textOf, type ToolResult } from '../steps.ts';

const INSPECTOR = fileOf('@modelcontextprotocol/inspector/clients/launcher/build/index.js');

async function inspect(target: Target, era: string, ...args: string[]): Promise<unknown> {
  const common = ['--cli', target.mcpUrl, '--transport', 'http', '--protocol-era', era];
  const output = await program(INSPECTOR, [...common, ...args]);
  return JSON.parse(output);
}

async function listAndCall(target: Target, era: string): Promise<void> {
  const { tools } = (await inspect(target, era, '--method', 'tools/list')) as { tools: { name: string }[] };
  assert.ok(tools.some(({ name }) => name === 'greet'));
  const call = ['--method', 'tools/call', '--tool-name', 'greet', '--tool-arg', 'name=Ada'];
  assert.equal(textOf((await inspect(target, era, ...call)) as ToolResult), 'Hello, Ada!');
}

/** The tool has a result only for clients with tasks. */
async function pollTask(target: Target): Promise<void> {
  const call = ['--method', 'tools/call', '--tool-name', 'report_job'];
  assert.equal(textOf((await inspect(target, 'modern', ...call)) as ToolResult), 'The report is ready.');
}

export const client: Client = {
  package: '@modelcontextprotocol/inspector',
  runs: [
    { era: 'legacy', transport: 'http', does: 'list, call', run: (target) => listAndCall(target, 'legacy') },
    { era: 'modern', transport: 'http', does: 'list, call', run: (target) => listAndCall(target, 'modern') },
    { era: 'modern', transport: 'http', does: 'a task, polled', run: pollTask },
  ],
};
