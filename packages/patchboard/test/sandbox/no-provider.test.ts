import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createPatchboard, type Patchboard, type WorkspaceOptions } from '../../src/index.ts';
import { BoardError } from '../../src/index.ts';

/** A machine that has nothing to enclose commands with. */
describe('where nothing encloses commands', () => {
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

  it('reads and lists all the same, and records that nothing encloses it', async () => {
    await open({});
    const record = await board.call('fs_glob', { pattern: '*' });
    expect(record).toMatchObject({ state: 'COMPLETED', sandbox: 'none', result: { paths: [] } });
    expect(await board.call('fs_read', { path: '/etc/hostname' })).toMatchObject({
      state: 'FAILED',
      code: 'permission_denied',
    });
    expect(await board.call('todo_read')).toMatchObject({ state: 'COMPLETED', result: { todos: [] } });
  });

  it('runs with unsafeNoSandbox, but asks every time, whatever the policy and earlier answers', async () => {
    await open({ unsafeNoSandbox: true });
    for (let time = 0; time < 2; time += 1) {
      const asked = await board.invoke('bash_run', { command: 'echo hello' });
      expect(asked).toMatchObject({
        state: 'APPROVAL_REQUIRED',
        sandbox: 'none',
        approval: { required: true, reason: expect.stringContaining('without a sandbox') as string },
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

  it('ends what is in the group of a command at its time limit', async () => {
    await open({ unsafeNoSandbox: true });
    const asked = await board.invoke('bash_run', { command: 'sleep 300 & sleep 300', timeout_ms: 200 });
    await board.decide(asked.id, 'allow');
    expect(await board.wait(asked.id)).toMatchObject({ result: { timedOut: true, exitCode: null } });
  });
});
