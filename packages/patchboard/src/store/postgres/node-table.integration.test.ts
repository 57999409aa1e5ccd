import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aSession } from '../../../test/postgres/support/a-postgres-store.ts';
import { startProxy } from '../../../test/services/proxy.ts';
import { waitFor } from '../../../test/support/wait-for.ts';
import {
  NodeFenced,
  type NodeKey,
  type NodeReport,
  type NodeRow,
  type NodeTable,
} from '../../cluster/node-table.ts';
import { verifyLedger } from '../../core/ledger/ledger-check.ts';
import {
  aCall,
  callId,
  completed,
  digest,
  executing,
  insertAll,
  rowsOf,
  START,
} from '../samples.contract.ts';
import { REPORT, sharedStores } from './shared-stores.contract.ts';

async function rowOf(table: NodeTable, { writer }: NodeKey): Promise<NodeRow> {
  const row = (await table.beat(REPORT)).nodes.find((node) => node.writer === writer);
  if (row === undefined) throw new Error(`there is no writer ${writer}`);
  return row;
}

/** Beats until the returned function is called: a node that requests no heartbeat is blocked, and has no room. */
async function keepBeating(table: NodeTable, report: NodeReport): Promise<() => Promise<void>> {
  let isStopped = false;
  await table.beat(report);
  const beating = (async (): Promise<void> => {
    while (!isStopped) {
      await table.beat(report);
      await pause(100);
    }
  })();
  return async () => {
    isStopped = true;
    await beating;
  };
}

async function idsFrom(calls: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of calls) ids.push(id);
  return ids;
}

async function takenIds(table: NodeTable): Promise<string[]> {
  return (await table.takenCalls()).map(({ id }) => id);
}

describe('a heartbeat', () => {
  it('reports the node, and reads all nodes and the clock of the database', async () => {
    const { open } = await sharedStores(15);
    const [a, b] = [await open(), await open()];
    const leaving = {
      ...REPORT,
      state: 'leaving',
      room: 3,
      calls: 7,
      revision: 4,
      follows: ['acme'],
    } as const;
    const stop = await keepBeating(a.table, leaving);
    const before = Date.now();
    const { nodes, now } = await b.table.beat(REPORT);
    expect(nodes).toMatchObject([
      {
        ...a.table.self,
        state: 'leaving',
        url: REPORT.url,
        room: 3,
        calls: 7,
        revision: 4,
        follows: ['acme'],
        tookOver: null,
      },
      { ...b.table.self, state: 'held' },
    ]);
    expect(nodes[0]?.holder).toMatch(/process \d+$/);
    // The server of the test runs on the same machine.
    expect(Math.abs(now - before)).toBeLessThan(60_000);
    const { beat } = await rowOf(b.table, a.table.self);
    await a.table.beat(leaving);
    expect((await rowOf(b.table, a.table.self)).beat).toBeGreaterThan(beat);
    await stop();
  });

  it('continues without room while the event loop of the node requests none', async () => {
    const { open } = await sharedStores(15);
    const [a, b] = [await open(), await open()];
    await a.table.beat({ ...REPORT, room: 3 });
    const { beat } = await rowOf(b.table, a.table.self);
    await waitFor(async () =>
      expect(await rowOf(b.table, a.table.self)).toMatchObject({ beat: beat + 2, room: 0 }),
    );
  });
});

describe('a database that was restored to an earlier state', () => {
  it('fences a node that has written nothing since: its heartbeat has gone back', async () => {
    const { open, options, tables } = await sharedStores(15);
    const { store, table } = await open();
    const problems: string[] = [];
    store.onFenced((problem) => problems.push(problem));
    for (let beats = 0; beats < 3; beats += 1) await table.beat(REPORT);
    const session = await aSession(options.url);
    await session.query(`update ${tables.writers} set beat = beat - 2`);
    await expect(table.beat(REPORT)).rejects.toThrow(NodeFenced);
    expect(problems).toEqual([
      expect.stringMatching(/restored to an earlier state \(heartbeat \d+ instead of \d+\)/),
    ]);
  });
});

