import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { timeOrderedIds } from '../../src/runtime/ids.ts';
import { nodeClock } from '../../src/runtime/node-clock.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { openSandboxSetup, resolveWorkspace, type WorkspaceOptions } from '../../src/wiring/sandbox-setup.ts';
import type { Workspaces } from '../../src/core/workspaces.ts';
import { aFolder } from '../support/a-folder.ts';

const log = { info: () => {}, warn: () => {}, error: () => {} };

/** The workspaces of a node with this data folder. */
async function workspacesIn(folder: string, given: WorkspaceOptions = {}): Promise<Workspaces> {
  const store = memoryStore({ digest: nodeDigest });
  const ids = timeOrderedIds(nodeClock);
  const parts = { store, ids, log, folder, tasks: false };
  const setup = await openSandboxSetup(resolveWorkspace(given), parts);
  onTestFinished(() => setup.close());
  return setup.workspaces;
}

it('nodes with the same shared folder use one volume; without it, each data folder is one, over restarts', async () => {
  const [one, two, shared] = [await aFolder(), await aFolder(), await aFolder()];
  const scope = { tenant: 'acme', runId: 'r1' };
  const first = (await workspacesIn(one)).place;
  expect((await workspacesIn(one)).place).toBe(first);
  expect((await workspacesIn(two)).place).not.toBe(first);

  const [a, b] = [await workspacesIn(one, { shared }), await workspacesIn(two, { shared })];
  expect(b.place).toBe(a.place);
  expect(a.place).not.toBe(first);
  expect(a.of(scope).sandbox.root).toBe(join(shared, 'acme', 'r1'));
  expect(b.of(scope).sandbox.root).toBe(a.of(scope).sandbox.root);

  await workspacesIn(one, { shared, root: join(shared, 'project'), create: true });
  await expect(workspacesIn(one, { shared, root: two })).rejects.toThrow(
    `not in the shared folder ${shared}`,
  );
});
