import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../src/core/sandbox.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { DEFAULT_COMMAND_LIMITS } from '../../src/sandbox/command-limits.ts';
import { RunWorkspaces } from '../../src/sandbox/run-workspaces.ts';
import { seatbelt } from '../../src/sandbox/seatbelt.ts';
import { runServices } from '../../src/packs/workspace/services.ts';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { aSandboxSetup } from './support/a-sandbox-setup.ts';

interface Launcher {
  readonly sandbox: Sandbox;
  close(): Promise<void>;
}

/** What macOS has, less the profile: it drops `-p PROFILE` and starts the rest. */
const FAKE_SANDBOX_EXEC = '#!/bin/sh\nshift 2\nexec "$@"\n';

async function bubblewrapLauncher(): Promise<Launcher> {
  const bench = await aSandboxSetup();
  return { sandbox: bench.sandbox(), close: () => bench.close() };
}

async function noLauncher(): Promise<Launcher> {
  const bench = await aSandboxSetup({ searchPath: '/nowhere', unsafeNoSandbox: true });
  return { sandbox: bench.sandbox(), close: () => bench.close() };
}

async function seatbeltLauncher(): Promise<Launcher> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-seatbelt-'));
  const file = join(folder, 'sandbox-exec');
  await writeFile(file, FAKE_SANDBOX_EXEC);
  await chmod(file, 0o755);
  const real = seatbelt({
    tools: { node: process.execPath, ripgrep: '/nowhere/rg', fileServer: '/nowhere' },
    limits: DEFAULT_COMMAND_LIMITS,
    environment: {},
    readable: [],
    searchPath: '/nowhere',
    stateFolder: join(folder, 'state'),
  });
  let jobs = 0;
  const workspaces = new RunWorkspaces({
    enclosure: { ...real, wrap: (command) => ({ ...real.wrap(command), file }) },
    limits: DEFAULT_COMMAND_LIMITS,
    network: false,
    refusal: null,
    root: null,
    folder: join(folder, 'workspaces'),
    services: (scope) => runServices(memoryStore({ digest: nodeDigest }), scope),
    nextJobId: () => `job_${(jobs += 1)}`,
  });
  return {
    sandbox: workspaces.of({ tenant: 'default', runId: 'run_1' }).sandbox,
    close: async () => {
      await workspaces.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe.each([
  ['bubblewrap', bubblewrapLauncher],
  ['no sandbox', noLauncher],
  ['seatbelt', seatbeltLauncher],
])('under %s', (_name, launch) => {
  let launcher: Launcher;
  beforeAll(async () => {
    launcher = await launch();
  });
  afterAll(async () => {
    await launcher.close();
  });

  it('a command has the exit code that it ended with', async () => {
    const { sandbox } = launcher;
    expect(await sandbox.exec('exit 3')).toMatchObject({ exitCode: 3, timedOut: false });
    expect(await sandbox.exec('echo done')).toMatchObject({ exitCode: 0, stdout: 'done\n' });
    // What it leaves running ends with it, and does not change its exit code.
    expect(await sandbox.exec('sleep 3600 & exit 4')).toMatchObject({ exitCode: 4, timedOut: false });
  });

  it('a command that a signal ended, or its time limit, has none', async () => {
    const { sandbox } = launcher;
    expect(await sandbox.exec('kill -KILL $$')).toMatchObject({ exitCode: killedBySelf(sandbox) });
    const overdue = await sandbox.exec('sleep 3600', { timeoutMs: 100 });
    expect(overdue).toMatchObject({ exitCode: null, timedOut: true });
  });

  it('a background job that ended by itself has exited, and one that was killed says so', async () => {
    const { sandbox } = launcher;
    const ended = await sandbox.execBackground('echo up; exit 3');
    expect(await endOf(sandbox, ended)).toMatchObject({ status: 'exited', exitCode: 3, output: 'up\n' });
    const killed = await sandbox.execBackground('echo up; sleep 3600');
    expect(await sandbox.logs(killed, { follow: true })).toMatchObject({ status: 'running' });
    expect(await sandbox.kill(killed)).toMatchObject({ status: 'killed', exitCode: null });
  });
});

/** Bubblewrap stands between, and reports the signal of the command as a shell does. */
function killedBySelf({ provider }: Sandbox): number | null {
  return provider === 'bubblewrap' ? 128 + 9 : null;
}

async function endOf(sandbox: Sandbox, job: string): Promise<unknown> {
  for (let offset = 0; ;) {
    const log = await sandbox.logs(job, { offset, follow: true });
    if (log?.status !== 'running') return await sandbox.logs(job);
    offset = log.nextOffset;
  }
}
