import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox } from '../../../src/core/sandbox.ts';
import { nodeDigest } from '../../../src/runtime/digest.ts';
import { timeOrderedIds } from '../../../src/runtime/ids.ts';
import { nodeClock } from '../../../src/runtime/node-clock.ts';
import { memoryStore } from '../../../src/store/memory/memory-store.ts';
import {
  openSandboxSetup,
  resolveWorkspace,
  type SandboxSetup,
  type WorkspaceOptions,
} from '../../../src/wiring/sandbox-setup.ts';

export interface OpenBench extends SandboxSetup {
  /** The folder of the whole setup; everything in it but the workspaces is outside of them. */
  readonly folder: string;
  sandbox(runId?: string): Sandbox;
}

/** A real sandboxSetup in a temporary folder, with the sandbox provider of this machine. */
export async function aSandboxSetup(given: WorkspaceOptions = {}): Promise<OpenBench> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-bench-'));
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const bench = await openSandboxSetup(resolveWorkspace(given), {
    store: memoryStore({ digest: nodeDigest }),
    ids: timeOrderedIds(nodeClock),
    log,
    folder,
    tasks: true,
  });
  return {
    ...bench,
    folder,
    sandbox: (runId = 'run_1') => bench.workspaces.of({ tenant: 'default', runId }).sandbox,
    close: async () => {
      await bench.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
