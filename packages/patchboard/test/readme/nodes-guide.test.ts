import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../services/postgres.ts';
import { runCommand, startCommand, type Running } from '../support/run-command.ts';
import { cleanEnvironment, ROOT } from '../support/server-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { blocksOf } from './markdown.ts';

const BLOCKS = blocksOf(readFileSync(join(ROOT, 'docs/guides/more-than-one-node.md'), 'utf8'));

function blockOf(mark: string): string {
  const found = BLOCKS.find((block) => block.mark === mark);
  if (found === undefined) throw new Error(`no block is marked "${mark}"`);
  return found.code;
}

it('docs/guides/more-than-one-node.md starts two nodes, and reads at one the call of the other', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchboard-guide-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const service = await startPostgres();
  onTestFinished(() => service.close());
  const env = {
    ...cleanEnvironment(),
    PATH: [join(ROOT, 'node_modules', '.bin'), process.env['PATH']].join(delimiter),
  };
  const token = await runCommand('bash', ['-c', blockOf('nodes')], { cwd: folder, env });
  expect(token.out).toMatch(/^[0-9a-f]{64}\n$/);
  const variables = { DATABASE_URL: service.url, PATCHBOARD_OPERATOR_TOKEN: token.out.trim() };

  /** The node of a terminal, on a free port. */
  const start = async (mark: string, port: string): Promise<{ node: Running; url: string }> => {
    const code = blockOf(mark);
    expect(code).toContain(`--port ${port}`);
    // A shell that is not interactive would keep the signal from it.
    const command = code.replace('npx patchboard', 'exec node_modules/.bin/patchboard').replace(port, '0');
    const assignment = /^(\S+=\S+) /.exec(command)?.[1] ?? '';
    const script = `export ${assignment}\n${command.replace(`${assignment} `, '')}`;
    const node = startCommand('bash', ['-c', script], { cwd: folder, env: { ...env, ...variables } });
    onTestFinished(async () => void (await node.stop()));
    const url = /ready at (\S+)/.exec(await node.says(/ready at .*\n/))?.[1] ?? '';
    return { node, url };
  };
  const first = await start('nodes first', '8081');
  const second = await start('nodes second', '8082');
  const calls = blockOf('nodes calls')
    .replaceAll('http://127.0.0.1:8081', first.url)
    .replaceAll('http://127.0.0.1:8082', second.url);
  const options = { cwd: folder, env: { ...env, ...variables } };
  // The heartbeats of both have met.
  await waitFor(async () => {
    const { out } = await runCommand('npx', ['patchboard', 'nodes', '--json', '--url', first.url], options);
    expect((JSON.parse(out) as { readonly nodes: readonly unknown[] }).nodes).toHaveLength(2);
  });
  const { code, out, error } = await runCommand('bash', ['-c', `set -eu\n${calls}`], options);
  expect(code, error).toBe(0);
  expect(out).toContain(second.url);
  const record: unknown = JSON.parse(out.slice(out.indexOf('{"tool_call_id"')));
  expect(record).toMatchObject({ status: 'SUCCEEDED', result: { value: 42 } });
});
