import { join } from 'node:path';
import { ECHO_ARGS } from '../arms/bench-pack.ts';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import { runScript, startServer, type ServerProcess } from '../child.ts';
import type { Arm, Figure, FigureOptions } from '../figure.ts';
import type { Acknowledged, AcknowledgeSettings } from '../load/acknowledge.ts';
import type { DevicesSettings } from '../load/devices.ts';
import type { Load, LoadSettings } from '../load/generate.ts';
import { comparePaired, median } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const DEVICES = 100;
const CONNECTIONS = 100;
const TOOL = 'bench.device';
const ACKNOWLEDGED_TOOL = 'bench.acknowledged';

interface Runs {
  readonly noStore: number[];
  readonly device: number[];
  readonly rawAck: number[];
  readonly ack: number[];
}

/**
 * P3: a call that a device runs, compared with a route without a store; a durable acknowledgement, compared
 * with a parse.
 */
export async function deviceCalls(options: FigureOptions): Promise<Figure> {
  return await withTemporaryFolder(async (folder) => {
    const runs = await measure(folder, options);
    const against = comparePaired(runs.device, runs.noStore);
    return {
      id: 'P3',
      work: [
        `invoke with Prefer: wait, ${CONNECTIONS} connections, ${DEVICES} devices on sockets of their own: request, receipt, over the socket, result,`,
        'settled, and the waiting agent gets its response. acknowledged: results of calls that are under way, sixteen at a time over',
        `${DEVICES} sockets; raw_acknowledged: the same frames to a bare ws server that parses and replies.`,
      ],
      target: '≥ 0.35; acknowledged ÷ raw ≥ 0.6',
      durability: `${DURABILITY} (no_store and raw_acknowledged: nothing is kept)`,
      ratio: against.ratio,
      spread: { min: against.min, max: against.max },
      arms: {
        no_store: armOf(runs.noStore),
        device: armOf(runs.device),
        raw_acknowledged: armOf(runs.rawAck),
        acknowledged: armOf(runs.ack),
      },
      others: { 'acknowledged ÷ raw_acknowledged': comparePaired(runs.ack, runs.rawAck) },
    };
  });
}

async function measure(folder: string, { quick, say }: FigureOptions): Promise<Runs> {
  const slices = quick ? 1 : 8;
  const seconds = quick ? 1 : 2;
  const results = quick ? 500 : 8000;
  const runs: Runs = { noStore: [], device: [], rawAck: [], ack: [] };
  const settings: ServerSettings = {
    folder: join(folder, 'patchboard'),
    groupCommit: true,
    // The result path is measured, so the frame rate limit is raised.
    limits: { openCallsPerTenant: 1_000_000, deviceFramesPerSecond: 1_000_000 },
  };
  const started: ServerProcess[] = [];
  try {
    const noStore = await startServer('./arms/no-store.ts', {});
    const patchboard = await startServer('./arms/patchboard.ts', settings);
    const raw = await startServer('./arms/raw-sockets.ts', {});
    started.push(noStore, patchboard, raw);
    const devices: DevicesSettings = { url: patchboard.url, devices: DEVICES, tool: TOOL };
    started.push(await startServer('./load/devices.ts', devices));
    say('P3: warming');
    for (const server of [noStore, patchboard]) await calls(server, quick ? 1 : 8);
    for (let slice = 0; slice < slices; slice += 1) {
      say(`P3: slice ${slice + 1} of ${slices}`);
      runs.noStore.push(await calls(noStore, seconds));
      runs.device.push(await calls(patchboard, seconds));
      runs.rawAck.push(await acknowledge({ url: raw.url, sockets: DEVICES, results, tool: null }));
      runs.ack.push(
        await acknowledge({ url: patchboard.url, sockets: DEVICES, results, tool: ACKNOWLEDGED_TOOL }),
      );
    }
    return runs;
  } finally {
    for (const server of started.toReversed()) await server.stop();
  }
}

async function calls(server: ServerProcess, seconds: number): Promise<number> {
  const settings: LoadSettings = {
    url: `${server.url}/v1/tools/${TOOL}/invoke`,
    connections: CONNECTIONS,
    seconds,
    args: ECHO_ARGS,
    headers: { prefer: 'wait=30' },
  };
  return (await runScript<Load>('./load/generate.ts', settings)).perSecond;
}

async function acknowledge(settings: AcknowledgeSettings): Promise<number> {
  return (await runScript<Acknowledged>('./load/acknowledge.ts', settings)).perSecond;
}

function armOf(runs: readonly number[]): Arm {
  return { unit: 'per second', median: median(runs), runs };
}
