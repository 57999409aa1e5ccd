import { expect, it } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { aCluster } from './support/a-node.ts';

it('a node whose event loop is blocked for six seconds is not taken over; others end its overdue calls meanwhile', async () => {
  const cluster = await aCluster();
  const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
  await waitFor(async () =>
    expect((await a.get('/v1/nodes')).json).toMatchObject({
      nodes: expect.arrayContaining([expect.objectContaining({ url: b.url, state: 'running' })]),
    }),
  );
  const running = await a.invoke('test.effect', 60_000);
  const overdue = await a.post('/v1/tools/test.effect/invoke', {
    run_id: 'r1',
    args: { ms: 60_000 },
    timeout_ms: 2000,
  });
  // The response comes when the event loop is free again.
  const blocking = a.invoke('test.block', 6000, 30);
  await waitFor(() => expect(cluster.ranIn({ tool_call_id: 'blocked' })).toEqual([a.pid]));

  expect(await b.call(overdue, 30)).toMatchObject({ state: 'TIMED_OUT' });
  expect(cluster.ranIn({ tool_call_id: 'unblocked' })).toEqual([]);
  expect(await blocking).toMatchObject({ status: 'SUCCEEDED', result: { pid: a.pid } });
  expect(await b.call(running)).toMatchObject({ state: 'EXECUTING' });
  // It refuses requests for a moment, because its event loop was late.
  await waitFor(async () =>
    expect(await a.invoke('test.effect', 0, 20)).toMatchObject({ status: 'SUCCEEDED' }),
  );
  expect(a.log).not.toContain('server.restarting');
  expect(b.log).not.toContain('cluster.took_over');
});
