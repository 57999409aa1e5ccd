import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type PatchboardClient } from '@patchboard/client';
import type { ApprovalRequestView } from '@patchboard/wire';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runCommand } from '../support/run-command.ts';
import { cleanEnvironment, CLI, startServer, type ServerProcess } from '../support/server-process.ts';

// Each starts a server of its own.
vi.setConfig({ testTimeout: 120_000 });

/** A machine without bubblewrap is one whose search path does not lead to it. */
const WITHOUT = { PATH: '/nowhere' };
const INSTALL = 'sudo apt-get install -y bubblewrap';

let server: ServerProcess;

afterEach(async () => {
  await server.stop();
});

async function health(): Promise<unknown> {
  const response = await fetch(`${server.url}/healthz`);
  return ((await response.json()) as { sandbox: unknown }).sandbox;
}

async function operator(): Promise<PatchboardClient> {
  const key = (await readFile(join(server.dataFolder, 'operator.token'), 'utf8')).trim();
  return createClient({ url: server.url, key });
}

async function ask(tool: string, args: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${server.url}/v1/tools/${tool}/invoke`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'wait=30' },
    body: JSON.stringify({ run_id: 'run_1', args }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('a server reports its sandbox', () => {
  it('with a provider: in its ready line, in /healthz and in the record of a call', async () => {
    server = await startServer();
    expect(server.readyLine).toMatch(/\(sandbox: (bubblewrap|seatbelt)\)$/);
    const provider = /sandbox: (\w+)/.exec(server.readyLine)?.[1];
    const held = { start: 'held', read: 'held', write: 'held', network: 'held', signal: 'held' };
    expect(await health()).toEqual({ provider, canary: held, off: false, notice: null });
    expect((await ask('fs_glob', { pattern: '*' })).body).toMatchObject({
      state: 'COMPLETED',
      sandbox: provider,
    });
  });

  it('without one: prints what to install, and commands and writes are off', async () => {
    server = await startServer(WITHOUT);
    expect(server.readyLine).toContain('(no sandbox, so commands and writes are off: ');
    expect(server.readyLine).toContain(INSTALL);
    expect(await health()).toMatchObject({
      provider: 'none',
      off: true,
      notice: 'nothing encloses commands, so commands and writes are off',
    });
    for (const [tool, args] of [
      ['bash_run', { command: 'echo hello' }],
      ['fs_write', { path: 'a.txt', content: 'a' }],
    ] as const) {
      const { status, body } = await ask(tool, args);
      expect(status).toBe(503);
      expect(body).toMatchObject({ code: 'sandbox_unavailable' });
      expect(body['detail']).toContain(INSTALL);
    }
  });

  it('doctor reports it too', async () => {
    server = await startServer(WITHOUT);
    const doctor = await runCommand(process.execPath, [CLI, 'doctor'], {
      cwd: server.dataFolder,
      env: {
        ...cleanEnvironment(),
        ...WITHOUT,
        PATCHBOARD_URL: server.url,
        PATCHBOARD_DATA: server.dataFolder,
      },
    });
    expect(doctor.out).toContain(INSTALL);
    expect(doctor.out).toContain('nothing, so commands and writes of the server are off');
    expect(doctor.code).not.toBe(0);
  });
});

describe('serve --unsafe-no-sandbox', () => {
  it('warns, and requires approval for every call, also with a grant', async () => {
    server = await startServer(WITHOUT, ['--unsafe-no-sandbox']);
    expect(server.readyLine).toContain('(NO SANDBOX, every command and write requires approval: ');
    expect(await health()).toMatchObject({
      provider: 'none',
      off: false,
      notice:
        'nothing encloses commands: they run as the user of the server, with its files and the network, and each one asks',
    });
    const agent = createClient({ url: server.url });
    const client = await operator();
    for (let time = 0; time < 3; time += 1) {
      const { tool_call_id: id } = await agent.invoke('bash_run', { command: 'echo hello' });
      const { value: asked } = await client.approvals()[Symbol.asyncIterator]().next();
      expect(asked).toMatchObject({
        tool_call_id: id,
        description: expect.stringContaining('NO SANDBOX: it runs as the user') as string,
        reason: expect.stringContaining('and has the network') as string,
      });
      const digest = (asked as ApprovalRequestView).digest;
      await client.decide(id, { decision: 'allow', digest, grant: { scope: 'tool' } });
      expect(await agent.wait(id)).toMatchObject({
        state: 'COMPLETED',
        sandbox: 'none',
        result: { stdout: 'hello\n' },
      });
    }
  });

  it('changes nothing where there is a sandbox', async () => {
    server = await startServer({}, ['--unsafe-no-sandbox']);
    expect(server.readyLine).not.toContain('NO SANDBOX');
    expect(await health()).toMatchObject({ off: false });
    expect(await health()).not.toMatchObject({ provider: 'none' });
  });
});
