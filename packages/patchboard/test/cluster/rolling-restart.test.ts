import { connectDevice, createClient, deviceTool, isCallStateEvent } from '@patchboard/client';
import { expect, it, onTestFinished } from 'vitest';
import { startBalancer, type Balancer } from '../services/balancer.ts';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, TOKEN, type CallView, type TestNode } from './support/a-node.ts';
import { load } from './support/load.ts';

/** Short requests come over `load`; the device and the reader of events stay connected over `lasting`. */
interface Balancers {
  readonly load: Balancer;
  readonly lasting: Balancer;
}

/**
 * Ends a node as soon as no balancer sends it anything more and no connection of the load is left. On a busy machine that takes longer
 * than any fixed delay, and a node promises nothing for the time after its delay.
 */
async function leave(node: TestNode, { load: busy, lasting }: Balancers): Promise<void> {
  node.signal('SIGTERM');
  await waitFor(() => expect([busy, lasting].map((one) => one.isReady(node.url))).toEqual([false, false]));
  await waitFor(() => expect(busy.connections(node.url)).toBe(0));
  // The second signal ends the delay.
  await node.exit();
}

it('restarts two nodes in turn behind a balancer: no request fails, and streams and devices resume at the other one', async () => {
  const [lasting, busy] = await Promise.all([startBalancer(), startBalancer()]);
  onTestFinished(async () => void (await Promise.all([lasting.close(), busy.close()])));
  const balancers = { load: busy, lasting };
  const add = async ({ url }: TestNode): Promise<void> => {
    await Promise.all([lasting.add(url), busy.add(url)]);
    await waitFor(() => expect([busy, lasting].every((one) => one.isReady(url))).toBe(true));
  };
  const cluster = await aCluster(
    `http: { drain_delay_ms: 600000, allowed_hosts: ["${lasting.host}", "${busy.host}"] }\nrates: { principal: null, tenant: null }`,
  );
  const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
  await add(a);
  const client = createClient({ url: lasting.url, key: TOKEN });
  const stop = new AbortController();
  let finish = (): void => {};
  const finished = new Promise<string>((resolve) => {
    finish = () => resolve('done');
  });
  onTestFinished(() => stop.abort());

  // While only `a` is known: what is open now is at `a`.
  const device = connectDevice(lasting.url, {
    key: TOKEN,
    clientId: 'phone',
    retry: { baseDelayMs: 50 },
    tools: [
      deviceTool({
        name: 'phone.work',
        run: () => finished,
      }),
    ],
  });
  onTestFinished(() => device.close());
  await device.ready;
  const atDevice = await client.invoke('phone.work', {});
  const work = { tool_call_id: atDevice.tool_call_id } as CallView;
  await waitFor(async () => expect(await a.call(work)).toMatchObject({ state: 'EXECUTING' }));
  const approval = await a.invoke('test.risky', 0);
  const completed: string[] = [];
  const following = (async (): Promise<void> => {
    for await (const event of client.events({ after: 0 })) {
      if (!isCallStateEvent(event) || event.data.state !== 'COMPLETED') continue;
      completed.push(event.data.tool_call_id);
      if (event.data.tool_call_id === work.tool_call_id) return;
    }
  })();
  await add(b);

  const loads = [1, 2, 3, 4].map(() => load(busy.url, stop.signal));
  await leave(a, balancers);
  const c = await cluster.join();
  await add(c);
  await leave(b, balancers);
  expect(await c.call(approval)).toMatchObject({ state: 'APPROVAL_REQUIRED' });
  expect(await c.call(work)).toMatchObject({ state: 'EXECUTING' });
  stop.abort();
  const reports = await Promise.all(loads);
  finish();
  expect(await c.call(work, 20)).toMatchObject({ result: 'done' });
  await following;
  expect(reports.flatMap(({ failed }) => failed)).toEqual([]);
  // Each event once, none lost.
  const calls = reports.flatMap((report) => report.calls);
  expect(completed.toSorted()).toEqual([...calls, work.tool_call_id].toSorted());
});
