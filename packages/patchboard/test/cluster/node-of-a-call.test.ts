import { expect, it } from 'vitest';
import type { CallView as CallRecord, NodesView } from '@patchboard/wire';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, type TestNode } from './support/a-node.ts';

async function writerOf({ url }: TestNode, asked: TestNode): Promise<number> {
  const { nodes } = (await asked.get('/v1/nodes')).json as NodesView;
  const node = nodes.find((one) => one.url === url);
  if (node === undefined) throw new Error(`no node has the address ${url}`);
  return node.writer;
}

async function listed(node: TestNode): Promise<Readonly<Record<string, number | undefined>>> {
  const { json } = await node.get('/v1/tool_calls');
  const { tool_calls: calls } = json as { readonly tool_calls: readonly CallRecord[] };
  return Object.fromEntries(calls.map((call) => [call.tool_call_id, call.node]));
}

it('each node shows which node holds a call, or ended it, before and after a takeover', async () => {
  const cluster = await aCluster();
  const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
  const [writerOfA, writerOfB] = await waitFor(() => Promise.all([writerOf(a, b), writerOf(b, b)]));
  const [running, waiting] = [await a.invoke('test.effect', 60_000), await a.invoke('test.risky', 0)];
  const ended = await a.invoke('test.effect', 0, 20);
  expect(ended).toMatchObject({ state: 'COMPLETED', node: writerOfA });
  await waitFor(() => expect(cluster.ranIn(running)).toEqual([a.pid]));
  for (const node of [a, b]) {
    for (const call of [running, waiting, ended])
      expect(await node.call(call)).toMatchObject({ node: writerOfA });
    expect(await listed(node)).toEqual({
      [running.tool_call_id]: writerOfA,
      [waiting.tool_call_id]: writerOfA,
      [ended.tool_call_id]: writerOfA,
    });
  }

  a.signal('SIGKILL');
  expect(await b.call(running, 30)).toMatchObject({ state: 'SEALED', node: writerOfB });
  expect(await b.call(waiting)).toMatchObject({ state: 'APPROVAL_REQUIRED', node: writerOfB });
  expect(await listed(b)).toEqual({
    [running.tool_call_id]: writerOfB,
    [waiting.tool_call_id]: writerOfB,
    // The dead node has ended it.
    [ended.tool_call_id]: writerOfA,
  });
});
