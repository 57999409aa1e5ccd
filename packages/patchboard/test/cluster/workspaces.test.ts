import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, type CallView, type TestNode } from './support/a-node.ts';

async function invoke(node: TestNode, runId: string, tool: string, args: unknown): Promise<CallView> {
  return await node.post(`/v1/tools/${tool}/invoke`, { run_id: runId, args }, 30);
}

/** Whether a process of this machine has the text among its arguments. */
function isRunning(text: string): boolean {
  return readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false; // It has ended.
    }
  });
}

it('run calls where the workspace of their run is, end its jobs from any node, and say when its files are new', async () => {
  const cluster = await aCluster("policy: { default: { autoAllowTools: ['fs_*', 'bash_*'] } }");
  const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
  const file = { path: 'notes.txt', content: 'written at b' };
  expect(await invoke(b, 'run_b', 'fs_write', file)).toMatchObject({ status: 'SUCCEEDED' });
  expect(await invoke(a, 'run_b', 'fs_read', { path: 'notes.txt' })).toMatchObject({
    status: 'SUCCEEDED',
    result: { content: expect.stringContaining('written at b') },
  });
  const mark = `3600.${randomInt(1e9)}`;
  const job = { command: `sleep ${mark}`, background: true };
  expect(await invoke(a, 'run_b', 'bash_run', job)).toMatchObject({ status: 'SUCCEEDED' });
  await waitFor(() => expect(isRunning(mark)).toBe(true));
  await a.post('/v1/runs/run_b/cancel', {});
  await waitFor(() => expect(isRunning(mark)).toBe(false));

  expect(await invoke(a, 'run_a', 'fs_write', file)).toMatchObject({ status: 'SUCCEEDED' });
  a.signal('SIGKILL');
  const moved = await invoke(b, 'run_a', 'fs_glob', { pattern: '**/*' });
  expect(moved).toMatchObject({ status: 'SUCCEEDED', result: { paths: [] }, workspace: 'new' });
  expect(await invoke(b, 'run_a', 'fs_write', file)).not.toHaveProperty('workspace');
});
