import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { post } from '../../../../scripts/chaos/http.ts';
import { ServerProcess } from '../../../../scripts/chaos/server-process.ts';
import { aDevice, DEVICE_INFO, type BareDevice } from './support/bare-device.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';

// Two servers, and a flood for each.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const BUFFER_BYTES = 1_000_000;
const REQUEST_BYTES = 500_000;
const REQUESTS = 200;
const FLOOD_BYTES = REQUESTS * REQUEST_BYTES;
/** Calls in between two looks at the memory. */
const STRIDE = 20;
/** What a server may hold more than before, at any time: the open calls and buffers of one or two devices. */
const BOUND_BYTES = FLOOD_BYTES / 2;
const REPORT_MEMORY = fileURLToPath(new URL('./support/report-memory.ts', import.meta.url));

const closeLater = closedAfterEach();

interface Flooded {
  /** What the server held more than before the flood, at its highest, garbage apart. */
  readonly grownBytes: number;
  /** How often the device was dropped and came back. */
  readonly drops: number;
}

/** A server in a process of its own, and a device that never reads and comes back whenever it is dropped. */
async function flood(bufferBytes: number): Promise<Flooded> {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-flat-'));
  closeLater(() => rm(folder, { recursive: true, force: true }));
  const configFile = join(folder, 'config.json');
  // No heartbeat is required: what drops it is what it leaves unread.
  const limits = {
    device_buffer_bytes: bufferBytes,
    device_heartbeat_ms: 600_000,
    open_calls_per_tenant: 100_000,
  };
  await writeFile(configFile, JSON.stringify({ http: { allowed_hosts: ['127.0.0.1'] }, limits }));
  const server = ServerProcess.shipped({
    dataFolder: join(folder, 'data'),
    configFile,
    nodeArgs: ['--expose-gc', '--import', REPORT_MEMORY],
  });
  closeLater(() => server.destroy());
  const url = await server.mustBeReady();
  const args = { filler: 'x'.repeat(REQUEST_BYTES) };
  let device = await aSilentDevice(url);
  let drops = 0;
  const ask = async (): Promise<void> => {
    const response = await post(`${url}/v1/tools/device_info/invoke`, { run_id: 'run_flood', args });
    if (response.status === 202) return;
    // The server of a busy machine returns 503, and the request is sent again.
    if (response.status === 503) return await ask();
    expect(response.status, JSON.stringify(response.body)).toBe(404);
    device.socket.terminate();
    device = await aSilentDevice(url);
    drops += 1;
    await ask();
  };
  const before = await heldBytes(server, 0);
  let most = before;
  for (let asked = 1; asked <= REQUESTS; asked += 1) {
    await ask();
    if (asked % STRIDE === 0) most = Math.max(most, await heldBytes(server, asked / STRIDE));
  }
  device.socket.terminate();
  return { grownBytes: most - before, drops };
}

/** `nth`: counted by the server, because of what it said only the end is kept. */
async function heldBytes(server: ServerProcess, nth: number): Promise<number> {
  process.kill(server.pid, 'SIGUSR2');
  return await waitFor(() => {
    const report = new RegExp(`report ${nth}: holds (\\d+) bytes`).exec(server.stderr);
    if (report === null) throw new Error(`the server does not say what it holds:\n${server.stderr}`);
    return Number(report[1]);
  });
}

async function aSilentDevice(url: string): Promise<BareDevice> {
  const device = await aDevice(Number(new URL(url).port));
  closeLater(() => device.socket.terminate());
  await device.register({ ...DEVICE_INFO, parameters: { type: 'object' } });
  device.socket.pause();
  return device;
}

it('a device that stops reading is dropped, and the server stays as small as it was', async () => {
  const { grownBytes, drops } = await flood(BUFFER_BYTES);
  expect(drops).toBeGreaterThan(0);
  expect(grownBytes).toBeLessThan(BOUND_BYTES);
});

it('the same flood shows in the memory of a server that is configured to keep it all', async () => {
  const { grownBytes, drops } = await flood(100 * FLOOD_BYTES);
  expect(drops).toBe(0);
  expect(grownBytes).toBeGreaterThan(BOUND_BYTES);
});
