import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { Log } from '../../src/core/ports.ts';
import type { Pack } from '../../src/core/tools/server-tool.ts';
import { nodeDigest } from '../../src/runtime/digest.ts';
import { SILENT_LOG } from '../../src/runtime/silent-log.ts';
import { resolveSettings } from '../../src/settings/settings.ts';
import { sqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import { startPlatform, type Platform } from '../../src/wiring/platform.ts';
import { aFolder } from '../support/a-folder.ts';

const stuck: Pack = {
  name: 'stuck',
  tools: [],
  close: () => Promise.reject(new Error('the pack is stuck')),
};

/** Starts a server with the pack on a folder. */
async function start(data: string, port: string, log: Log = SILENT_LOG): Promise<Platform> {
  const settings = resolveSettings({}, { port, data });
  return await startPlatform(settings, log, { packs: [stuck] });
}

/** Throws if another store of this process has the file. */
async function expectReleased(data: string): Promise<void> {
  const store = await sqliteStore({ file: `${data}/patchboard.db`, digest: nodeDigest });
  await store.close();
}

it('a server that cannot start closes its store although a pack cannot be closed, and logs that', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const data = await aFolder();
  const errors: unknown[] = [];
  const log: Log = { ...SILENT_LOG, error: (event, fields) => errors.push([event, fields]) };
  await expect(start(data, String(port), log)).rejects.toThrow(`port ${port} is in use`);
  expect(errors).toEqual([['task.failed', { task: 'close', error: 'the pack is stuck' }]]);
  await expectReleased(data);
});

it('a server that stops closes its store although a pack cannot be closed, and rejects with that', async () => {
  const data = await aFolder();
  const platform = await start(data, '0');
  await expect(platform.close()).rejects.toThrow('the pack is stuck');
  await expectReleased(data);
});
