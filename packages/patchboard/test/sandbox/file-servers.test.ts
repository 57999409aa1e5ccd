import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { DEFAULT_COMMAND_LIMITS } from '../../src/sandbox/command-limits.ts';
import type { Enclosure } from '../../src/sandbox/enclosure.ts';
import { FileServerClient } from '../../src/sandbox/file-server-client.ts';
import { RunWorkspaces } from '../../src/sandbox/run-workspaces.ts';
import { makeWorkspace, userOf } from '../../src/sandbox/sandbox-user.ts';
import { runServices } from '../../src/packs/workspace/services.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { probeSandbox, resolveWorkspace } from '../../src/wiring/sandbox-setup.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { processesWith } from './support/processes.ts';

const MAX_IDLE = 2;
const RUNS = ['run_1', 'run_2', 'run_3', 'run_4', 'run_5'];
const closeLater = closedAfterEach();

async function anEnclosure(): Promise<{ enclosure: Enclosure; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-file-servers-'));
  closeLater(() => rm(folder, { recursive: true, force: true }));
  const { enclosure } = await probeSandbox(resolveWorkspace({}), join(folder, 'sandbox'));
  return { enclosure, folder };
}

it('many runs leave few file servers idle, and each run finds its files again', async () => {
  const { enclosure, folder } = await anEnclosure();
  const workspaces = new RunWorkspaces({
    enclosure,
    limits: DEFAULT_COMMAND_LIMITS,
    network: false,
    refusal: null,
    root: null,
    folder,
    services: (scope) => runServices(memoryStore({ digest: nodeDigest }), scope),
    nextJobId: () => 'job',
    maxIdleFileServers: MAX_IDLE,
  });
  closeLater(() => workspaces.close());
  const sandboxOf = (runId: string) => workspaces.of({ tenant: 'default', runId }).sandbox;
  for (const run of RUNS) await sandboxOf(run).writeFile('name.txt', run);
  const running = (): string[] =>
    RUNS.filter((run) => processesWith(join(folder, 'default', run)).length > 0);
  await expect.poll(running).toEqual(RUNS.slice(-MAX_IDLE));
  const found = await Promise.all(RUNS.map((run) => sandboxOf(run).readFile('name.txt')));
  expect(found).toEqual(RUNS);
});

it('the run that was used last is not the one that is forgotten', async () => {
  const { enclosure, folder } = await anEnclosure();
  const root = join(folder, 'workspace');
  const workspaces = new RunWorkspaces({
    enclosure,
    limits: DEFAULT_COMMAND_LIMITS,
    network: false,
    refusal: null,
    root,
    folder,
    services: (scope) => runServices(memoryStore({ digest: nodeDigest }), scope),
    nextJobId: () => 'job',
  });
  closeLater(() => workspaces.close());
  const of = (runId: string) => workspaces.of({ tenant: 'default', runId });
  const first = of('run_a');
  of('run_b');
  of('run_a');
  for (let run = 1; run < 10_000; run += 1) of(`run_${run}`);
  expect(of('run_a')).toBe(first);
});

it('a file server that is being stopped gets no more requests', async () => {
  const { enclosure, folder } = await anEnclosure();
  const root = join(folder, 'workspace');
  makeWorkspace(root);
  const client = new FileServerClient({ enclosure, root, user: userOf(root), idleMs: 60_000 });
  closeLater(() => client.close());
  expect(await client.request('list', { path: '.' })).toEqual([]);
  client.stop();
  expect(await client.request('list', { path: '.' })).toEqual([]);
  await client.close();
  expect(processesWith(root)).toEqual([]);
});
