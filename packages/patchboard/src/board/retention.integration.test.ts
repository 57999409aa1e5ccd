import { createClient } from '@patchboard/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aBoard } from '../../test/support/a-board.ts';
import { aFolder } from '../../test/support/a-folder.ts';
import { createPatchboard, executeToolRequests, memory, sqlite, tool } from '../index.ts';
import type { BoardStore, Patchboard } from '../index.ts';
import { scenes } from '../../test/support/agent-scene.ts';

const { aScene } = scenes();
const now = tool('now', ({ n }: { n?: number }) => ({ n }));
const later = tool('later', async ({ n }: { n?: number }) => {
  await new Promise((resolve) => setImmediate(resolve));
  return { n };
});

async function idsAfter(board: Patchboard, calls: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < calls; n += 1) ids.push((await board.call('now', { n })).id);
  return ids;
}

async function kept(board: Patchboard, ids: readonly string[]): Promise<number> {
  const found = await Promise.all(ids.map((id) => board.get(id)));
  return found.filter((record) => record !== undefined).length;
}

describe('a board in memory', () => {
  it('keeps the 10,000 calls that ended last', async () => {
    const board = await aBoard({ tools: [now] });
    const ids = await idsAfter(board, 10_010);
    expect(await kept(board, ids.slice(0, 10))).toBe(0);
    expect(await kept(board, ids)).toBe(10_000);
  });

  it('keeps the configured number of calls, and bounds ledger rows, runs, keys and journals along with them', async () => {
    let opened: Awaited<ReturnType<BoardStore['open']>> | undefined;
    const store: BoardStore = { folder: null, open: async (given) => (opened = await memory().open(given)) };
    const board = await aBoard({ tools: [now], retain: 5, store });
    for (let n = 0; n < 3000; n += 1)
      await board.call('now', { n }, { runId: `run_${n}`, idempotencyKey: `key-${n}` });
    for (let n = 0; n < 3000; n += 1) await board.call('no.such.tool').catch(() => null);
    expect((await opened!.listRuns({ tenant: 'default' }, null, 10_000)).items).toHaveLength(5);
    expect((await opened!.listCalls({ tenant: 'default' }, null, 10_000)).items).toHaveLength(5);
    expect((await opened!.readLedger({}, 0, 10_000)).length).toBeLessThan(1500);
    // Its call was dropped, so the key creates a new one.
    const again = await board.call('now', { n: -1 }, { idempotencyKey: 'key-0' });
    expect(again.result).toEqual({ n: -1 });
  });

  it.each([now, later])('has the record of every call that is awaited: $name', async ({ name }) => {
    const board = await aBoard({ tools: [now, later], retain: 2 });
    const records = await Promise.all(Array.from({ length: 50 }, (_, n) => board.call(name, { n })));
    expect(records.map(({ result }) => result)).toEqual(Array.from({ length: 50 }, (_, n) => ({ n })));
  });

  it('returns every result to an agent, a text protocol and a client', async () => {
    const calls = Array.from({ length: 20 }, (_, n) => ({ name: 'now', args: { n } }));
    const { agent, board } = await aScene([{ calls }, 'Done.'], {}, { tools: [now], retain: 1 });
    const reply = await agent.send('Go.');
    expect(reply.calls.map(({ result }) => result)).toEqual(calls.map(({ args }) => args));
    const requests = calls.map(({ args }, n) => ({
      requestId: `r${n}`,
      toolName: 'now',
      args,
      offset: n,
      rawBlock: '',
    }));
    const results = await executeToolRequests(requests, {
      board,
      config: { enabled: true, defaultToolEnabled: true, parallelExecution: true },
    });
    expect(results.map(({ result }) => JSON.parse(result) as unknown)).toEqual(calls.map(({ args }) => args));
    const { url } = await board.listen({ port: 0 });
    const { secret } = await board.createKey({ kind: 'agent', name: 'remote' });
    const client = createClient({ url, key: secret });
    const ended = await Promise.all(
      calls.map(({ args }) => client.call('now', args, { runId: 'run_remote' })),
    );
    expect(ended.map(({ result }) => result)).toEqual(calls.map(({ args }) => args));
  });

  it('lets an agent continue whose journal was dropped', async () => {
    const script = ['One.', 'Two.', 'Three.'];
    const { agent, board } = await aScene(script, {}, { tools: [now], retain: 1 });
    await agent.send('First?');
    await board.host.store.appendJournal('run_other', 0, [{ kind: 'message', body: '{}' }]);
    expect((await agent.send('Second?')).text).toBe('Two.');
  });

  it.each([0, 1.5, -1, '5', NaN])('refuses to retain %j', async (retain) => {
    await expect(createPatchboard({ retain: retain as number })).rejects.toMatchObject({
      failure: { code: 'body_invalid', message: expect.stringContaining('retain must be') as string },
    });
  });
});

describe('a board over sqlite', () => {
  it('keeps every call unless `retain` is set', async () => {
    const folder = await aFolder();
    const every = await createPatchboard({ tools: [now], store: sqlite(folder) });
    const ids = await idsAfter(every, 30);
    expect(await kept(every, ids)).toBe(30);
    await every.close();
    const some = await createPatchboard({ tools: [now], store: sqlite(folder), retain: 10 });
    onTestFinished(() => some.close());
    const more = await idsAfter(some, 30);
    await some.close();
    const after = await createPatchboard({ tools: [now], store: sqlite(folder) });
    onTestFinished(() => after.close());
    expect(await kept(after, ids)).toBe(0);
    expect(await kept(after, more)).toBe(10);
    expect(await kept(after, more.slice(-10))).toBe(10);
  });
});
