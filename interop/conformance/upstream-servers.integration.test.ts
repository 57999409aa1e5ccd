import { createClient, type PatchboardClient } from '@patchboard/client';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPatchboard, type Patchboard } from '../../packages/patchboard/src/index.ts';
import { aFixedPort } from '../../packages/patchboard/test/support/a-fixed-port.ts';
import {
  cleanEnvironment,
  startServer,
  type ServerProcess,
} from '../../packages/patchboard/test/support/server-process.ts';
import { waitFor } from '../../packages/patchboard/test/support/wait-for.ts';
import { CALLERS, mcp } from './upstream-callers.ts';

const LIMIT_MS = 120_000;
const programOf = (name: string): string =>
  fileURLToPath(new URL(`node_modules/@modelcontextprotocol/${name}/dist/index.js`, import.meta.url));
const EVERYTHING = programOf('server-everything');
const NOTE = 'kept in a file';

let folder: string;
let web: ChildProcess;
let server: ServerProcess;
let board: Patchboard;
let client: PatchboardClient;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'patchboard-upstreams-')));
  writeFileSync(join(folder, 'note.txt'), NOTE);
  const port = await aFixedPort();
  web = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
    env: { ...cleanEnvironment(), PORT: String(port) },
    stdio: 'ignore',
  });
  const upstreams = {
    everything: { command: process.execPath, args: [EVERYTHING, 'stdio'] },
    files: { command: process.execPath, args: [programOf('server-filesystem'), folder] },
    web: { url: `http://127.0.0.1:${port}/mcp` },
  };
  const config = join(folder, 'patchboard.json');
  writeFileSync(config, JSON.stringify({ upstreams }));
  [server, board] = await Promise.all([
    startServer({}, ['--config', config]),
    createPatchboard({ upstreams }),
  ]);
  client = createClient({ url: server.url });
  // The last tool of server-everything is registered after the connection is established.
  const late = 'trigger-elicitation-request';
  await waitFor(async () => {
    const served = (await client.tools()).map(({ name }) => name);
    for (const names of [served, board.tools().map(({ name }) => name)])
      expect(names).toEqual(
        expect.arrayContaining([`everything.${late}`, `web.${late}`, 'files.read_text_file']),
      );
  }, LIMIT_MS);
}, LIMIT_MS);

afterAll(async () => {
  await Promise.all([server?.stop(), board?.close()]);
  if (web?.exitCode === null) {
    const ended = once(web, 'close');
    web.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

describe.each(Object.entries(CALLERS))(
  'servers of npm behind Patchboard, called through %s',
  (_name, make) => {
    it('are listed and called: two processes, and one over HTTP', async () => {
      const caller = make(server.url, board);
      const listed = await caller.list();
      for (const tool of ['everything.echo', 'files.read_text_file', 'web.get-sum'])
        expect(
          listed.includes(tool) || listed.includes(tool.replace('.', '__')),
          `${tool} in ${listed}`,
        ).toBe(true);
      expect(await caller.call('everything.echo', { message: 'hello' })).toContain('Echo: hello');
      expect(await caller.call('files.read_text_file', { path: join(folder, 'note.txt') })).toContain(NOTE);
      expect(await caller.call('web.get-sum', { a: 2, b: 40 })).toContain('The sum of 2 and 40 is 42');
    });
  },
);

describe.each(['everything', 'web'])('server-everything as upstream %s', (upstream) => {
  it('reports progress to an MCP client', async () => {
    const reports: unknown[] = [];
    const name = `${upstream}__trigger-long-running-operation`;
    const params = { name, arguments: { duration: 1, steps: 2 } };
    const onprogress = (report: unknown): void => void reports.push(report);
    const result = await mcp(server.url, async (one) => await one.callTool(params, { onprogress }));
    expect(JSON.stringify(result)).toContain('Long running operation completed');
    expect(reports).toContainEqual({ progress: 1, total: 2 });
  });

  it('asks the caller, and gets the response', async () => {
    const asked: unknown[] = [];
    const { result } = await client.call(
      `${upstream}.trigger-elicitation-request`,
      {},
      {
        onInputRequest: (request) => {
          asked.push(request);
          return { name: 'Ada' };
        },
      },
    );
    expect(asked).toHaveLength(1);
    expect(JSON.stringify(result)).toContain('Ada');
  });

  it('returns a picture', async () => {
    const { result } = await client.call(`${upstream}.get-tiny-image`);
    const { 'patchboard:content': blocks } = result as { 'patchboard:content': unknown[] };
    expect(blocks).toContainEqual(
      expect.objectContaining({
        type: 'image',
        mimeType: 'image/png',
        data: expect.stringMatching(/^iVBOR/) as string,
      }),
    );
  });
});
