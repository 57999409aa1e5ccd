import { existsSync, mkdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createPatchboard, type Patchboard, type WorkspaceOptions } from '../../src/index.ts';
import { BoardError } from '../../src/index.ts';
import { aFolder } from '../support/a-folder.ts';

/** A machine that has nothing to enclose commands with. */
describe('without a sandbox provider', () => {
  let board: Patchboard;

  async function open(workspace: WorkspaceOptions): Promise<void> {
    board = await createPatchboard({
      workspace: { searchPath: '/nowhere', ...workspace },
      policy: { default: { mode: 'auto', autoAllowTools: ['*'] } },
    });
  }

  afterEach(async () => {
    await board.close();
  });

  it.each([
    ['bash_run', { command: 'echo hello' }],
    ['fs_write', { path: 'a.txt', content: 'a' }],
    ['fs_edit', { path: 'a.txt', edits: [{ old: 'a', new: 'b' }] }],
    ['fs_multi_edit', { edits: [{ path: 'a.txt', old: 'a', new: 'b' }] }],
  ])('refuses %s, and says why and what to do', async (name, args) => {
    await open({});
    const refused = await board.call(name, args).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(BoardError);
    const { failure } = refused as BoardError;
    expect(failure.code).toBe('sandbox_unavailable');
    expect(failure.message).toContain('apt-get install -y bubblewrap');
    expect(failure.recommendations).toContain('an operator can run: patchboard doctor');
  });

  it('reads files of a root that is a link', async () => {
    const folder = await aFolder();
    mkdirSync(join(folder, 'files'));
    writeFileSync(join(folder, 'files', 'a.txt'), 'a');
    symlinkSync(join(folder, 'files'), join(folder, 'link'));
    await open({ root: join(folder, 'link') });
    expect(await board.call('fs_read', { path: 'a.txt' })).toMatchObject({ result: { content: 'a' } });
    expect(await board.call('fs_glob', { pattern: '*' })).toMatchObject({ result: { paths: ['a.txt'] } });
  });

  it('reads and lists files, and records sandbox none', async () => {
    await open({});
    const record = await board.call('fs_glob', { pattern: '*' });
    expect(record).toMatchObject({ state: 'COMPLETED', sandbox: 'none', result: { paths: [] } });
    expect(await board.call('fs_read', { path: '/etc/hostname' })).toMatchObject({
      state: 'FAILED',
      code: 'permission_denied',
    });
    expect(await board.call('todo_read')).toMatchObject({ state: 'COMPLETED', result: { todos: [] } });
  });

  it('runs with unsafeNoSandbox, but requires approval for every call, whatever policy and grants', async () => {
    await open({ unsafeNoSandbox: true });
    for (let time = 0; time < 2; time += 1) {
      const asked = await board.invoke('bash_run', { command: 'echo hello' });
      expect(asked).toMatchObject({
        state: 'APPROVAL_REQUIRED',
        sandbox: 'none',
        approval: { required: true, reason: expect.stringContaining('no sandbox') as string },
      });
      await board.decide(asked.id, 'allow');
      expect(await board.wait(asked.id)).toMatchObject({ state: 'COMPLETED', result: { stdout: 'hello\n' } });
    }
    const write = await board.invoke('fs_write', { path: 'a.txt', content: 'a' });
    expect(write.state).toBe('APPROVAL_REQUIRED');
    await board.decide(write.id, 'deny');
    expect(await board.wait(write.id)).toMatchObject({ state: 'DENIED' });
    expect(await board.call('fs_glob', { pattern: '*' })).toMatchObject({ result: { paths: [] } });
    expect(existsSync(join('/nowhere', 'a.txt'))).toBe(false);
  });

  it('tells agent and operator with unsafeNoSandbox what a command can reach, and as which user', async () => {
    await open({ unsafeNoSandbox: true });
    const user = `${userInfo().username} (uid ${userInfo().uid})`;
    const tool = board.tools().find(({ name }) => name === 'bash_run');
    expect(tool?.description).not.toMatch(/read-only|no network/);
    expect(tool?.description).toContain(`NO SANDBOX: it runs as the user ${user} of the server`);
    expect(tool?.description).toContain('can read and change every file of that user, and has the network');
    const network = { description: expect.stringContaining('commands have it without asking') as string };
    expect(tool?.inputSchema).toMatchObject({ properties: { network } });

    const reasonOf = async (name: string, args: object): Promise<string> => {
      const asked = await board.invoke(name, args);
      expect(asked.state).toBe('APPROVAL_REQUIRED');
      await board.decide(asked.id, 'deny');
      return asked.approval?.reason ?? '';
    };
    const reach = `this server has no sandbox: the command runs as the user ${user}, can read and change every file of that user, and has the network`;
    expect(await reasonOf('bash_run', { command: 'echo hello' })).toBe(reach);
    // What is dangerous about the command does not hide that nothing encloses it.
    expect(await reasonOf('bash_run', { command: 'rm -rf src' })).toMatch(/^the command .+; this server has/);
    expect(await reasonOf('bash_run', { command: 'rm -rf src' })).toContain(reach);
    expect(await reasonOf('fs_write', { path: 'a.txt', content: 'a' })).toBe(
      `this server has no sandbox: it writes as the user ${user}, and only the check of its path keeps it in the workspace`,
    );
  });

  it('says in the description that commands are off', async () => {
    await open({});
    const tool = board.tools().find(({ name }) => name === 'bash_run');
    expect(tool?.description).toContain('Off on this server: it has no sandbox.');
    expect(tool?.description).not.toMatch(/read-only|no network/);
  });

  it('reaches with unsafeNoSandbox what it says: the network and the files of the user', async () => {
    await open({ unsafeNoSandbox: true });
    const command = `id -u; cat ${JSON.stringify(import.meta.filename)} | head -c 6; readlink /proc/self/ns/net`;
    const asked = await board.invoke('bash_run', { command });
    await board.decide(asked.id, 'allow');
    const { result } = await board.wait(asked.id);
    expect((result as { stdout: string }).stdout).toBe(
      `${userInfo().uid}\nimport${readlinkSync('/proc/self/ns/net')}\n`,
    );
  });

  it('kills the process group of a command at its time limit', async () => {
    await open({ unsafeNoSandbox: true });
    const asked = await board.invoke('bash_run', { command: 'sleep 300 & sleep 300', timeout_ms: 200 });
    await board.decide(asked.id, 'allow');
    expect(await board.wait(asked.id)).toMatchObject({ result: { timedOut: true, exitCode: null } });
  });
});
