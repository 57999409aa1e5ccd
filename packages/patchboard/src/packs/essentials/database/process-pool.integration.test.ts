import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, describe, expect, it } from 'vitest';

import { aContext } from '../__fixtures__/context.ts';
import { failureOf } from '../__fixtures__/failure-of.ts';
import { isRunning } from './__fixtures__/is-running.ts';
import { aDatabaseTool, aFolder } from './__fixtures__/tool.ts';
import type { DatabaseTool } from './tool.ts';

const ENDLESS = 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n';
const folder = aFolder();
const opened: DatabaseTool[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((tool) => tool.close()));
});
afterAll(() => folder.remove());

describe('the processes behind database.query', () => {
  it('reuses an idle child', async () => {
    const database = open();
    await run(database, 'select 1');
    const [pid] = database.pids();
    await run(database, 'select 2');
    expect(database.pids()).toEqual([pid]);
  });

  it('never starts more than the maximum, and runs every query', async () => {
    const database = open();
    const queries = Array.from({ length: 12 }, (_, index) => run(database, `select ${index}`));
    const seen = queries.map((query) => query.then(() => database.pids().length));
    expect(Math.max(...(await Promise.all(seen)))).toBeLessThanOrEqual(2);
    const rows = (await Promise.all(queries)).map((result) => (result as { rows: unknown[][] }).rows[0]?.[0]);
    expect(rows).toEqual(Array.from({ length: 12 }, (_, index) => index));
  });

  it('ends a waiting query when its call is aborted', async () => {
    const database = open();
    const stop = new AbortController();
    const busy = Promise.allSettled([1, 2].map(() => run(database, ENDLESS, stop.signal)));
    const waiting = new AbortController();
    const running = run(database, 'select 1', waiting.signal);
    waiting.abort(new Error('changed my mind'));
    await expect(running).rejects.toThrow('changed my mind');
    stop.abort(new Error('enough'));
    expect((await busy).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(run(database, 'select 1')).resolves.toMatchObject({ rows: [[1]] });
  });

  it('ends an idle child after a while', async () => {
    const database = open({ idleMs: 1 });
    await run(database, 'select 1');
    await expect.poll(() => database.pids()).toEqual([]);
    await expect(run(database, 'select 1')).resolves.toMatchObject({ rows: [[1]] });
  });

  it('reports when a child dies, and continues with another', async () => {
    const database = open();
    await run(database, 'select 1');
    const [pid = 0] = database.pids();
    const running = failureOf(run(database, ENDLESS));
    process.kill(pid, 'SIGKILL');
    await expect(running).resolves.toMatchObject({ code: 'tool_failed', retryable: true });
    await expect(run(database, 'select 1')).resolves.toMatchObject({ rows: [[1]] });
  });

  it('kills a child that exceeds its time budget, without an abort', async () => {
    const database = open();
    await run(database, 'select 1');
    const running = failureOf(database.tool.execute({ sql: ENDLESS }, aContext({ deadlineAt: 50 })));
    await expect(running).resolves.toMatchObject({ message: expect.stringContaining('SIGKILL') });
  });

  it('ends every child on close, including busy ones', async () => {
    const database = open();
    await run(database, 'select 1');
    const running = failureOf(run(database, ENDLESS));
    const pids = database.pids();
    expect(pids).not.toEqual([]);
    await database.close();
    await expect(running).resolves.toMatchObject({ code: 'interrupted' });
    expect(pids.filter(isRunning)).toEqual([]);
    await expect(failureOf(run(database, 'select 1'))).resolves.toMatchObject({ code: 'interrupted' });
  });

  it('leaves no child behind when its parent is killed in the middle of a query', async () => {
    const script = fileURLToPath(new URL('./__fixtures__/parent.ts', import.meta.url));
    const parent = spawn(process.execPath, [...process.execArgv, script, folder.file('sample.db')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(parent.stdout, 'data')) as [Buffer];
    const pid = Number(String(line));
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});

function open(given: { idleMs?: number } = {}): DatabaseTool {
  const tool = aDatabaseTool({ target: { kind: 'sample', file: folder.file('sample.db') }, ...given });
  opened.push(tool);
  return tool;
}

async function run(database: DatabaseTool, sql: string, signal?: AbortSignal): Promise<unknown> {
  return await database.tool.execute({ sql }, aContext(signal === undefined ? {} : { signal }));
}
