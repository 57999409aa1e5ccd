import { expect, it } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, type TestNode } from './support/a-node.ts';
import { endOf, momentOf, msUntilEnd } from './support/heartbeat-time.ts';

/** Promised: the calls of a dead node are sealed, or go on, within this time. */
const TAKEN_OVER_WITHIN_MS = 5000;

/** The heartbeats of both nodes have met. */
async function met(...nodes: readonly TestNode[]): Promise<void> {
  await Promise.all(nodes.map(({ url }) => fetch(`${url}/readyz`)));
}

it('read and await a call of the other node; what a killed one ran is sealed within 5 s, what waited goes on', async () => {
  const cluster = await aCluster();
  const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
  await met(a, b);
  const quick = await a.invoke('test.effect', 300);
  expect(await b.call(quick)).toMatchObject({ tool_call_id: quick.tool_call_id });
  expect(await b.call(quick, 20)).toMatchObject({ status: 'SUCCEEDED', result: { pid: a.pid } });

  const [running, waiting] = [await a.invoke('test.effect', 60_000), await a.invoke('test.risky', 0)];
  await waitFor(() => expect(cluster.ranIn(running)).toEqual([a.pid]));
  await waitFor(async () =>
    expect((await b.get('/v1/nodes')).json).toMatchObject({
      nodes: expect.arrayContaining([expect.objectContaining({ url: a.url, state: 'running' })]),
    }),
  );
  const overdue = await a.invoke('test.effect', 60_000, 0, { timeout_ms: 1000 });
  await waitFor(() => expect(cluster.ranIn(overdue)).toEqual([a.pid]));
  a.signal('SIGKILL');
  const killed = await momentOf(cluster, b);
  // Swept before the node is taken for dead.
  const timedOut = await b.call(overdue, 30);
  expect(timedOut).toMatchObject({ state: 'TIMED_OUT', error: { outcome: 'unknown' } });
  const sealed = await b.call(running, 30);
  expect(sealed).toMatchObject({ state: 'SEALED', error: { outcome: 'unknown' } });
  expect(endOf(timedOut)).toBeLessThan(endOf(sealed));
  expect(await msUntilEnd(cluster, b, killed, sealed)).toBeLessThanOrEqual(TAKEN_OVER_WITHIN_MS);
  expect(await b.call(waiting)).toMatchObject({ state: 'APPROVAL_REQUIRED' });
  expect(cluster.ranIn(running)).toEqual([a.pid]);
  await waitFor(() => expect(b.log).toContain('cluster.took_over'));
});

it('fence a node that was stopped past its lease: it starts again in its process, nothing runs twice, and it can leave', async () => {
  const cluster = await aCluster();
  const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
  await met(a, b);
  const running = await a.invoke('test.effect', 60_000);
  await waitFor(() => expect(cluster.ranIn(running)).toEqual([a.pid]));
  const { url } = a;
  a.signal('SIGSTOP');
  expect(await b.call(running, 30)).toMatchObject({ state: 'SEALED' });
  a.signal('SIGCONT');
  await waitFor(() => expect(a.log).toContain('server.restarting'));
  await waitFor(async () => expect((await a.get('/readyz')).status).toBe(200));
  expect(a.url).toBe(url);
  expect(await a.metrics()).toMatch(/^patchboard_node_fenced_total 1$/m);
  expect(await a.invoke('test.effect', 0, 20)).toMatchObject({ status: 'SUCCEEDED', result: { pid: a.pid } });
  expect(cluster.ranIn(running)).toEqual([a.pid]);
  expect(await a.call(running)).toMatchObject({ state: 'SEALED' });
  const { json: ledger } = await b.get('/v1/ledger/verify');
  expect(ledger).toMatchObject({ ok: true });

  const waiting = await a.invoke('test.risky', 0);
  const exiting = a.exit();
  await waitFor(async () => expect((await a.get('/readyz')).status).toBe(503));
  // It still serves requests that a balancer has sent before it looked.
  expect(await a.invoke('test.effect', 0, 20)).toMatchObject({ status: 'SUCCEEDED' });
  await exiting;
  expect(await b.call(waiting)).toMatchObject({ state: 'APPROVAL_REQUIRED' });
  expect(a.log).not.toContain('store.writer_not_freed');
});
