import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectDevice, createClient, deviceTool, isCallStateEvent } from '@patchboard/client';
import { expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { startHaproxy } from '../services/haproxy.ts';
import { startNats } from '../services/nats.ts';
import { aFixedPort } from '../support/a-fixed-port.ts';
import { ROOT } from '../support/server-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, HEADERS, TOKEN, type TestNode } from './support/a-node.ts';
import { load } from './support/load.ts';

/** The config of the nodes in compose.yaml, for nodes that are reached at `host` through the balancer. */
function configFor(host: string, natsUrl: string): string {
  const { http } = parse(readFileSync(join(ROOT, 'deploy', 'patchboard.yaml'), 'utf8')) as {
    readonly http: { readonly allowed_hosts: readonly string[] };
  };
  return stringify({
    // Longer than the test takes.
    http: { ...http, allowed_hosts: [...http.allowed_hosts, host], drain_delay_ms: 60_000 },
    nats: { url: natsUrl },
    rates: { principal: null, tenant: null },
  });
}

/** The process that runs a call which is submitted there. */
async function nodeOf(url: string): Promise<number> {
  const response = await fetch(`${url}/v1/tools/test.effect/invoke`, {
    method: 'POST',
    headers: { ...HEADERS, prefer: 'wait=20' },
    body: JSON.stringify({ run_id: 'r1', args: {} }),
  });
  const { result } = (await response.json()) as { readonly result: { readonly pid: number } };
  return result.pid;
}

it('serves through the balancer of compose.yaml: both nodes, sockets, streams, and no request to a node that leaves', async () => {
  const nats = await startNats();
  onTestFinished(() => nats.close());
  const host = `127.0.0.1:${await aFixedPort()}`;
  const url = `http://${host}`;
  const cluster = await aCluster(configFor(host, nats.url));
  const [a, b] = await Promise.all([cluster.join(), cluster.join()]);
  const addressOf = (node: TestNode): string => new URL(node.url).host;
  await startHaproxy(host, [addressOf(a), addressOf(b)]);

  // A client cannot choose the address that the server sees.
  const refused = await fetch(`${url}/v1/keys`, {
    headers: { authorization: `Bearer ${'x'.repeat(32)}`, 'x-forwarded-for': '192.0.2.7' },
  });
  expect(refused.status).toBe(401);
  await waitFor(() => expect(a.log + b.log).toContain('operator_token.refused'));
  expect(a.log + b.log).not.toContain('192.0.2.7');

  const device = connectDevice(url, {
    key: TOKEN,
    clientId: 'phone',
    retry: { baseDelayMs: 50 },
    tools: [deviceTool({ name: 'phone.work', run: () => 'done' })],
  });
  onTestFinished(() => device.close());
  await device.ready;
  const client = createClient({ url, key: TOKEN });
  const atDevice = await client.invoke('phone.work', {});
  for await (const event of client.events({ after: 0 })) {
    if (!isCallStateEvent(event) || event.data.state !== 'COMPLETED') continue;
    expect(event.data.tool_call_id).toBe(atDevice.tool_call_id);
    break;
  }

  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const loads = [1, 2, 3, 4].map(() => load(url, stop.signal));
  const left = a.exit();
  await waitFor(async () => expect((await a.get('/readyz')).status).toBe(503));
  // The node still serves requests, and the balancer sends it none.
  await waitFor(async () => {
    const ranIn = await Promise.all(Array.from({ length: 8 }, () => nodeOf(url)));
    expect(new Set(ranIn)).toEqual(new Set([b.pid]));
  });
  expect(await nodeOf(a.url)).toBe(a.pid);
  // The second signal ends the delay.
  a.signal('SIGTERM');
  await left;
  stop.abort();
  const reports = await Promise.all(loads);
  expect(reports.flatMap(({ failed }) => failed)).toEqual([]);
  expect(new Set(reports.flatMap(({ ranIn }) => ranIn))).toEqual(new Set([a.pid, b.pid]));
  // The device was connected to one of the two, and is connected to the one that stays.
  expect(await client.call('phone.work', {})).toMatchObject({ result: 'done' });
});
