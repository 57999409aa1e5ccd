import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@patchboard/client';
import type { CallStateName } from '@patchboard/wire';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ServerFile } from '../../src/settings/server-file.ts';
import { LONG } from '../cli/cli-process.ts';
import { aFixedPort } from '../support/a-fixed-port.ts';
import { startServer, type ServerProcess } from '../support/server-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { aBridge, INITIALIZE, modern, type BridgeProcess } from './support/a-bridge.ts';
import { recordingProxy } from './support/recording-proxy.ts';

/** `slow.wait` runs until it is cancelled; `slow.steps` reports progress and ends. */
const PACK = `
const input_schema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
const wait = (args, { signal, progress }) => new Promise((resolve, reject) => {
  progress({ progress: 1, total: 2 });
  signal.addEventListener('abort', () => reject(signal.reason));
});
const steps = (args, { progress }) => {
  for (const step of [1, 2]) progress({ progress: step, total: 2 });
  return { region: args.region ?? null };
};
export const pack = { name: 'slow', tools: [
  { name: 'slow.wait', description: 'waits', input_schema, exec: wait },
  { name: 'slow.steps', description: 'steps', input_schema, exec: steps },
] };`;

/** Writes a configuration with the pack into the folder, and returns its path. */
async function writeConfig(folder: string): Promise<string> {
  const pack = join(folder, 'slow.mjs');
  const config = join(folder, 'config.json');
  await writeFile(pack, PACK);
  await writeFile(config, JSON.stringify({ packs: [pack] }));
  return config;
}

async function callsOf({ url }: ServerProcess, state: CallStateName): Promise<string[]> {
  const ids: string[] = [];
  for await (const call of createClient({ url }).calls({ toolName: 'slow.wait', state }))
    ids.push(call.tool_call_id);
  return ids;
}

/** Starts a call and resolves when the server runs it. */
async function waiting(
  server: ServerProcess,
  bridge: BridgeProcess,
  id: number,
  params: object,
): Promise<void> {
  const before = (await callsOf(server, 'EXECUTING')).length;
  bridge.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'slow__wait', ...params } });
  await waitFor(async () => expect(await callsOf(server, 'EXECUTING')).toHaveLength(before + 1));
}

function withProgress(params: Record<string, unknown>, progressToken: string): Record<string, unknown> {
  return { ...params, _meta: { ...(params['_meta'] as object), progressToken } };
}

async function initialized(bridge: BridgeProcess): Promise<void> {
  const opened = await bridge.request('init', 'initialize', INITIALIZE);
  expect(opened.result).toMatchObject({ protocolVersion: INITIALIZE.protocolVersion });
  bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
}

