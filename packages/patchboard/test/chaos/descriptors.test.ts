import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ensureSample } from '../../src/packs/essentials/database/sample.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { startServer, type ServerProcess } from '../support/server-process.ts';

// Each starts a server of its own.
vi.setConfig({ testTimeout: 120_000 });

const DESCRIPTORS = 128;
const IDLE_SOCKETS = 3 * DESCRIPTORS;
const HOARDING_PACK = fileURLToPath(new URL('./support/hoarding-pack.ts', import.meta.url));
/** Each starts a process or a thread when it is first called; `code` is its failure if it cannot. */
const CALLS: readonly { tool: string; args: object; code: string }[] = [
  { tool: 'bash_run', args: { command: 'echo up' }, code: 'overloaded' },
  { tool: 'bash_run', args: { command: 'echo up', background: true }, code: 'overloaded' },
  { tool: 'fs_read', args: { path: 'a.txt' }, code: 'overloaded' },
  { tool: 'database.query', args: { sql: 'select 1' }, code: 'overloaded' },
  { tool: 'search_content', args: { query: 'lorem' }, code: 'upstream_unreachable' },
];

const closeLater = closedAfterEach();
let server: ServerProcess;
/** Keeps the one connection that it has. */
let connection: Agent;

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'patchboard-descriptors-'));
  closeLater(() => rm(folder, { recursive: true, force: true }));
  const config = join(folder, 'config.json');
  const packs = ['essentials', 'workspace', 'heritage', 'hoard'];
  await writeFile(
    config,
    JSON.stringify({
      packs: [HOARDING_PACK],
      tenants: { default: { sites: ['village'], packs } },
      policy: { default: { mode: 'auto', autoAllowTools: ['*'] } },
    }),
  );
  server = await startServer({ PATCHBOARD_CONFIG: config }, [], { descriptors: DESCRIPTORS });
  closeLater(() => server.stop());
  connection = new Agent({ keepAlive: true, maxSockets: 1 });
  closeLater(() => connection.destroy());
});

interface CallRecord {
  readonly state: string;
  readonly error: { readonly code: string } | null;
}

/** Resolves with the record when the call has ended. */
async function call(tool: string, args: object): Promise<CallRecord> {
  const headers = { 'content-type': 'application/json', prefer: 'wait=60' };
  const options = { method: 'POST', agent: connection, headers };
  const asked = request(`${server.url}/v1/tools/${tool}/invoke`, options);
  asked.end(JSON.stringify({ run_id: 'run_1', args }));
  const [response] = (await once(asked, 'response')) as [NodeJS.ReadableStream];
  return JSON.parse(await text(response)) as CallRecord;
}

/** How each call ended. */
async function callAll(): Promise<string[]> {
  const ends: string[] = [];
  for (const { tool, args } of CALLS) {
    const { state, error } = await call(tool, args);
    ends.push(`${tool}: ${state}${error === null ? '' : ` (${error.code})`}`);
  }
  return ends;
}

const COMPLETED = CALLS.map(({ tool }) => `${tool}: COMPLETED`);
const FAILED = CALLS.map(({ tool, code }) => `${tool}: FAILED (${code})`);

async function openIdleSocket(): Promise<Socket> {
  const socket = connect(Number(server.port), '127.0.0.1');
  closeLater(() => socket.destroy());
  // The server may close it, and does so to most of them.
  socket.on('error', () => {});
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return socket;
}

describe('a server with few file descriptors', () => {
  it('keeps serving while idle connections exhaust the limit, and accepts new connections', async () => {
    expect(await call('fs_write', { path: 'a.txt', content: 'a' })).toMatchObject({ state: 'COMPLETED' });
    const idle = await Promise.all(Array.from({ length: IDLE_SOCKETS }, openIdleSocket));
    expect(await callAll()).toEqual(COMPLETED);
    // On connections of their own: an idle one is closed for each.
    for (let time = 0; time < 10; time += 1) {
      const response = await fetch(`${server.url}/v1/tools`, { headers: { connection: 'close' } });
      expect(response.status).toBe(200);
      await response.body?.cancel();
    }
    for (const socket of idle) socket.destroy();
    expect(await callAll()).toEqual(COMPLETED);
  });

  it('fails calls while no descriptor is free, and runs them once some are', async () => {
    // The files that the tools read are there; what is missing is the process or thread that reads them.
    await ensureSample(join(server.dataFolder, 'sample.db'));
    expect(await call('get_site_map', {})).toMatchObject({ error: { code: 'value_not_found' } });
    expect(await call('hoard.take', {})).toMatchObject({ state: 'COMPLETED' });
    expect(await callAll()).toEqual(FAILED);
    expect(await call('hoard.release', {})).toMatchObject({ state: 'COMPLETED' });
    expect(await call('fs_write', { path: 'a.txt', content: 'a' })).toMatchObject({ state: 'COMPLETED' });
    expect(await callAll()).toEqual(COMPLETED);
  });
});
