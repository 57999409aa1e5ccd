import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { DURABILITY } from '../arms/open-store.ts';
import type { ServerSettings } from '../arms/patchboard.ts';
import { startServer, type ServerProcess } from '../child.ts';
import type { Figure, FigureOptions } from '../figure.ts';
import { Connections } from '../http.ts';
import type { DevicesSettings } from '../load/devices.ts';
import { armOf } from '../measurement.ts';
import { comparePaired, median } from '../statistics.ts';
import { withTemporaryFolder } from '../temporary-folder.ts';

const DEVICES = 10_000;
/** Devices per load process; the server holds all of them. */
const PER_PROCESS = 2500;
/** File descriptors that the server needs besides its sockets. */
const OTHER_FILES = 600;
const TOOL = 'bench.idle';

interface Measured {
  readonly bytes: number;
  readonly callMs: number;
  readonly connectSeconds: number;
}

/** P7: the memory of an idle device, compared with a bare socket. */
export async function idleDevices(options: FigureOptions): Promise<Figure> {
  const devices = affordable(options.quick ? 200 : DEVICES, options);
  const rounds = options.quick ? 1 : 3;
  const raw: Measured[] = [];
  const ours: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) {
    options.say(`P7: ${devices} devices, round ${round + 1} of ${rounds}`);
    raw.push(await measure('./arms/raw-sockets.ts', {}, devices, false));
    ours.push(await withTemporaryFolder((folder) => measurePatchboard(folder, devices)));
  }
  const bytes = (measured: readonly Measured[]): number[] => measured.map((one) => one.bytes / 1024);
  return {
    id: 'P7',
    work: [
      `${devices} devices, connected and idle with one registered tool, in ${Math.ceil(devices / PER_PROCESS)} processes; resident memory of the server per device, after a`,
      'collection, in KiB, against the same sockets on a bare ws server. call: invoke with Prefer: wait, one at a time, with all connected.',
    ],
    durability: DURABILITY,
    outcomes: [
      {
        name: 'memory of an idle device ÷ a bare socket',
        ...comparePaired(bytes(ours), bytes(raw)),
        target: { atMost: 1.7 },
      },
    ],
    arms: {
      raw: armOf('KiB', bytes(raw)),
      patchboard: armOf('KiB', bytes(ours)),
      call: armOf(
        'ms',
        ours.map(({ callMs }) => callMs),
      ),
      'all connect, raw': armOf(
        's',
        raw.map(({ connectSeconds }) => connectSeconds),
      ),
      'all connect, patchboard': armOf(
        's',
        ours.map(({ connectSeconds }) => connectSeconds),
      ),
    },
  };
}

async function measurePatchboard(folder: string, devices: number): Promise<Measured> {
  const settings: ServerSettings = { folder: join(folder, 'data'), groupCommit: true, limits: {} };
  return await measure('./arms/patchboard.ts', settings, devices, true);
}

async function measure(
  script: string,
  settings: unknown,
  devices: number,
  isOurs: boolean,
): Promise<Measured> {
  const started: ServerProcess[] = [];
  try {
    const server = await startServer(script, settings);
    started.push(server);
    // The first devices cause one-time allocations.
    started.push(await connected(server, 50));
    const before = await residentBytes(server);
    const began = performance.now();
    const groups = Array.from({ length: Math.ceil(devices / PER_PROCESS) }, (_, index) =>
      Math.min(PER_PROCESS, devices - index * PER_PROCESS),
    );
    started.push(...(await Promise.all(groups.map((count) => connected(server, count)))));
    const connectSeconds = (performance.now() - began) / 1000;
    const bytes = ((await residentBytes(server)) - before) / devices;
    const callMs = isOurs ? await callTime(server) : 0;
    return { bytes, callMs, connectSeconds };
  } finally {
    for (const child of started.toReversed()) await child.stop();
  }
}

async function connected({ url }: ServerProcess, devices: number): Promise<ServerProcess> {
  const settings: DevicesSettings = { url, devices, tool: TOOL };
  return await startServer('./load/devices.ts', settings);
}

async function residentBytes({ pid }: ServerProcess): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  await sleep(1500);
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}

async function callTime({ url }: ServerProcess): Promise<number> {
  const connection = new Connections(url);
  const times: number[] = [];
  try {
    for (let call = 0; call < 200; call += 1) {
      const began = performance.now();
      const body = { run_id: `run_${call}`, args: { call } };
      await connection.post(`/v1/tools/${TOOL}/invoke`, body, { prefer: 'wait=30' });
      times.push(performance.now() - began);
    }
  } finally {
    connection.close();
  }
  return median(times);
}

/** If the limit of open files is too low, fewer devices are used, and the figure notes it. */
function affordable(wanted: number, { say }: FigureOptions): number {
  const limits = readFileSync('/proc/self/limits', 'utf8');
  const hard = Number(/^Max open files\s+\S+\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  const room = hard - OTHER_FILES;
  if (room >= wanted) return wanted;
  say(`P7: ulimit -Hn is ${hard}: ${room} devices instead of ${wanted}`);
  return room;
}