describe('patchboard mcp with a real server', { timeout: LONG }, () => {
  let folder: string;
  let environment: Record<string, string>;
  let server: ServerProcess;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchboard-'));
    environment = { PATCHBOARD_CONFIG: await writeConfig(folder) };
    server = await startServer(environment);
  }, LONG);
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  /** A bridge that finds the server in the data folder: nothing listens at the default URL. */
  async function searching(): Promise<BridgeProcess> {
    const PORT = String(await aFixedPort());
    return aBridge({ env: { PATCHBOARD_DATA: server.dataFolder, PORT } });
  }

  it('calls and reports progress in both eras, and cancels by hanging up', async () => {
    const bridge = await searching();

    // The modern era: headers are checked by the server, and hanging up cancels.
    const args = { name: 'slow__steps', arguments: { region: 'Île de Ré' } };
    const done = await bridge.request('steps', 'tools/call', withProgress(modern(args), 'p'));
    expect(done.result).toMatchObject({ structuredContent: { region: 'Île de Ré' }, isError: false });
    await waiting(server, bridge, 1, modern());
    const before = (await callsOf(server, 'CANCELLED')).length;
    bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await waitFor(async () => expect(await callsOf(server, 'CANCELLED')).toHaveLength(before + 1));

    // The eras before it: a session, and the same tools.
    await initialized(bridge);
    const params = withProgress({ name: 'slow.steps', arguments: {} }, 'q');
    const again = await bridge.request('legacy', 'tools/call', params);
    expect(again.result).toMatchObject({ structuredContent: { region: null } });
    const progress = bridge.received().filter(({ method }) => method === 'notifications/progress');
    expect(progress.map(({ params: sent }) => [sent?.['progressToken'], sent?.['progress']])).toEqual([
      ['p', 1],
      ['p', 2],
      ['q', 1],
      ['q', 2],
    ]);
  });

  it('cancels a call of a session by notifications/cancelled', async () => {
    const bridge = await searching();
    await initialized(bridge);
    await waiting(server, bridge, 1, {});
    const before = (await callsOf(server, 'CANCELLED')).length;
    bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await waitFor(async () => expect(await callsOf(server, 'CANCELLED')).toHaveLength(before + 1));
    expect(await bridge.end()).toBe(0);
    expect(bridge.received().map(({ id }) => id)).toEqual(['init']);
    expect(bridge.stderr()).toBe('');
  });

  it('forwards what the server sends on the stream of a session', async () => {
    const proxy = await recordingProxy(server.url);
    const bridge = aBridge({ env: { PATCHBOARD_URL: proxy.url } });
    await initialized(bridge);
    await waitFor(() => expect(proxy.exchanges).toContainEqual(expect.objectContaining({ method: 'GET' })));
    expect(proxy.exchanges.find(({ method }) => method === 'GET')?.status).toBe(200);
    const key = (await readFile(join(server.dataFolder, 'operator.token'), 'utf8')).trim();
    const document = { default: { autoDenyTools: ['calculation.eval'] } };
    await createClient({ url: server.url, key }).policy.replace(document);
    await waitFor(() =>
      expect(bridge.received().map(({ method }) => method)).toContain('notifications/tools/list_changed'),
    );
    expect(await bridge.end()).toBe(0);
  });

  it('ends its session at the server when stdin ends', async () => {
    const proxy = await recordingProxy(server.url);
    const bridge = aBridge({ env: { PATCHBOARD_URL: proxy.url } });
    await initialized(bridge);
    expect((await bridge.request(1, 'ping')).result).toEqual({});
    expect(await bridge.end()).toBe(0);
    const ended = proxy.exchanges.find(({ method }) => method === 'DELETE');
    expect(ended?.status).toBe(204);
    const { status } = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': INITIALIZE.protocolVersion,
        'mcp-session-id': ended?.session ?? '',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    expect(status).toBe(404);
  });

  it('survives a kill of the server, and finds it again on another port', async () => {
    const bridge = await searching();
    await initialized(bridge);
    // A call that ran when the server was killed is not repeated, and the error says so.
    await waiting(server, bridge, 2, {});
    expect(bridge.stderr()).toBe('');
    const { pid } = JSON.parse(await readFile(join(server.dataFolder, 'server.json'), 'utf8')) as ServerFile;
    process.kill(pid, 'SIGKILL');
    expect((await bridge.response(2)).error?.data).toEqual({ code: 'connection_lost', outcome: 'unknown' });
    await server.exit();
    expect((await bridge.request(3, 'ping')).error?.data).toMatchObject({ outcome: 'not_started' });

    // The session is lost by the restart and opened again for the next request.
    const second = await startServer(environment, ['--data', server.dataFolder]);
    onTestFinished(async () => void (await second.stop()));
    expect((await bridge.request(4, 'ping')).result).toEqual({});
    expect(bridge.stderr()).toContain('the session was opened again');
    expect(await callsOf(second, 'EXECUTING')).toEqual([]);

    // The operator stopped it, so the bridge starts none in its place: the operator could not start it again.
    await second.exit();
    const { error } = await bridge.request(5, 'server/discover', modern());
    expect(error?.message).toContain('start it again with: patchboard serve');
    expect(await bridge.end()).toBe(0);
  });
});
