import { expect, it, onTestFinished } from 'vitest';
import { BEAT_EVERY_MS } from '../../src/cluster/timing.ts';
import { aDevice, DEVICE_INFO } from '../devices/support/bare-device.ts';
import { startNats } from '../services/nats.ts';
import { startProxy } from '../services/proxy.ts';
import { sharedPostgres } from '../services/shared-postgres.ts';
import { afterUse } from '../support/after-use.ts';
import { waitFor } from '../support/wait-for.ts';
import { aCluster, type TestCluster, type TestNode } from './support/a-node.ts';
import { endOf, momentOf } from './support/heartbeat-time.ts';

/** Promised: a reader whose notification was lost waits at most this much longer. */
const WOKEN_WITHIN_MS = 1500;
const RUN_MS = 1000;

/** Two nodes whose bus ends with `begin` and returns with `back`. */
interface Outage {
  readonly cluster: TestCluster;
  readonly a: TestNode;
  readonly b: TestNode;
  readonly begin: () => Promise<void> | void;
  readonly back: () => Promise<void> | void;
}

async function withNats(): Promise<Outage> {
  const nats = await startNats();
  afterUse(() => nats.close());
  const cluster = await aCluster();
  const [a, b] = await Promise.all([1, 2].map(() => cluster.join({ NATS_URL: nats.url })));
  return { cluster, a: a!, b: b!, begin: () => nats.kill(), back: () => nats.start() };
}

async function withListen(): Promise<Outage> {
  const service = await sharedPostgres(15);
  const proxy = await startProxy(service);
  afterUse(() => proxy.close());
  const cluster = await aCluster('', service);
  const url = proxy.through(service.url);
  const [a, b] = await Promise.all([1, 2].map(() => cluster.join({ DATABASE_LISTEN_URL: url })));
  return { cluster, a: a!, b: b!, begin: () => proxy.refuse(), back: () => proxy.pass() };
}

it.each([
  ['NATS is away', withNats],
  ['the connections of LISTEN are cut', withListen],
])(
  '%s: readers at the other node are woken within 1.5 s, nothing is lost, and it is used again later',
  async (_, started) => {
    const { cluster, a, b, begin, back } = await started();
    const connects = (): number => [...a.log.matchAll(/"bus\.connected"/g)].length;
    for (const node of [a, b]) await waitFor(() => expect(node.log).toContain('"bus.connected"'));
    const { json } = await b.send('POST', '/v1/keys', { kind: 'client', name: 'phone' });
    const authorization = `Bearer ${(json as { readonly key: string }).key}`;
    const phone = await aDevice(Number(new URL(b.url).port), { headers: { authorization } });
    onTestFinished(() => phone.socket.terminate());
    await phone.register(DEVICE_INFO);
    await begin();
    for (const node of [a, b]) await waitFor(() => expect(node.log).toContain('"bus.disconnected"'));
    const before = connects();

    const since = await momentOf(cluster, b);
    const running = await a.invoke('test.effect', RUN_MS);
    const ended = await b.call(running, 30);
    const now = await momentOf(cluster, b);
    expect(ended).toMatchObject({ status: 'SUCCEEDED', result: { pid: a.pid } });
    // On a machine that is too busy the node polls more slowly than it should, and its heartbeats too.
    const lateMs = Math.min(now.at - endOf(ended), (now.beat - since.beat) * BEAT_EVERY_MS - RUN_MS);
    expect(lateMs).toBeLessThanOrEqual(WOKEN_WITHIN_MS);

    // What is cancelled at the other node stops here; a call is sent to a device at the other node.
    const waiting = await a.invoke('test.effect', 60_000);
    await waitFor(() => expect(cluster.ranIn(waiting)).toEqual([a.pid]));
    expect((await b.send('POST', `/v1/tool_calls/${waiting.tool_call_id}/cancel`, {})).status).toBe(200);
    await waitFor(() => expect(cluster.wasStopped(waiting)).toBe(true));
    const shown = await a.invoke('device_info', 0, 0, { args: {} });
    const { id } = await phone.next('tool_call_request');
    phone.send({ type: 'tool_result', id, output: 'here' });
    expect(await a.call(shown, 20)).toMatchObject({ result: 'here' });

    await back();
    await waitFor(() => expect(connects()).toBeGreaterThan(before));
    expect(await b.call(await a.invoke('test.effect', 100), 20)).toMatchObject({ status: 'SUCCEEDED' });
    for (const { log } of [a, b]) expect(log).not.toContain('cluster.took_over');
  },
);
