import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tool } from '../../src/index.ts';
import { aBoard } from '../support/a-board.ts';
import { aSandboxSetup } from './support/a-sandbox-setup.ts';
import { forAllTests } from './support/for-all-tests.ts';
import { aMark, processesWith } from './support/processes.ts';

const SERVER = fileURLToPath(new URL('./support/doomed-server.ts', import.meta.url));

/** A tree of three, two of which do what they can to get away; `up` is said when all are there. */
function tree(mark: string): string {
  return `sleep ${mark} & setsid sleep ${mark} & (setsid nohup sleep ${mark} >/dev/null 2>&1 &); while [ "$(pgrep -fc '^sleep ${mark}')" -lt 3 ]; do :; done; echo up; sleep ${mark}`;
}

describe('everything that a command started ends', () => {
  const { bench, sandbox } = forAllTests();

  it('at its time limit', async () => {
    const mark = aMark();
    const result = await sandbox().exec(tree(mark), { timeoutMs: 1500 });
    expect(result).toMatchObject({ timedOut: true, exitCode: null });
    expect(processesWith(mark)).toEqual([]);
  });

  it('when its call is cancelled, before the call is over', async () => {
    const mark = aMark();
    const stop = new AbortController();
    const running = sandbox().exec(tree(mark), {
      signal: stop.signal,
      onOutput: (_stream, text) => {
        if (text.includes('up')) stop.abort(new Error('cancelled'));
      },
    });
    await expect(running).rejects.toThrow('cancelled');
    expect(processesWith(mark)).toEqual([]);
  });

  it('when the call of a tool that passes no signal is cancelled', async () => {
    const mark = aMark();
    let up = (): void => {};
    const isUp = new Promise<void>((resolve) => (up = resolve));
    let ended: Promise<unknown> = Promise.resolve();
    const long = tool('long', async (_args, context) => {
      ended = context.sandbox
        .exec(`echo up; sleep ${mark}`, { timeoutMs: 20_000, onOutput: () => up() })
        .catch((error: unknown) => error);
      return await ended;
    });
    const board = await aBoard({ tools: [long], workspace: {} });
    const { id } = await board.invoke('long');
    await isUp;
    await board.cancel(id);
    // It was not its own time limit.
    expect(await ended).not.toHaveProperty('timedOut');
    expect(processesWith(mark)).toEqual([]);
  });

  it('not before its time limit, however long that is', async () => {
    const mark = aMark();
    const month = 30 * 24 * 3_600_000;
    const job = await sandbox().execBackground(`echo up; sleep ${mark}`, { timeoutMs: month });
    expect(await sandbox().logs(job, { follow: true })).toMatchObject({ output: 'up\n', status: 'running' });
    await sandbox().kill(job);
    expect(await sandbox().exec('echo done', { timeoutMs: month })).toMatchObject({
      stdout: 'done\n',
      timedOut: false,
    });
  });

  it('when its job is killed, and then says so', async () => {
    const mark = aMark();
    const job = await sandbox().execBackground(tree(mark));
    expect(await sandbox().logs(job, { follow: true })).toMatchObject({ output: 'up\n', status: 'running' });
    expect(processesWith(mark).length).toBeGreaterThan(2);
    expect(await sandbox().kill(job)).toMatchObject({ status: 'killed', exitCode: null });
    expect(processesWith(mark)).toEqual([]);
  });

  it('when a job reaches its time limit', async () => {
    const mark = aMark();
    const job = await sandbox().execBackground(`sleep ${mark}`, { timeoutMs: 300 });
    expect(await sandbox().logs(job, { follow: true })).toMatchObject({ status: 'killed' });
    expect(processesWith(mark)).toEqual([]);
  });

  it('when its run ends, and those of other runs stay', async () => {
    const [mark, other] = [aMark(), aMark()];
    const first = bench().sandbox('run_a');
    const job = await first.execBackground(tree(mark));
    const stays = await bench().sandbox('run_b').execBackground(tree(other));
    await first.logs(job, { follow: true });
    await bench().sandbox('run_b').logs(stays, { follow: true });
    await bench().workspaces.endRun({ tenant: 'default', runId: 'run_a' });
    expect(processesWith(mark)).toEqual([]);
    expect(processesWith(other).length).toBeGreaterThan(2);
    expect(await first.logs(job)).toMatchObject({ status: 'killed' });
  });

  it('when the sandbox setup closes, the file servers included', async () => {
    const mark = aMark();
    const closing = await aSandboxSetup();
    const inside = closing.sandbox();
    await inside.writeFile('a.txt', 'a');
    const job = await inside.execBackground(tree(mark));
    await inside.logs(job, { follow: true });
    expect(processesWith(closing.folder).length).toBeGreaterThan(0);
    await closing.close();
    expect(processesWith(mark)).toEqual([]);
    expect(processesWith(closing.folder)).toEqual([]);
  });

  it('when the server is killed with SIGKILL', async () => {
    const mark = aMark();
    const folder = await mkdtemp(join(tmpdir(), 'patchboard-doomed-'));
    const server = spawn(process.execPath, ['--conditions=patchboard-source', SERVER, folder, tree(mark)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(server.stdout, 'data');
    expect(processesWith(mark).length).toBeGreaterThan(2);
    server.kill('SIGKILL');
    await once(server, 'exit');
    while (processesWith(mark).length > 0) await new Promise((resolve) => setImmediate(resolve));
    while (processesWith(folder).length > 0) await new Promise((resolve) => setImmediate(resolve));
    await rm(folder, { recursive: true, force: true });
  });

  it('returns jobs of its own run only', async () => {
    const job = await bench().sandbox('run_a').execBackground('echo mine; sleep 60');
    const stranger = bench().sandbox('run_b');
    expect(await stranger.logs(job)).toBeUndefined();
    expect(await stranger.kill(job)).toBeUndefined();
    expect(await stranger.kill(String(process.pid))).toBeUndefined();
    expect(await bench().sandbox('run_a').kill(job)).toMatchObject({ status: 'killed' });
  });

  it('reads a log from an offset, also after the end', async () => {
    const job = await sandbox().execBackground('echo one; echo two >&2; exit 3');
    let log = await sandbox().logs(job, { follow: true });
    while (log?.status === 'running')
      log = await sandbox().logs(job, { follow: true, offset: log.nextOffset });
    const all = await sandbox().logs(job);
    expect(all).toMatchObject({ status: 'exited', exitCode: 3, offset: 0 });
    expect(all?.output.split('\n').toSorted()).toEqual(['', 'one', 'two']);
    expect((await sandbox().logs(job, { offset: 4 }))?.output).toBe(all?.output.slice(4));
    expect(await sandbox().logs(job, { offset: 1000 })).toMatchObject({
      output: '',
      offset: 8,
      nextOffset: 8,
    });
  });
});
