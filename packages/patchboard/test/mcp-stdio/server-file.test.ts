import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { aFolder } from '../support/a-folder.ts';

// The bridge has no types.
const BRIDGE = new URL('../../bin/mcp/server-file.mjs', import.meta.url).href;
const { readServerFile } = (await import(BRIDGE)) as {
  readServerFile: (folder: string) => { url: string } | null;
};

/** A data folder may come with a project of others, whose `server.json` must not get the key of the bridge. */
it.each([
  ['http://127.0.0.1:8080', true],
  ['http://127.0.0.2:8080', true],
  ['http://[::1]:8080', true],
  ['http://localhost:8080', true],
  ['http://192.0.2.1:8080', false],
  ['https://example.com', false],
  ['http://127.0.0.1:8080@example.com', false],
  ['http://127.example.com', false],
  ['nowhere', false],
])('takes %s from a data folder: %j', async (url, isTaken) => {
  const folder = await aFolder();
  await writeFile(join(folder, 'server.json'), JSON.stringify({ url, pid: process.pid }));
  expect(readServerFile(folder)?.url).toBe(isTaken ? url : undefined);
});
