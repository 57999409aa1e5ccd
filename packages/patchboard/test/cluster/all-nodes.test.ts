import { expect, it } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, type CallView, type TestNode } from './support/a-node.ts';

/** It starts five nodes. */
const LONG_MS = 180_000;
const cluster = await aCluster('http: { drain_delay_ms: 0 }');

async function running(node: TestNode, ms: number): Promise<CallView> {
  const call = await node.invoke('test.effect', ms);
  await waitFor(() => expect(cluster.ranIn(call)).toEqual([node.pid]));
  return call;
}

it('a node that others take for dead before its first heartbeat starts again', async () => {
  const node = await cluster.join({}, ['fenced']);
  expect(node.log).toMatch(/another server has taken over.*"server.restarting"/);
  expect(await node.invoke('test.effect', 0, 20)).toMatchObject({ status: 'SUCCEEDED' });
  await node.exit();
});

it('all nodes that are stopped, killed or leave at once lose no call', { timeout: LONG_MS }, async () => {
  // As on a machine that is suspended: after it no node may take another one for dead.
  const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
  const kept = [await running(a, 1000), await running(b, 1000)];
  const holders = `select writer, epoch, holder from writers where state = 'held' order by writer`;
  const before = await cluster.query(holders);
  const [{ beat: stopped } = { beat: 0 }] = await cluster.query('select sum(beat) as beat from writers');
  for (const node of [a, b]) node.signal('SIGSTOP');
  await cluster.query('select pg_sleep(5)');
  const [{ beat: still } = { beat: 1 }] = await cluster.query('select sum(beat) as beat from writers');
  expect(Number(still) - Number(stopped)).toBeLessThanOrEqual(2);
  for (const node of [a, b]) node.signal('SIGCONT');
  // A node that has just stood still may refuse requests for a moment.
  for (const call of kept)
    await waitFor(async () => expect(await b.call(call, 20)).toMatchObject({ status: 'SUCCEEDED' }));
  expect(await cluster.query(holders)).toEqual(before);

  // As after a power failure: the nodes that start take over what the killed ones had.
  const ran = [await running(a, 60_000), await running(b, 60_000)];
  const waiting = [await a.invoke('test.risky', 0), await b.invoke('test.risky', 0)];
  for (const node of [a, b]) node.signal('SIGKILL');
  const [c, d] = await Promise.all([cluster.join(), cluster.join()]);
  for (const call of ran)
    expect(await d.call(call, 30)).toMatchObject({ state: 'SEALED', error: { outcome: 'unknown' } });
  for (const call of waiting) expect(await c.call(call)).toMatchObject({ state: 'APPROVAL_REQUIRED' });

  // None of them may give its calls to the other, which leaves too.
  waiting.push(await c.invoke('test.risky', 0), await d.invoke('test.risky', 0));
  await Promise.all([c.exit(), d.exit()]);
  const e = await cluster.join();
  for (const call of waiting) {
    expect(await e.call(call)).toMatchObject({ state: 'APPROVAL_REQUIRED' });
    await e.send('POST', `/v1/tool_calls/${call.tool_call_id}/cancel`, {});
    expect(await e.call(call)).toMatchObject({ state: 'CANCELLED', error: { outcome: 'not_started' } });
  }
  await waitFor(async () =>
    expect(await cluster.query('select count(*)::int as open from open_calls')).toEqual([{ open: 0 }]),
  );
  for (const call of [...kept, ...ran]) expect(cluster.ranIn(call)).toHaveLength(1);
  expect((await e.get('/v1/ledger/verify')).json).toMatchObject({ ok: true });
});
