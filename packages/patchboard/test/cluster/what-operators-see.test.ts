import { expect, it } from 'vitest';
import type { CallView as CallRecord, ClusterStatsView, NodesView, RunView } from '@patchboard/wire';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, type TestNode } from './support/a-node.ts';

interface Stats {
  readonly calls: Readonly<Record<string, number>>;
  readonly cluster: ClusterStatsView;
}

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

async function statsOf(node: TestNode, headers: Readonly<Record<string, string>> = {}): Promise<Stats> {
  return (await node.get('/v1/stats', headers)).json as Stats;
}

/** The samples of one metric, by their labels. */
async function metric(node: TestNode, name: string): Promise<Readonly<Record<string, number>>> {
  const samples = [
    ...(await node.metrics()).matchAll(new RegExp(`^${name}(?:\\{([^}]*)\\})? (\\S+)$`, 'gm')),
  ];
  return Object.fromEntries(samples.map(([, labels = '', value]) => [labels, Number(value)]));
}

it('each node shows which node has a call, the figures of itself and of all, before and after a takeover', async () => {
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

  await waitFor(async () => {
    const { json } = await b.get('/v1/tool_calls?query=tool:test.*&order=asc');
    const found = json as { readonly tool_calls: readonly CallRecord[]; readonly complete: boolean };
    const ids = found.tool_calls.map(({ tool_call_id: id }) => id);
    expect([ids, found.complete]).toEqual([
      [running.tool_call_id, waiting.tool_call_id, ended.tool_call_id],
      true,
    ]);
    const { runs } = (await b.get('/v1/runs')).json as { readonly runs: readonly RunView[] };
    expect(runs[0]).toMatchObject({ outcome: 'running', calls: { total: 3, open: 2, failed: 0 } });
  });

  // Another tenant counts its own calls only, whichever node holds them.
  for (const tenant of ['default', 'other']) {
    const own = await statsOf(b, { 'x-tenant-id': tenant });
    const [executing, approvals, completed] = tenant === 'default' ? [1, 1, 1] : [0, 0, 0];
    const open = executing + approvals;
    expect(own).toMatchObject({
      open: 0,
      cluster: { open, executing, approvals },
      of_tenant: { open, approvals },
    });
    expect(own.calls).toMatchObject({
      EXECUTING: executing,
      APPROVAL_REQUIRED: approvals,
      COMPLETED: completed,
    });
  }
  const nodes = { running: 2, leaving: 0, free: 0 };
  const whole = { nodes, open: 2, executing: 1, approvals: 1, same_config: true };
  expect(await statsOf(a)).toMatchObject({ open: 2, approvals: 1, cluster: { node: writerOfA, ...whole } });
  expect(await statsOf(b)).toMatchObject({ open: 0, approvals: 0, cluster: { node: writerOfB, ...whole } });
  await waitFor(async () =>
    expect(await metric(b, 'patchboard_node_calls')).toEqual({
      [`node="${writerOfA}"`]: 2,
      [`node="${writerOfB}"`]: 0,
    }),
  );
  expect(Object.keys(await metric(b, 'patchboard_node_info'))).toEqual([
    expect.stringContaining(`node="${writerOfB}"`),
  ]);
  expect(await metric(b, 'patchboard_bus_connected')).toEqual({ '': 1 });
  expect((await metric(a, 'patchboard_notifications_sent_total'))['kind="ended"']).toBeGreaterThan(0);
  expect((await metric(b, 'patchboard_notifications_received_total'))['kind="ended"']).toBeGreaterThan(0);

  a.signal('SIGKILL');
  expect(await b.call(running, 30)).toMatchObject({ state: 'SEALED', node: writerOfB });
  expect(await b.call(waiting)).toMatchObject({ state: 'APPROVAL_REQUIRED', node: writerOfB });
  expect(await listed(b)).toEqual({
    [running.tool_call_id]: writerOfB,
    [waiting.tool_call_id]: writerOfB,
    // The dead node has ended it.
    [ended.tool_call_id]: writerOfA,
  });
  expect(await metric(b, 'patchboard_node_takeovers_total')).toEqual({ '': 1 });
  expect(await metric(b, 'patchboard_node_calls_taken_over_total')).toEqual({ '': 2 });
  await waitFor(async () =>
    expect(await metric(b, 'patchboard_nodes')).toEqual({
      'state="running"': 1,
      'state="leaving"': 0,
      'state="free"': 1,
    }),
  );
  expect(await statsOf(b)).toMatchObject({ open: 1, cluster: { open: 1, approvals: 1 } });

  // A node that was started differently.
  await cluster.join({ NODE_ENV: 'production' });
  await waitFor(async () => expect((await b.get('/v1/nodes')).json).toMatchObject({ same_config: false }));
  expect(await statsOf(b)).toMatchObject({ cluster: { same_config: false } });
  expect(await metric(b, 'patchboard_nodes_same_config')).toEqual({ '': 0 });
  await waitFor(() => expect(b.log).toContain('cluster.config_differs'));
});
