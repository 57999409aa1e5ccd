import { createClient } from '@patchboard/client';
import { expect, it } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, HEADERS, TOKEN } from './support/a-node.ts';

it('a node that leaves reports it, serves on and closes connections; a second signal ends the delay', async () => {
  const cluster = await aCluster('http: { drain_delay_ms: 600000 }');
  const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
  await waitFor(async () =>
    expect((await a.get('/v1/nodes')).json).toMatchObject({
      nodes: expect.arrayContaining([expect.objectContaining({ url: b.url, state: 'running' })]),
    }),
  );
  const waiting = await a.invoke('test.risky', 0);
  const longPoll = a.call(waiting, 60);
  const stream = await fetch(`${a.url}/v1/events?after=0`, { headers: HEADERS });
  const streamed = stream.text();
  expect((await fetch(`${a.url}/readyz`)).headers.get('connection')).toBe('keep-alive');

  a.signal('SIGTERM');
  await waitFor(async () => expect((await a.get('/readyz')).status).toBe(503));
  for (const path of ['/readyz', '/v1/tools', `/v1/tool_calls/${waiting.tool_call_id}`, '/nothing']) {
    const response = await fetch(`${a.url}${path}`, { headers: HEADERS });
    expect(response.headers.get('connection'), path).toBe('close');
    await response.arrayBuffer();
  }
  const receipt = await fetch(`${a.url}/v1/tools/test.effect/invoke`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ run_id: 'r1', args: { ms: 0 } }),
  });
  expect([receipt.status, receipt.headers.get('connection')]).toEqual([202, 'close']);
  expect(await a.invoke('test.effect', 0, 20)).toMatchObject({ status: 'SUCCEEDED', result: { pid: a.pid } });

  a.signal('SIGINT');
  expect(await longPoll).toMatchObject({ state: 'APPROVAL_REQUIRED' });
  expect(await streamed).toContain(`"tool_call_id":"${waiting.tool_call_id}"`);
  expect(await a.exited()).toBe(0);
  const client = createClient({ url: b.url, key: TOKEN });
  // The list is as of the last heartbeat of the node that returns it.
  await waitFor(async () => {
    const { nodes } = await client.nodes();
    expect(nodes.map(({ state }) => state).toSorted()).toEqual(['free', 'running']);
  });
  expect(await b.call(waiting)).toMatchObject({ state: 'APPROVAL_REQUIRED' });
});
