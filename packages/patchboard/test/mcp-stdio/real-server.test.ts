import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient } from '@patchboard/client';
import type { CallStateName } from '@patchboard/wire';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ServerFile } from '../../src/settings/server-file.ts';
import { LONG } from '../cli/cli-process.ts';
import { aModule } from '../support/modules.ts';
import { startServer, type ServerProcess } from '../support/server-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { aBridge, INITIALIZE, modern, type BridgeProcess } from './support/a-bridge.ts';

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

async function aServer(flags: readonly string[] = []): Promise<ServerProcess> {
  const packs = [await aModule('slow.mjs', PACK)];
  const config = await aModule('config.json', JSON.stringify({ packs }));
  const server = await startServer({ PATCHBOARD_CONFIG: config }, flags);
  onTestFinished(async () => void (await server.stop()));
  return server;
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

describe('patchboard mcp with a real server', { timeout: LONG }, () => {
  it('calls and reports progress in both eras, cancels by hanging up, and survives a kill of the server', async () => {
    const server = await aServer();
    const bridge = aBridge({ env: { PATCHBOARD_DATA: server.dataFolder } });

    // The modern era: headers are checked by the server, and hanging up cancels.
    const args = { name: 'slow__steps', arguments: { region: 'Île de Ré' } };
    const done = await bridge.request('steps', 'tools/call', withProgress(modern(args), 'p'));
    expect(done.result).toMatchObject({ structuredContent: { region: 'Île de Ré' }, isError: false });
    await waiting(server, bridge, 1, modern());
    bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    await waitFor(async () => expect(await callsOf(server, 'CANCELLED')).toHaveLength(1));

    // The eras before it: a session, and the same tools.
    const opened = await bridge.request('init', 'initialize', INITIALIZE);
    expect(opened.result).toMatchObject({ protocolVersion: INITIALIZE.protocolVersion });
    bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
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

    // A call that ran when the server was killed is not repeated, and the error says so.
    await waiting(server, bridge, 2, {});
    const { pid } = JSON.parse(await readFile(join(server.dataFolder, 'server.json'), 'utf8')) as ServerFile;
    process.kill(pid, 'SIGKILL');
    expect((await bridge.response(2)).error?.data).toEqual({ code: 'connection_lost', outcome: 'unknown' });
    await server.exit();
    expect((await bridge.request(3, 'ping')).error?.data).toMatchObject({ outcome: 'not_started' });

    // The session is lost by the restart and opened again for the next request.
    const second = await aServer(['--data', server.dataFolder]);
    expect((await bridge.request(4, 'ping')).result).toEqual({});
    expect(bridge.stderr()).toContain('the session was opened again');
    expect(await callsOf(second, 'EXECUTING')).toEqual([]);
    expect(await bridge.end()).toBe(0);
  });
});
