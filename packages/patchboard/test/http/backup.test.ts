import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createClient } from '@patchboard/client';
import { describe, expect, it } from 'vitest';
import { memoryStore } from '../../src/store/memory/memory-store.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { aFolder } from '../support/a-folder.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { waitFor } from '../support/wait-for.ts';
import { writeFile } from 'node:fs/promises';

const closeLater = closedAfterEach();

/** More than the buffers of both sides hold, so that a response can be left unread. */
const LARGE = 'x'.repeat(1_000_000);

async function aLargePlatform(): Promise<TestPlatform> {
  const server = await aPlatform();
  closeLater(() => server.close());
  for (let no = 0; no < 24; no += 1) await server.store.appendJournal('j', no, [{ kind: 'k', body: LARGE }]);
  return server;
}

function request(server: TestPlatform, signal?: AbortSignal): Promise<Response> {
  return fetch(`http://127.0.0.1:${server.port}/v1/backup`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.operatorToken}` },
    ...(signal === undefined ? {} : { signal }),
  });
}

function copyIn(server: TestPlatform): boolean {
  return existsSync(`${server.folder.storeFile}-copy`);
}

describe('POST /v1/backup', () => {
  it('sends a store whose newest row is that of the headers, with a row about the backup in it', async () => {
    const server = await aLargePlatform();
    const client = createClient({ url: `http://127.0.0.1:${server.port}`, key: server.operatorToken });
    const { bytes, head, chunks } = await client.backup();
    const file = join(await aFolder(), 'copy.db');
    await writeFile(file, chunks);
    expect(readFileSync(file)).toHaveLength(bytes);
    const database = new DatabaseSync(file, { readOnly: true });
    expect(database.prepare('select seq, hash from ledger_head').get()).toEqual(head);
    const last = database.prepare('select kind, body from ledger order by seq desc limit 1').get();
    expect(last).toEqual({ kind: 'store.copied', body: '{"by":"operator"}' });
    database.close();
    await waitFor(() => expect(copyIn(server)).toBe(false));
  });

  it('makes one at a time, and removes a copy whose download was given up', async () => {
    const server = await aLargePlatform();
    const stop = new AbortController();
    const first = await request(server, stop.signal);
    expect(first.status).toBe(200);
    expect(copyIn(server)).toBe(true);
    const second = await request(server);
    expect(second.status).toBe(409);
    expect(await second.json()).toMatchObject({ code: 'conflict', reasons: [{ code: 'backup_running' }] });
    stop.abort();
    await waitFor(() => expect(copyIn(server)).toBe(false));
    const third = await request(server);
    expect(third.status).toBe(200);
    await third.arrayBuffer();
  });

  it('leaves no copy when the server stops during a download', async () => {
    const server = await aLargePlatform();
    const response = await request(server);
    const read = response.arrayBuffer();
    const cut = expect(read).rejects.toThrow();
    await server.platform.close();
    await cut;
    expect(copyIn(server)).toBe(false);
  });

  it('is for the operator token alone', async () => {
    const server = await aPlatform();
    closeLater(() => server.close());
    const before = await server.store.ledgerHead();
    const local = await server.ask({ method: 'POST', path: '/v1/backup' });
    expect([local.status, local.json]).toMatchObject([403, { code: 'permission_denied' }]);
    const key = await server.mint({ kind: 'operator', name: 'ann' });
    const refused = await server.ask({ method: 'POST', path: '/v1/backup', headers: key.headers });
    expect(refused.status).toBe(403);
    const kinds = (await server.store.readLedger({}, before.seq, 10)).map(({ row }) => row.kind);
    expect(kinds).toEqual(['key.created']);
  });

  it('says that a store without copies is backed up elsewhere', async () => {
    const server = await aPlatform({
      openStore: () => Promise.resolve(memoryStore({ digest: nodeDigest })),
    });
    closeLater(() => server.close());
    const response = await request(server);
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ reasons: [{ code: 'backup_elsewhere' }] });
  });
});
