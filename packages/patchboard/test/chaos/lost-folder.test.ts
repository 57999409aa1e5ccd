import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { get, post, type HttpResponse } from '../../../../scripts/chaos/http.ts';
import { ServerProcess } from '../../../../scripts/chaos/server-process.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { readOnlyStore } from '../../src/store/sqlite/read-only.ts';
import { aFolder } from '../support/a-folder.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let dataFolder: string;
let server: ServerProcess;
let url: string;
/** Ids of calls whose response was 202. */
let acknowledged: string[];

beforeEach(async () => {
  dataFolder = join(await aFolder(), 'data');
  server = ServerProcess.shipped({ dataFolder });
  url = await server.mustBeReady();
  acknowledged = [];
});
afterEach(() => server.destroy());

async function invoke(): Promise<HttpResponse> {
  const response = await post(`${url}/v1/tools/calculation.eval/invoke`, {
    run_id: 'run_1',
    args: { expression: '1+1' },
  });
  if (response.status === 202) acknowledged.push(String(response.body['tool_call_id']));
  return response;
}

/** Asks until the server is ready, or is not. */
async function untilReadyIs(status: number): Promise<HttpResponse> {
  for (;;) {
    const response = await get(`${url}/readyz`);
    if (response.status === status) return response;
  }
}

async function stop(): Promise<number | null> {
  server.terminate();
  return (await server.ended).code;
}

describe('a data folder that is moved away while the server runs', () => {
  it('makes it not ready and refuses writes with 503; moved back, it is ready again and has every receipt', async () => {
    for (let count = 0; count < 5; count += 1) expect((await invoke()).status).toBe(202);
    renameSync(dataFolder, `${dataFolder}-moved`);
    const notReady = await untilReadyIs(503);
    expect(notReady.body).toMatchObject({ code: 'storage_unavailable' });
    expect(notReady.body['detail']).toMatch(/move it back, or restart the server/);
    for (let count = 0; count < 20; count += 1) {
      const refused = await invoke();
      expect([refused.status, refused.body['code']]).toEqual([503, 'storage_unavailable']);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(JSON.stringify(refused.body)).not.toContain(dataFolder);
    }
    expect((await get(`${url}/v1/tool_calls/${acknowledged[0]}`)).status).toBe(200);
    renameSync(`${dataFolder}-moved`, dataFolder);
    await untilReadyIs(200);
    expect((await invoke()).status).toBe(202);
    expect(await stop()).toBe(0);
    const lines = server.stderr.split('\n').filter((line) => line.includes('"store.lost"'));
    expect(lines).toEqual([expect.stringContaining('move it back, or restart the server')]);
    const store = readOnlyStore(join(dataFolder, 'patchboard.db'), nodeDigest);
    for (const id of acknowledged) expect((await store.findCall(id))?.state.name).toBe('COMPLETED');
    store.close();
  });
});

describe('a data folder that is replaced while the server runs', () => {
  it('is refused, and what took its place is left alone', async () => {
    await invoke();
    rmSync(dataFolder, { recursive: true });
    mkdirSync(dataFolder, { mode: 0o700 });
    for (const name of ['patchboard.db', 'patchboard.db-wal']) writeFileSync(join(dataFolder, name), name);
    await untilReadyIs(503);
    expect([(await invoke()).status, (await invoke()).status]).toEqual([503, 503]);
    expect(await stop()).toBe(0);
    expect(readdirSync(dataFolder).sort()).toEqual(['patchboard.db', 'patchboard.db-wal']);
    for (const name of readdirSync(dataFolder))
      expect(readFileSync(join(dataFolder, name), 'utf8')).toBe(name);
  });
});
