import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../services/postgres.ts';
import { isCommit, startProxy, type PostgresProxy } from '../services/proxy.ts';
import { aFolder } from '../support/a-folder.ts';
import { afterUse } from '../support/after-use.ts';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, type CallView, type TestNode } from './support/a-node.ts';

// The tests stop the database, so they share one of their own, and two nodes on it.
const service = await startPostgres();
afterUse(() => service.close());
const cluster = await aCluster('http: { drain_delay_ms: 0 }', service);
const [toA, toB] = [await aProxy(), await aProxy()];
const [a, b] = await Promise.all([
  cluster.join({ DATABASE_URL: toA.through(service.url) }),
  cluster.join({ DATABASE_URL: toB.through(service.url) }),
]);

async function aProxy(): Promise<PostgresProxy> {
  const proxy = await startProxy(service);
  afterUse(() => proxy.close());
  return proxy;
}

async function running(node: TestNode, ms: number, more: object = {}): Promise<CallView> {
  const call = await node.invoke('test.effect', ms, 0, more);
  await waitFor(() => expect(cluster.ranIn(call)).toEqual([node.pid]));
  return call;
}

/** Both nodes reach the database and know each other, also after a test that failed. */
async function met(): Promise<void> {
  toA.pass();
  for (const [node, other] of [[a, b] as const, [b, a] as const])
    await waitFor(async () =>
      expect((await node.get('/v1/nodes')).json).toMatchObject({
        nodes: expect.arrayContaining([expect.objectContaining({ url: other.url, state: 'running' })]),
      }),
    );
}

/** Which processes hold the writers. */
async function holders(): Promise<unknown> {
  return await cluster.query('select writer, epoch, holder, state from writers order by writer');
}

/** The heartbeats of the nodes that hold writers. */
async function beats(): Promise<readonly number[]> {
  const rows = await cluster.query("select beat from writers where state <> 'free' order by writer");
  return rows.map((row) => Number(row['beat']));
}

const UNAVAILABLE = { status: 503, json: { code: 'storage_unavailable', retryable: true } };

it('a commit whose reply is lost: the call is recorded and runs once, and no node is taken for dead', async () => {
  await met();
  const before = await holders();
  const cut = toA.cutAt('reply', isCommit);
  const call = await a.invoke('test.effect', 0, 20);
  await cut;
  expect(call).toMatchObject({ status: 'SUCCEEDED' });
  expect(cluster.ranIn(call)).toEqual([a.pid]);
  expect(await b.call(call)).toMatchObject({ status: 'SUCCEEDED' });
  expect(await holders()).toEqual(before);
});

it('a database that crashes, or is away for long: no node is taken for dead, and what ran meanwhile is recorded', async () => {
  await met();
  const before = await holders();
  const [first, second] = [await running(a, 1000), await running(b, 1000)];
  await service.restart('immediate');
  for (const call of [first, second]) expect(await b.call(call, 30)).toMatchObject({ status: 'SUCCEEDED' });

  const [third, fourth] = [await running(a, 1500), await running(b, 1500)];
  await service.stop('immediate');
  for (const node of [a, b]) {
    expect(await node.send('POST', '/v1/tools/test.effect/invoke', { run_id: 'r1' })).toMatchObject(
      UNAVAILABLE,
    );
    expect(await node.get(`/v1/tool_calls/${first.tool_call_id}`)).toMatchObject(UNAVAILABLE);
    expect((await node.get('/readyz')).status).toBe(503);
  }
  await service.start();
  for (const node of [a, b]) await waitFor(async () => expect((await node.get('/readyz')).status).toBe(200));
  for (const call of [third, fourth]) expect(await a.call(call, 30)).toMatchObject({ status: 'SUCCEEDED' });
  for (const call of [first, second, third, fourth]) expect(cluster.ranIn(call)).toHaveLength(1);
  expect(await holders()).toEqual(before);
});

