import { connectDevice, createClient, deviceTool, isCallStateEvent } from '@patchboard/client';
import { expect, it, onTestFinished } from 'vitest';
import { startBalancer } from '../services/balancer.ts';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, TOKEN, type CallView } from './support/a-node.ts';
import { load } from './support/load.ts';

it('restarts two nodes in turn behind a balancer: no request fails, and streams and devices resume at the other one', async () => {
  const balancer = await startBalancer();
  onTestFinished(() => balancer.close());
  const cluster = await aCluster(
    `http: { drain_delay_ms: 400, allowed_hosts: ["${balancer.host}"] }\nrates: { principal: null, tenant: null }`,
  );
  const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
  await balancer.add(a.url);
  const client = createClient({ url: balancer.url, key: TOKEN });
  const stop = new AbortController();
  let finish = (): void => {};
  const finished = new Promise<string>((resolve) => {
    finish = () => resolve('done');
  });
  onTestFinished(() => stop.abort());

  // While only `a` is known: what is open now is at `a`.
  const device = connectDevice(balancer.url, {
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
  await balancer.add(b.url);

  const loads = [1, 2, 3, 4].map(() => load(balancer.url, stop.signal));
  await a.exit();
  const c = await cluster.join();
  await balancer.add(c.url);
  await b.exit();
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
