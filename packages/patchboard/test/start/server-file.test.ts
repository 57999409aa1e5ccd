import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runningServer, type ServerFile } from '../../src/settings/server-file.ts';
import { VERSION } from '../../src/version.ts';
import { aFolder } from '../support/a-folder.ts';
import { startServer } from '../support/server-process.ts';

/** Returns the id of a process that has ended. */
async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version']);
  await once(child, 'close');
  return child.pid ?? 0;
}

describe('server.json', () => {
  it('names the running server, is private, and is gone after a clean stop', async () => {
    const server = await startServer();
    const file = join(server.dataFolder, 'server.json');
    const written = JSON.parse(await readFile(file, 'utf8')) as ServerFile;
    expect(written).toEqual({
      url: server.url,
      pid: expect.any(Number) as number,
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
      version: VERSION,
    });
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
    expect(await runningServer(server.dataFolder)).toEqual(written);

    // The URL answers, but the process that wrote the file does not live.
    await writeFile(file, JSON.stringify({ ...written, pid: await deadPid() }));
    expect(await runningServer(server.dataFolder)).toBeNull();
    await writeFile(file, JSON.stringify(written));
    expect(await server.exit()).toBe(0);
    expect(existsSync(file)).toBe(false);
    await server.stop();
  });

  it('is ignored if its URL is no address of this machine', async () => {
    const folder = await aFolder();
    const other = createServer((_request, response) => response.end(`{"version":"${VERSION}"}`)).listen(
      0,
      '127.0.0.1',
    );
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    // No interface has the second address, but a connection to it reaches the first.
    const found: boolean[] = [];
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]']) {
      const left = { url: `http://${host}:${port}`, pid: process.pid, startedAt: '', version: VERSION };
      await writeFile(join(folder, 'server.json'), JSON.stringify(left));
      found.push((await runningServer(folder)) !== null);
    }
    other.close();
    other.closeAllConnections();
    await once(other, 'close');
    expect(found).toEqual([true, false]);
  });

  it('is ignored if its process lives and another program answers at its URL, or none', async () => {
    const folder = await aFolder();
    const other = createServer((_request, response) => response.end('{"status":"ok"}')).listen(
      0,
      '127.0.0.1',
    );
    await once(other, 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const left: ServerFile = { url, pid: process.pid, startedAt: '2026-01-01T00:00:00Z', version: VERSION };
    await writeFile(join(folder, 'server.json'), JSON.stringify(left));
    expect(await runningServer(folder)).toBeNull();
    other.close();
    await once(other, 'close');
    expect(await runningServer(folder)).toBeNull();
    for (const text of ['{"url":', '[]', '{"pid":1}']) {
      await writeFile(join(folder, 'server.json'), text);
      expect(await runningServer(folder)).toBeNull();
    }
    expect(await runningServer(join(folder, 'missing'))).toBeNull();
  });
});