it('a node that cannot reach the database: it gives 503 and stops overdue work, and the other one takes over', async () => {
  await met();
  const [kept, overdue] = [await running(a, 60_000), await running(a, 60_000, { timeout_ms: 2000 })];
  toA.freeze();
  // A connection of the other node may still be on its way back from the test before: a retryable 503.
  await waitFor(async () => expect(await b.call(overdue, 30)).toMatchObject({ state: 'TIMED_OUT' }));
  expect(await b.call(kept, 30)).toMatchObject({ state: 'SEALED', error: { outcome: 'unknown' } });
  expect(await a.send('POST', '/v1/tools/test.effect/invoke', { run_id: 'r1' })).toMatchObject(UNAVAILABLE);
  expect(cluster.wasStopped(overdue)).toBe(true);
  toA.pass();
  await waitFor(() => expect(a.log).toContain('server.restarting'));
  await waitFor(async () => expect((await a.get('/readyz')).status).toBe(200));
  expect(cluster.wasStopped(kept)).toBe(true);
  expect(await a.call(kept)).toMatchObject({ state: 'SEALED' });
  expect(await a.invoke('test.effect', 0, 20)).toMatchObject({ status: 'SUCCEEDED', result: { pid: a.pid } });
  for (const call of [kept, overdue]) expect(cluster.ranIn(call)).toEqual([a.pid]);
});

it('a fenced node whose database is away: it responds that it is not ready, and starts again when the database is back', async () => {
  await met();
  const hold = join(await aFolder(), 'hold');
  writeFileSync(hold, '');
  const toC = await aProxy();
  const c = await cluster.join({ DATABASE_URL: toC.through(service.url), TEST_HOLD: hold });
  await cluster.query("update writers set epoch = epoch + 1, state = 'free' where url = $1", [c.url]);
  await waitFor(() => expect(c.log).toContain('engine.fenced'));
  toC.refuse();
  rmSync(hold);
  const status = async (path: string): Promise<number> => (await fetch(`${c.url}${path}`)).status;
  await waitFor(async () => expect(await status('/readyz')).toBe(503));
  expect([await status('/healthz'), await status('/v1/tools')]).toEqual([200, 503]);
  toC.pass();
  await waitFor(async () => expect(await status('/readyz')).toBe(200));
  expect(await c.invoke('test.effect', 0, 20)).toMatchObject({ status: 'SUCCEEDED', result: { pid: c.pid } });

  // A signal ends it also while the database is away.
  writeFileSync(hold, '');
  await cluster.query("update writers set epoch = epoch + 1, state = 'free' where url = $1", [c.url]);
  await waitFor(() => expect(c.log.match(/engine.fenced/g)).toHaveLength(2));
  toC.refuse();
  rmSync(hold);
  await waitFor(() => expect(c.log.match(/server.store_away/g)).toHaveLength(2));
  c.signal('SIGTERM');
  expect(await c.exited()).toBe(0);
});

it('a fenced node whose address leads to a standby: it responds that it is not ready, and starts again when it can write', async () => {
  await met();
  const hold = join(await aFolder(), 'hold');
  writeFileSync(hold, '');
  await cluster.query('create role failing_over superuser login');
  const d = await cluster.join({ DATABASE_URL: service.urlFor('failing_over', 'postgres'), TEST_HOLD: hold });
  await cluster.query("update writers set epoch = epoch + 1, state = 'free' where url = $1", [d.url]);
  await waitFor(() => expect(d.log).toContain('engine.fenced'));
  await cluster.query('alter role failing_over set default_transaction_read_only = on');
  rmSync(hold);
  const status = async (path: string): Promise<number> => (await fetch(`${d.url}${path}`)).status;
  await waitFor(() => expect(d.log).toMatch(/read-only.*server.store_away/));
  await waitFor(async () => expect(await status('/readyz')).toBe(503));
  expect([await status('/healthz'), await status('/v1/tools')]).toEqual([200, 503]);
  await cluster.query('alter role failing_over reset default_transaction_read_only');
  await waitFor(async () => expect(await status('/readyz')).toBe(200));
  expect(await d.invoke('test.effect', 0, 20)).toMatchObject({ status: 'SUCCEEDED', result: { pid: d.pid } });
  await d.exit();
});

