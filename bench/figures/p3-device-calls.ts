import { join } from 'node:path';
import { ECHO_ARGS } from '../arms/bench-pack.ts';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import { runScript, startServer, type ServerProcess } from '../child.ts';
import type { Figure, FigureOptions } from '../figure.ts';
import type { Acknowledged, AcknowledgeSettings } from '../load/acknowledge.ts';
import type { DevicesSettings } from '../load/devices.ts';
import { armsOfLoads, loadInTurn, runsOf, type LoadedArm, type RunsOfArms } from '../loaded-arms.ts';
import { armOf } from '../measurement.ts';
import { comparePaired } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';
import { untilIdle } from '../until-idle.ts';

const DEVICES = 100;
const CONNECTIONS = 100;
const TOOL = 'bench.device';
const ACKNOWLEDGED_TOOL = 'bench.acknowledged';

/** Acknowledged results per second, slice by slice. */
interface Acknowledgements {
  readonly raw: number[];
  readonly durable: number[];
}

/** P3: a call that a device runs, compared with a bare relay; a durable acknowledgement, compared with a parse. */
export async function deviceCalls({ quick, say }: FigureOptions): Promise<Figure> {
  const options: FigureOptions = { quick, say: (line) => say(`P3: ${line}`) };
  return await withTemporaryFolder(async (folder) => {
    const started: ServerProcess[] = [];
    const start = async (script: string, settings: unknown): Promise<ServerProcess> => {
      const server = await startServer(script, settings);
      started.push(server);
      return server;
    };
    try {
      const settings: ServerSettings = {
        folder: join(folder, 'patchboard'),
        groupCommit: true,
        // The result path is measured, so the frame rate limit is raised.
        limits: { openCallsPerTenant: 1_000_000, deviceFramesPerSecond: 1_000_000 },
      };
      const relay = await start('./arms/relay.ts', {});
      const patchboard = await start('./arms/patchboard.ts', settings);
      const raw = await start('./arms/raw-sockets.ts', {});
      for (const { url } of [relay, patchboard]) {
        const devices: DevicesSettings = { url, devices: DEVICES, tool: TOOL };
        await start('./load/devices.ts', devices);
      }
      const calls = await loadCalls(relay, patchboard, options);
      return figureOf(calls, await acknowledgeInTurn(raw, patchboard, options));
    } finally {
      for (const server of started.toReversed()) await server.stop();
    }
  });
}

async function loadCalls(
  relay: ServerProcess,
  patchboard: ServerProcess,
  { quick, say }: FigureOptions,
): Promise<RunsOfArms> {
  const arm = (name: string, { url, pid }: ServerProcess): LoadedArm => ({
    name,
    pid,
    load: {
      url: `${url}/v1/tools/${TOOL}/invoke`,
      connections: CONNECTIONS,
      args: ECHO_ARGS,
      headers: { prefer: 'wait=30' },
    },
  });
  const plan = quick ? { slices: 1, seconds: 1, warmSeconds: 1 } : { slices: 10, seconds: 2, warmSeconds: 8 };
  return await loadInTurn([arm('relay', relay), arm('patchboard', patchboard)], plan, say);
}

async function acknowledgeInTurn(
  raw: ServerProcess,
  patchboard: ServerProcess,
  { quick, say }: FigureOptions,
): Promise<Acknowledgements> {
  const slices = quick ? 1 : 8;
  const results = quick ? 500 : 8000;
  const runs: Acknowledgements = { raw: [], durable: [] };
  for (let slice = 0; slice < slices; slice += 1) {
    say(`acknowledgements, slice ${slice + 1} of ${slices}`);
    runs.raw.push(await acknowledge({ url: raw.url, sockets: DEVICES, results, tool: null }));
    const durable = { url: patchboard.url, sockets: DEVICES, results, tool: ACKNOWLEDGED_TOOL };
    runs.durable.push(await acknowledge(durable));
    await untilIdle(patchboard.pid);
  }
  return runs;
}

async function acknowledge(settings: AcknowledgeSettings): Promise<number> {
  return (await runScript<Acknowledged>('./load/acknowledge.ts', settings)).perSecond;
}

function figureOf(calls: RunsOfArms, acknowledgements: Acknowledgements): Figure {
  const [relay, patchboard] = [runsOf(calls, 'relay'), runsOf(calls, 'patchboard')];
  const { raw, durable } = acknowledgements;
  return {
    id: 'P3',
    work: [
      `invoke with Prefer: wait, ${CONNECTIONS} connections, ${DEVICES} devices on sockets of their own: request, over the socket, result, and the`,
      'waiting agent gets its response. relay is the same with Fastify and ws alone. acknowledged: results of calls that are under way,',
      `sixteen at a time over ${DEVICES} sockets; raw_acknowledged: the same frames to a bare ws server that parses and replies.`,
    ],
    durability: `${DURABILITY} (relay and raw_acknowledged: nothing is kept)`,
    outcomes: [
      {
        name: 'calls of devices ÷ a bare relay',
        ...comparePaired(patchboard.perSecond, relay.perSecond),
        target: { atLeast: 0.5 },
        peer: { name: 'bare relay (Fastify and ws)', durability: 'none' },
      },
      {
        name: 'acknowledged ÷ raw_acknowledged',
        ...comparePaired(durable, raw),
        target: { atLeast: 0.5 },
        peer: { name: 'bare ws server: parse and reply', durability: 'none' },
      },
      { name: 'calls of devices, CPU of the relay ÷ ours', ...comparePaired(relay.cpu, patchboard.cpu) },
    ],
    arms: {
      ...armsOfLoads(calls),
      raw_acknowledged: armOf('per second', raw),
      acknowledged: armOf('per second', durable),
    },
  };
}
