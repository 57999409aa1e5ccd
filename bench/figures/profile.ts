import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { ECHO_ARGS, ECHO_TOOL } from '../arms/bench-pack.ts';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import { runScript, startServer, type ServerProcess } from '../child.ts';
import { mainThreadProfile, PART_NAMES, timeByPart } from '../cpu-profile.ts';
import type { Figure, FigureOptions, SideBySide } from '../figure.ts';
import type { DevicesSettings } from '../load/devices.ts';
import type { Load, LoadSettings } from '../load/generate.ts';
import { mcpLoad } from '../mcp-load.ts';
import { spreadOf } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const CONNECTIONS = 50;
const DEVICES = 100;
const DEVICE_TOOL = 'bench.device';
const SAMPLE_US = 200;
/** By then the index of calls is up to date. The profiler is never idle, so that cannot be seen from outside. */
const INDEXED_MS = 2000;

interface Work {
  readonly name: string;
  readonly devices?: number;
  readonly load: (url: string) => Omit<LoadSettings, 'seconds'>;
}

const WORKS: readonly Work[] = [
  { name: 'P1, receipt', load: (url) => invoke(url, ECHO_TOOL, CONNECTIONS) },
  {
    name: 'P1, result',
    load: (url) => ({ ...invoke(url, ECHO_TOOL, CONNECTIONS), headers: { prefer: 'wait=30' } }),
  },
  {
    name: 'P3, device',
    devices: DEVICES,
    load: (url) => ({ ...invoke(url, DEVICE_TOOL, DEVICES), headers: { prefer: 'wait=30' } }),
  },
  { name: 'P4, MCP', load: (url) => mcpLoad(url, CONNECTIONS) },
];

/** Microseconds per request of the main thread, by part of the program; `total` is their sum. */
interface Profiled {
  readonly name: string;
  readonly total: number;
  readonly byPart: ReadonlyMap<string, number>;
}

/** PROFILE: where the CPU time of the main thread goes under the loads of P1, P3 and P4. */
export async function profile({ quick, say }: FigureOptions): Promise<Figure> {
  const profiled: Profiled[] = [];
  for (const work of WORKS) {
    say(`PROFILE: ${work.name}`);
    profiled.push(await withTemporaryFolder(async (folder) => await profileOf(work, folder, quick)));
  }
  return {
    id: 'PROFILE',
    work: [
      "CPU time of the server's main thread per request, from a profile with a sample each",
      `${SAMPLE_US} µs, which itself costs time. A native function counts as its caller: SQLite is part of the store, JSON.parse of`,
      'whoever parses. The thread that writes the index of calls and the threads that sync the disk are left out.',
    ],
    durability: DURABILITY,
    outcomes: profiled.map(({ name, total }) => ({ name, unit: 'µs', ...spreadOf([total]) })),
    arms: {},
    sideBySide: besideEachOther(profiled),
  };
}

async function profileOf(work: Work, folder: string, quick: boolean): Promise<Profiled> {
  const profiles = join(folder, 'profiles');
  await mkdir(profiles);
  const settings: ServerSettings = {
    folder: join(folder, 'data'),
    groupCommit: true,
    limits: { concurrencyServer: 1000, concurrencyPerTenant: 1000, deviceFramesPerSecond: 1_000_000 },
  };
  const options = ['--cpu-prof', `--cpu-prof-interval=${SAMPLE_US}`, `--cpu-prof-dir=${profiles}`];
  const server = await startServer('./arms/patchboard.ts', settings, options);
  const started: ServerProcess[] = [server];
  let window: Window;
  try {
    if (work.devices !== undefined) {
      const devices: DevicesSettings = { url: server.url, devices: work.devices, tool: DEVICE_TOOL };
      started.push(await startServer('./load/devices.ts', devices));
    }
    const load = work.load(server.url);
    await loadFor(load, quick ? 1 : 8);
    await pause(INDEXED_MS);
    window = await loadFor(load, quick ? 1 : 6);
  } finally {
    for (const child of started.toReversed()) await child.stop();
  }
  const times = timeByPart(await mainThreadProfile(profiles), window.fromUs, window.toUs);
  const byPart = new Map([...times].map(([part, us]) => [part, us / window.requests]));
  return { name: work.name, total: [...byPart.values()].reduce((sum, us) => sum + us, 0), byPart };
}

interface Window {
  readonly fromUs: number;
  readonly toUs: number;
  readonly requests: number;
}

async function loadFor(load: Omit<LoadSettings, 'seconds'>, seconds: number): Promise<Window> {
  const fromUs = nowUs();
  const { requests } = await runScript<Load>('./load/generate.ts', { ...load, seconds });
  return { fromUs, toUs: nowUs(), requests };
}

function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

function invoke(url: string, tool: string, connections: number): Omit<LoadSettings, 'seconds'> {
  return { url: `${url}/v1/tools/${tool}/invoke`, connections, args: ECHO_ARGS };
}

function besideEachOther(profiled: readonly Profiled[]): SideBySide {
  return {
    columns: profiled.map(({ name }) => name),
    rows: PART_NAMES.map((part) => ({
      name: `${part}, µs`,
      cells: profiled.map(({ byPart }) => byPart.get(part) ?? null),
    })),
  };
}
