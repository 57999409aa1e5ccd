import assert from 'node:assert/strict';
import type { Client, Target } from '../client-run.ts';
import { fileOf, program } from '../program.ts';

const MCPORTER = fileOf('mcporter/cli');

async function run({ mcpUrl }: Target): Promise<void> {
  const server = ['--http-url', mcpUrl, '--allow-http', '--name', 'patchboard'];
  assert.match(await program(MCPORTER, ['list', ...server, '--json']), /"greet"/);
  const greet = ['--tool', 'greet', '--args', '{"name":"Ada"}'];
  assert.equal(await program(MCPORTER, ['call', ...server, ...greet]), 'Hello, Ada!\n');
}

export const client: Client = {
  package: 'mcporter',
  runs: [{ era: 'legacy', transport: 'http', does: 'list, call', run }],
};