describe('a takeover', () => {
  it('passes no call that a third node has made its own before it is read', async () => {
    const { open } = await sharedStores(15);
    const [a, b, c] = [await open(), await open(), await open()];
    await insertAll(a.store, [aCall(1), aCall(2)]);
    const taken = await b.table.takeOver(await rowOf(b.table, a.table.self));
    const running = executing(aCall(1));
    expect(await c.store.replaceCall(running, 1, rowsOf(running, 1))).toEqual({ kind: 'replaced' });
    expect(taken).toEqual([callId(1), callId(2)]);
    expect(await idsFrom(b.table.calls(taken ?? []))).toEqual([callId(2)]);
  });

  it('fences the node: its batch fails as a whole, its other writes are refused, and its calls change hands', async () => {
    const { open } = await sharedStores(15);
    const [a, b] = [await open(), await open()];
    await insertAll(a.store, [aCall(1), aCall(2)]);
    await insertAll(b.store, [aCall(3)]);
    const dead = await rowOf(b.table, a.table.self);
    expect(await b.table.takeOver({ ...dead, beat: dead.beat - 1 })).toBeNull();
    expect(await b.table.takeOver(dead)).toEqual([callId(1), callId(2)]);
    expect(await takenIds(b.table)).toEqual([callId(1), callId(2)]);
    expect(await idsFrom(b.table.calls([callId(1), callId(2), callId(9)]))).toEqual([callId(1), callId(2)]);

    const problems: string[] = [];
    a.store.onFenced((problem) => problems.push(problem));
    const done = completed(aCall(1));
    const writes = await Promise.allSettled([
      insertAll(a.store, [aCall(4)]),
      a.store.replaceCall(done, 1, rowsOf(done, 1)),
    ]);
    expect(writes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(problems).toHaveLength(1);
    await expect(a.table.beat(REPORT)).rejects.toThrow(NodeFenced);
    await expect(a.table.handOver(null)).rejects.toThrow(NodeFenced);
    await expect(a.table.takeOver(await rowOf(b.table, b.table.self))).rejects.toThrow(NodeFenced);
    expect(await a.table.claimOverdue(0, START * 2, 10, null)).toEqual([]);
    expect(await b.store.findCall(callId(4))).toBeUndefined();
    expect(await b.store.findCall(callId(1))).toEqual(aCall(1));

    expect(await rowOf(b.table, a.table.self)).toMatchObject({ state: 'free', holder: null });
    expect(await rowOf(b.table, b.table.self)).toMatchObject({ tookOver: { from: 1, calls: 2 } });
    // The mark ends with the next move.
    expect(await b.store.replaceCall(done, 1, rowsOf(done, 1))).toEqual({ kind: 'replaced' });
    expect(await takenIds(b.table)).toEqual([callId(2)]);
    // The same process again: another epoch of the same writer, whose chain goes on.
    const again = await open();
    expect(again.table.self).toEqual({ writer: 1, epoch: dead.epoch + 2 });
    await insertAll(again.store, [aCall(5)]);
    expect(await verifyLedger(b.store, digest)).toMatchObject({ ok: true });
  });

  it('is made by one of two nodes', async () => {
    const { open } = await sharedStores(15);
    const [a, b, c] = [await open(), await open(), await open()];
    await insertAll(a.store, [aCall(1)]);
    const dead = await rowOf(b.table, a.table.self);
    const taken = await Promise.all([b.table.takeOver(dead), c.table.takeOver(dead)]);
    const [winner] = taken.filter((ids) => ids !== null);
    expect(taken.filter((ids) => ids === null)).toHaveLength(1);
    expect(winner).toEqual([callId(1)]);
  });

  // Less than the time in which a lost reply is noticed on a connection for long statements.
  it('succeeds over another connection if the link of the first is silent', { timeout: 15_000 }, async () => {
    const { open, options } = await sharedStores(15);
    const proxy = await startProxy(options.url);
    onTestFinished(() => proxy.close());
    const [a, b] = [await open(), await open(proxy.through(options.url))];
    await insertAll(a.store, [aCall(1)]);
    const dead = await rowOf(b.table, a.table.self);
    const silent = proxy.swallowFrom('request', ({ text }) => text.includes('moved_by <> owner'));
    const polling = b.table.movedByOthers();
    await silent;
    expect(await b.table.takeOver(dead)).toEqual([callId(1)]);
    await polling;
  });
});

describe('overdue calls', () => {
  it('of other nodes are claimed, the oldest deadline first; the former owner cannot move them any more', async () => {
    const { open } = await sharedStores(15);
    const [a, b] = [await open(), await open()];
    const late = [1, 2, 3].map((n) => aCall(n, { state: { name: 'PENDING', deadlineAt: START - n } }));
    await insertAll(a.store, [...late, aCall(4)]);
    await insertAll(b.store, [aCall(5, { state: { name: 'PENDING', deadlineAt: START - 5 } })]);
    expect(await b.table.claimOverdue(0, START, 10, [b.table.self.writer])).toEqual([]);
    const claimed = await b.table.claimOverdue(START - 3, START, 2, null);
    expect(claimed).toEqual(
      [3, 2].map((n) => ({ id: callId(n), version: 2, owner: b.table.self.writer, isOpen: true })),
    );
    expect(await b.table.takenCalls()).toEqual([2, 3].map((n) => ({ id: callId(n), version: 2 })));
    const done = completed(aCall(2));
    expect(await a.store.replaceCall(done, 1, rowsOf(done, 1))).toMatchObject({
      kind: 'conflict',
      elsewhere: true,
      current: { version: 2 },
    });
  });
});

describe('calls that another node moved', () => {
  it('are found by the node that still holds them, and by their places', async () => {
    const { open } = await sharedStores(15);
    const [a, b] = [await open(), await open()];
    await insertAll(a.store, [aCall(1), aCall(2), aCall(3), aCall(4)]);
    const [kept, taken, ended] = [executing(aCall(1)), executing(aCall(2)), completed(aCall(3))];
    await b.store.replaceCall(kept, 1, rowsOf(kept, 1), false, true);
    await b.store.replaceCall(taken, 1, rowsOf(taken, 1));
    await b.store.replaceCall(ended, 1, rowsOf(ended, 1));
    const [ofA, ofB] = [a.table.self.writer, b.table.self.writer];
    expect(await a.table.movedByOthers()).toEqual([{ id: callId(1), version: 2, owner: ofA, isOpen: true }]);
    expect(await a.table.places([1, 2, 3, 4, 9].map(callId))).toEqual([
      { id: callId(1), version: kept.version, owner: ofA, isOpen: true },
      { id: callId(2), version: taken.version, owner: ofB, isOpen: true },
      { id: callId(3), version: ended.version, owner: ofB, isOpen: false },
      { id: callId(4), version: 1, owner: ofA, isOpen: true },
    ]);
  });
});

describe('waiting calls', () => {
  it('of attached clients are found at other nodes, and offered ones are taken once', async () => {
    const { open } = await sharedStores(15);
    const [a, b, c] = [await open(), await open(), await open()];
    const ofClient = (n: number, tenant: string): ReturnType<typeof aCall> =>
      aCall(n, { source: 'client', clientId: 'phone-1', tenant });
    await insertAll(a.store, [ofClient(1, 'acme'), ofClient(2, 'other'), executing(ofClient(3, 'acme'))]);
    await insertAll(b.store, [ofClient(4, 'acme')]);
    const client = { tenant: 'acme', clientId: 'phone-1' };
    // Its node delivers it: no other may take it.
    expect(await b.table.waitingFor([client])).toEqual([]);
    await a.table.offer([ofClient(1, 'acme'), ofClient(2, 'other')]);
    expect(await b.table.offered(10, '')).toEqual([]);
    expect(await b.table.waitingFor([client])).toEqual([
      { id: callId(1), tenant: 'acme', clientId: 'phone-1', version: 1 },
    ]);

    await insertAll(a.store, [aCall(5), aCall(6)]);
    await a.table.offer([aCall(5), { ...aCall(6), version: 7 }]);
    expect(await a.table.offered(10, '')).toEqual([]);
    expect(await b.table.offered(10, '')).toEqual([
      { id: callId(5), tenant: 'acme', toolName: 'weather.query', toolVersion: 'v1' },
    ]);
    const taken = await Promise.all([b, c].map(({ table }) => table.takeOffered([callId(5), callId(6)])));
    expect(taken.flat()).toMatchObject([{ id: callId(5), version: 2 }]);
    expect(await b.table.offered(10, '')).toEqual([]);
  });
});

describe('a node that leaves', () => {
  it('gives its calls to the preferred node, otherwise to the one with most room, otherwise to the next start', async () => {
    const { open } = await sharedStores(15);
    const [a, b, c] = [await open(), await open(), await open()];
    const stopB = await keepBeating(b.table, { ...REPORT, room: 5 });
    const stopC = await keepBeating(c.table, { ...REPORT, room: 9 });
    await insertAll(a.store, [aCall(1)]);
    expect(await a.table.handOver(b.table.self.writer)).toEqual({ to: b.table.self.writer, calls: 1 });
    expect(await takenIds(b.table)).toEqual([callId(1)]);
    await insertAll(a.store, [aCall(2)]);
    await a.store.close();
    expect(await takenIds(c.table)).toEqual([callId(2)]);
    expect(await rowOf(b.table, a.table.self)).toMatchObject({ state: 'free' });
    await Promise.all([stopB(), stopC()]);
    await Promise.all([b.store.close(), c.store.close()]);
    const next = await open();
    expect(await takenIds(next.table)).toEqual([callId(1), callId(2)]);
  });
});

describe('the home of a workspace', () => {
  const run = { tenant: aCall(1).tenant, runId: aCall(1).runId };

  it('is one of several nodes that claim it, as long as that node lives and stays', async () => {
    const { open } = await sharedStores(15);
    const [a, b, c] = [await open(), await open(), await open()];
    await insertAll(a.store, [aCall(1)]);
    const claimed = await Promise.all(
      [a, b, c].map(({ table }) => table.claimHome(run, `disk of ${table.self.writer}`)),
    );
    const [{ writer, place }] = claimed as [(typeof claimed)[number]];
    expect(claimed).toEqual(claimed.map(() => ({ writer, place, before: null })));
    expect(place).toBe(`disk of ${writer}`);
    const home = [a, b, c].find(({ table }) => table.self.writer === writer)!;
    const others = [a, b, c].filter((node) => node !== home);
    expect(await home.table.claimHome(run, place)).toMatchObject({ writer, before: null });

    // A node that shuts down is no home any more; the same writer under another epoch is another node.
    await home.table.beat({ ...REPORT, state: 'leaving' });
    expect(await others[0]!.table.claimHome(run, 'disk 2')).toMatchObject({
      writer: others[0]!.table.self.writer,
      before: { place },
    });
    const dead = await rowOf(others[1]!.table, others[0]!.table.self);
    await others[1]!.table.takeOver(dead);
    const again = await open();
    expect(again.table.self.writer).toBe(dead.writer);
    expect(await again.table.claimHome(run, 'disk 2')).toMatchObject({ before: { place: 'disk 2' } });
  });

  it('gets a call at the version that its node knows, marked as taken; a node that is gone gets none', async () => {
    const { open } = await sharedStores(15);
    const [a, b] = [await open(), await open()];
    await insertAll(a.store, [aCall(1), aCall(2)]);
    const { version } = aCall(1);
    expect(await a.table.give({ id: callId(1), version: version + 1 }, b.table.self.writer)).toBe(false);
    expect(await b.table.give({ id: callId(1), version }, a.table.self.writer)).toBe(false);
    expect(await a.table.give({ id: callId(1), version }, b.table.self.writer)).toBe(true);
    expect(await takenIds(b.table)).toEqual([callId(1)]);
    expect(await b.store.findCall(callId(1))).toEqual({ ...aCall(1), version: version + 1 });
    expect(await a.store.replaceCall(completed(aCall(1)), version, [])).toMatchObject({
      kind: 'conflict',
      elsewhere: true,
    });
    await b.table.beat({ ...REPORT, state: 'leaving' });
    expect(await a.table.give({ id: callId(2), version }, b.table.self.writer)).toBe(false);
  });
});
