import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectDevice, deviceTool, type Device } from '@patchboard/client';
import type { CallView } from '@patchboard/wire';
import { expect, it, vi } from 'vitest';
import { get, post } from '../../../../scripts/chaos/http.ts';
import { ServerProcess } from '../../../../scripts/chaos/server-process.ts';
import { aDroppingProxy } from '../../../../scripts/chaos/dropping-proxy.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';

// Two starts of a server, on a machine that may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

const DEVICES = 300;
/** For hangs only. */
const LIMIT_MS = 120_000;

const closeLater = closedAfterEach();

async function offered(url: string): Promise<string[]> {
  const { body } = await get(`${url}/v1/tools`);
  const tools = body['tools'] as { name: string; source: string }[];
  return tools.filter(({ source }) => source === 'client').map(({ name }) => name);
}

async function online(url: string): Promise<{ name: string; tools: string[] }[]> {
  const devices: { name: string; tools: string[] }[] = [];
  let cursor: string | null = null;
  do {
    const page: string = cursor === null ? '' : `&cursor=${cursor}`;
    const { body } = await get(`${url}/v1/devices?limit=100${page}`);
    devices.push(...(body['devices'] as { name: string; tools: string[] }[]));
    cursor = body['next_cursor'] as string | null;
  } while (cursor !== null);
  return devices;
}

async function ended(url: string, id: string): Promise<CallView> {
  for (;;) {
    const { body } = await get(`${url}/v1/tool_calls/${id}`, { headers: { prefer: 'wait=10' } });
    const call = body as unknown as CallView;
    if (call.completed_at !== null) return call;
  }
}

it('all devices that lose a killed server come back to the next, each tool once, and no call is lost', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-return-'));
  closeLater(() => rm(folder, { recursive: true, force: true }));
  const configFile = join(folder, 'config.json');
  const limits = { device_grace_ms: 30_000 };
  await writeFile(configFile, JSON.stringify({ http: { allowed_hosts: ['127.0.0.1'] }, limits }));
  const start = (): ServerProcess => ServerProcess.shipped({ dataFolder: join(folder, 'data'), configFile });
  let server = start();
  closeLater(() => server.destroy());
  let url = await server.mustBeReady();
  // One address for both servers.
  const wire = await aDroppingProxy(() => Number(new URL(url).port));
  closeLater(() => wire.close());

  const runs: number[] = [];
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const names = Array.from({ length: DEVICES }, (_, index) => `phone.${String(index).padStart(4, '0')}`);
  const devices = names.map((name, index): Device => {
    const run = async (): Promise<number> => {
      runs.push(index);
      await finished;
      return index;
    };
    const tools = [deviceTool({ name, timeoutMs: 200_000, run })];
    const device = connectDevice(wire.url, { clientId: name, name, tools, retry: { maxDelayMs: 1000 } });
    closeLater(() => device.close());
    return device;
  });
  await Promise.all(devices.map(({ ready }) => ready));
  const ids: string[] = [];
  for (const name of names) {
    const { body } = await post(`${url}/v1/tools/${name}/invoke`, { run_id: 'run_return', args: {} });
    ids.push(String(body['tool_call_id']));
  }
  await waitFor(() => expect(runs.length).toBe(DEVICES), LIMIT_MS);

  await server.destroy();
  finish();
  server = start();
  url = await server.mustBeReady();

  await waitFor(async () => expect(await offered(url)).toEqual(names), LIMIT_MS);
  const calls = await Promise.all(ids.map((id) => ended(url, id)));
  expect(calls.map(({ state, result }) => [state, result])).toEqual(
    names.map((_, index) => ['COMPLETED', index]),
  );
  expect(runs.toSorted((a, b) => a - b)).toEqual(names.map((_, index) => index));
  const connected = new Map((await online(url)).map(({ name, tools }) => [name, tools]));
  expect(connected).toEqual(new Map(names.map((name) => [name, [name]])));
});
