import { ECHO_ARGS, WAIT_TOOL } from './arms/bench-pack.ts';
import { runScript, startServer } from './child.ts';
import type { FigureOptions } from './figure.ts';
import type { Headers } from './http.ts';
import { createDeviceKey } from './key.ts';
import type { DevicesSettings } from './load/devices.ts';
import type { Load, LoadSettings } from './load/generate.ts';
import type { WakeUps, WakeUpSettings } from './load/wake-ups.ts';
import { invokeUrl, type Nodes } from './nodes.ts';

/** Per slot of a node: more than two nodes have slots, so that each node always has calls that wait for one. */
export const CONNECTIONS_PER_SLOT = 3;
export const WAKE_UPS = 8;
export const DEVICES = 100;
export const DEVICE_CONNECTIONS = 50;
const DEVICE_TOOL = 'bench.device';
export const BUSES = ['NOTIFY', 'NATS'] as const;
type Bus = (typeof BUSES)[number];

/** Calls per second unless stated, slice by slice. */
export interface NodeRuns {
  readonly one: number[];
  readonly two: number[];
  /** The same with more slots. */
  readonly oneWithMore: number[];
  readonly twoWithMore: number[];
  /** Two nodes, all requests to the first. */
  readonly offered: number[];
  readonly wakeUps: Readonly<Record<Bus, WakeUps[]>>;
  /** Calls of devices: many at a time, and one. */
  readonly deviceHere: number[];
  readonly deviceAcross: number[];
  readonly deviceHereAlone: number[];
  readonly deviceAcrossAlone: number[];
}

export interface Clusters {
  readonly one: Nodes;
  readonly two: Readonly<Record<Bus, Nodes>>;
  readonly oneWithMore: Nodes;
  readonly twoWithMore: Nodes;
}

/** Runs all loads in turn, slice by slice. */
export async function loadNodes(clusters: Clusters, { quick, say }: FigureOptions): Promise<NodeRuns> {
  const [slices, seconds, warmSeconds] = quick ? [1, 1, 1] : [6, 3, 8];
  const runs: NodeRuns = {
    one: [],
    two: [],
    oneWithMore: [],
    twoWithMore: [],
    offered: [],
    wakeUps: { NOTIFY: [], NATS: [] },
    deviceHere: [],
    deviceAcross: [],
    deviceHereAlone: [],
    deviceAcrossAlone: [],
  };
  const { one, two, oneWithMore, twoWithMore } = clusters;
  const { urls, headers } = two.NOTIFY;
  const [a = '', b = ''] = urls;
  const settings: DevicesSettings = {
    url: b,
    devices: DEVICES,
    tool: DEVICE_TOOL,
    headers: await createDeviceKey(b),
  };
  const devices = await startServer('./load/devices.ts', settings);
  const device = async (url: string, connections: number): Promise<number> =>
    await load([url], headers, DEVICE_TOOL, connections, quick ? 1 : 2);
  try {
    say('warming');
    for (const nodes of [one, two.NOTIFY, two.NATS, oneWithMore, twoWithMore])
      await waits(nodes, nodes.urls, warmSeconds);
    for (const url of urls) await device(url, DEVICE_CONNECTIONS);
    for (let slice = 0; slice < slices; slice += 1) {
      say(`slice ${slice + 1} of ${slices}`);
      runs.one.push(await waits(one, one.urls, seconds));
      runs.two.push(await waits(two.NOTIFY, urls, seconds));
      runs.oneWithMore.push(await waits(oneWithMore, oneWithMore.urls, seconds));
      runs.twoWithMore.push(await waits(twoWithMore, twoWithMore.urls, seconds));
      runs.offered.push(await waits(two.NOTIFY, [a], seconds));
      for (const bus of BUSES) {
        // Otherwise only the nodes with NOTIFY, which the other loads use, would be warm.
        await waits(two[bus], two[bus].urls, quick ? 1 : 2);
        runs.wakeUps[bus].push(await wakeUps(two[bus], seconds));
      }
      runs.deviceHere.push(await device(b, DEVICE_CONNECTIONS));
      runs.deviceAcross.push(await device(a, DEVICE_CONNECTIONS));
      runs.deviceHereAlone.push(await device(b, 1));
      runs.deviceAcrossAlone.push(await device(a, 1));
    }
    return runs;
  } finally {
    await devices.stop();
  }
}

async function waits({ headers, slots }: Nodes, urls: readonly string[], seconds: number): Promise<number> {
  return await load(urls, headers, WAIT_TOOL, CONNECTIONS_PER_SLOT * slots, seconds);
}

/** Returns the calls per second of all nodes together, each of which gets the same share of the connections. */
async function load(
  urls: readonly string[],
  headers: Headers,
  tool: string,
  connections: number,
  seconds: number,
): Promise<number> {
  const loads = urls.map(async (url) => {
    const settings: LoadSettings = {
      url: invokeUrl(url, tool),
      headers: { ...headers, prefer: 'wait=30' },
      args: ECHO_ARGS,
      connections: connections / urls.length,
      seconds,
    };
    return (await runScript<Load>('./load/generate.ts', settings)).perSecond;
  });
  return (await Promise.all(loads)).reduce((sum, perSecond) => sum + perSecond, 0);
}

async function wakeUps(
  { urls: [url = '', otherUrl = ''], headers }: Nodes,
  seconds: number,
): Promise<WakeUps> {
  const path = `/v1/tools/${WAIT_TOOL}/invoke`;
  const settings: WakeUpSettings = {
    url,
    otherUrl,
    path,
    headers,
    seconds,
    args: ECHO_ARGS,
    concurrency: WAKE_UPS,
  };
  return await runScript<WakeUps>('./load/wake-ups.ts', settings);
}