it('a primary that accepts no writes: the nodes respond 503 to writes and serve reads, and no node is taken for dead', async () => {
  await met();
  const before = await holders();
  const done = await a.invoke('test.effect', 0, 20);
  const accept = async (): Promise<void> => {
    await cluster.query('alter system reset default_transaction_read_only');
    await cluster.query('select pg_reload_conf()');
  };
  onTestFinished(accept);
  // As a provider does when the disk is nearly full. It holds for the sessions that exist too.
  await cluster.query('alter system set default_transaction_read_only = on');
  await cluster.query('select pg_reload_conf()');
  for (const node of [a, b]) {
    expect(await node.send('POST', '/v1/tools/test.effect/invoke', { run_id: 'r1', args: {} })).toMatchObject(
      UNAVAILABLE,
    );
    expect((await node.get('/readyz')).status).toBe(503);
    expect(await node.call(done)).toMatchObject({ status: 'SUCCEEDED' });
    for (const path of ['/v1/tool_calls?run_id=r1', '/v1/tools', '/v1/ledger?limit=1', '/v1/runs'])
      expect([path, (await node.get(path)).status]).toEqual([path, 200]);
  }
  await accept();
  for (const node of [a, b]) {
    await waitFor(async () => expect((await node.get('/readyz')).status).toBe(200));
    expect(await node.invoke('test.effect', 0, 20)).toMatchObject({ status: 'SUCCEEDED' });
  }
  expect(await holders()).toEqual(before);
});

it('a database that is restored to an earlier state: both nodes report it, drop what they know and start again', async () => {
  await met();
  const kept = await a.invoke('test.effect', 0, 20);
  await service.stop();
  const copy = `${service.data}.copy`;
  expect(spawnSync('cp', ['-a', service.data, copy]).status).toBe(0);
  await service.start();
  for (const node of [a, b]) await waitFor(async () => expect((await node.get('/readyz')).status).toBe(200));
  // The other node writes nothing: it has only read what this one has changed.
  const lost = [await a.invoke('test.effect', 0, 20), await running(a, 60_000)];
  const { json: made } = await a.send('POST', '/v1/keys', { kind: 'agent', name: 'bot' });
  const lostKey = { authorization: `Bearer ${(made as { readonly key: string }).key}` };
  expect((await b.get('/v1/tools', lostKey)).status).toBe(200);
  // The node that writes nothing finds out by its heartbeats: it must have sent some that are lost.
  const sent = await beats();
  await waitFor(async () =>
    expect((await beats()).every((beat, index) => beat > (sent[index] ?? 0) + 1)).toBe(true),
  );
  await service.stop();
  expect(spawnSync('sh', ['-c', `rm -r ${service.data} && mv ${copy} ${service.data}`]).status).toBe(0);
  await service.start();
  for (const node of [a, b]) {
    await waitFor(() => expect(node.log).toMatch(/restored to an earlier state.*"server.restarting"/));
    await waitFor(async () => expect((await node.get('/readyz')).status).toBe(200));
  }
  expect(cluster.wasStopped(lost[1]!)).toBe(true);
  for (const node of [a, b]) {
    expect(await node.call(kept)).toMatchObject({ status: 'SUCCEEDED' });
    expect((await node.get('/v1/tools', lostKey)).status).toBe(401);
    for (const { tool_call_id: id } of lost)
      expect((await node.get(`/v1/tool_calls/${id}`)).status).toBe(404);
    expect(await node.invoke('test.effect', 0, 20)).toMatchObject({
      status: 'SUCCEEDED',
      result: { pid: node.pid },
    });
  }
  expect((await a.get('/v1/ledger/verify')).json).toMatchObject({ ok: true });
});
