import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCli, type Ended } from '../support/run-cli.ts';
import { startCommand } from '../support/run-command.ts';
import { cleanEnvironment, ROOT, startServer, type ServerProcess } from '../support/server-process.ts';
import { LONG } from './cli-process.ts';

const SERVER = fileURLToPath(new URL('servers/listed-server.mjs', import.meta.url));
const SECRET = 'planted-secret-value';

const object = { type: 'object', properties: { text: { type: 'string' } } };
const TOOLS = [
  { name: 'search', description: 'Searches.', inputSchema: object, annotations: { readOnlyHint: true } },
  { name: 'write', description: `Writes ${SECRET}.`, inputSchema: object },
  { name: 'remove', description: 'Removes.', inputSchema: object, annotations: { destructiveHint: true } },
];
const SHOP = {
  openapi: '3.1.0',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'http://127.0.0.1:9' }],
  paths: {
    '/orders': {
      get: { operationId: 'listOrders', responses: { 200: { description: 'ok' } } },
      delete: { operationId: 'deleteOrders', responses: { 204: { description: 'ok' } } },
    },
  },
};

let folder: string;
let list: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-upstreams-'));
  list = join(folder, 'tools.json');
  writeFileSync(list, JSON.stringify(TOOLS));
  writeFileSync(join(folder, 'shop.json'), JSON.stringify(SHOP));
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The arguments that add the server of the fixture. */
function adding(name: string, ...options: readonly string[]): string[] {
  return ['mcp', 'add', name, '--env', `SECRET=${SECRET}`, ...options, '--', process.execPath, SERVER, list];
}

/** The arguments that add a command which ends at once. */
function failing(name: string): string[] {
  const program = "console.error('cannot read ' + process.env.TOKEN); process.exitCode = 3";
  return ['mcp', 'add', name, '--env', `TOKEN=${SECRET}`, '--', process.execPath, '--eval', program];
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function expectNoSecret(...ended: readonly Ended[]): void {
  for (const { out, error } of ended) expect(out + error).not.toContain(SECRET);
}

const TABLE =
  /^TOOL +CALLS\nnotes\.remove +ask for approval\nnotes\.search +run unasked, read only\nnotes\.write +run unasked\n$/;
const POLICY = "policy:\n  default:\n    requireApprovalTools: ['notes.search', 'notes.write']\n";

describe('the commands for upstreams with a running server', { timeout: LONG }, () => {
  let server: ServerProcess;
  const run = (argv: readonly string[], replies?: readonly string[]): Promise<Ended> =>
    runCli(argv, { PATCHBOARD_DATA: server.dataFolder }, replies);
  const stored = (): unknown =>
    JSON.parse(readFileSync(join(server.dataFolder, 'upstreams.json'), 'utf8')) as unknown;

  beforeAll(async () => {
    server = await startServer();
  }, LONG);
  afterAll(async () => {
    await server.stop();
  }, LONG);

  it('add connects it at once, shows which tools run unasked, and prints no secret', async () => {
    const added = await run(adding('notes'));
    expect(added).toMatchObject({ code: 0, out: expect.stringMatching(TABLE) as string });
    expect(added.error).toContain(`The server at ${server.url} connects it.`);
    expect(added.error).toContain(POLICY);
    const listed = await run(['mcp', 'list']);
    expect(listed.out).toMatch(
      /^NAME +STATE +PROTOCOL +TOOLS +CHANGES +ADDRESS\nnotes +connected +2025-06-18 +3 +0 +\S*node\b/,
    );
    expectNoSecret(added, listed, await run(['mcp', 'list', '--json']));
    expect(server.log()).not.toContain(SECRET);
  });

  it('add leaves nothing behind if the server refuses the settings', async () => {
    const before = stored();
    const refused = await run([
      'mcp',
      'add',
      'web',
      'https://a.example/mcp',
      '--header',
      'X-Team: ${ABSENT}',
    ]);
    expect(refused.code).toBe(2);
    expect(refused.error).toContain('upstreams.web.headers.X-Team: the variable ABSENT is not set');
    expect(refused.error).toMatch(/upstreams\.json is as before\. .* start it with the variable set\.\n$/);
    expect(stored()).toEqual(before);
  });

  it('import of variables that the server lacks asks for a restart, and can be removed again', async () => {
    const file = join(folder, 'variables.json');
    const entry = (name: string): unknown => ({
      command: process.execPath,
      env: { [`${name}_TOKEN`]: SECRET },
    });
    writeFileSync(file, JSON.stringify({ mcpServers: { first: entry('FIRST'), second: entry('SECOND') } }));
    const before = stored();
    const imported = await run(['mcp', 'import', file, '--env']);
    expect(imported.code).toBe(0);
    expect(imported.error).toContain(`Restart the server at ${server.url} to connect it.`);
    expect(imported.error).not.toContain(`The server at ${server.url} connects it.`);
    const kept = await run(['mcp', 'remove', 'first']);
    expect(kept).toMatchObject({ code: 0, out: 'first removed\n' });
    expect(kept.error).toContain('until it is restarted or accepts the settings');
    const removed = await run(['mcp', 'remove', 'second']);
    expect(removed).toMatchObject({ code: 0, out: 'second removed\n' });
    expect(removed.error).toContain('no longer offers its tools');
    expect(stored()).toEqual(before);
    expectNoSecret(imported, kept, removed);
  });

  it('add exits with 6 if it does not connect, and says how to remove it', async () => {
    const added = await run(['mcp', 'add', 'gone', 'http://127.0.0.1:9/mcp']);
    expect(added).toMatchObject({ code: 6, out: '' });
    expect(added.error).toMatch(/gone is not connected: .*\n.*patchboard mcp remove gone/s);
    expect(await run(['mcp', 'remove', 'gone'])).toMatchObject({ code: 0, out: 'gone removed\n' });
    expect((await run(['mcp', 'list'])).out).not.toContain('gone');
  });

  it('add of a command that ends at once says where its output is', async () => {
    const added = await run(failing('ends'));
    expect(added).toMatchObject({ code: 6, out: '' });
    expect(added.error).toContain('What its process wrote is in the log of the server, as upstream.stderr.');
    expect(server.log()).toContain('cannot read [redacted]');
    expectNoSecret(added);
    expect((await run(['mcp', 'remove', 'ends'])).code).toBe(0);
  });

  it('add of the server itself says that it is not tried again', async () => {
    const added = await run(['mcp', 'add', 'itself', `${server.url}/mcp`]);
    expect(added).toMatchObject({ code: 6, out: '' });
    expect(added.error).toContain(
      'The server does not try again. Remove it with: patchboard mcp remove itself',
    );
    expect((await run(['mcp', 'remove', 'itself'])).code).toBe(0);
  });

  it('accept shows the change of a contract, and accepts it only after confirmation', async () => {
    const [search, ...others] = TOOLS;
    writeFileSync(list, JSON.stringify([{ ...search, description: 'Searches everything.' }, ...others]));
    expect(await run(['mcp', 'restart', 'notes'])).toMatchObject({ code: 0, out: 'notes connected\n' });
    await expect
      .poll(async () => (await run(['mcp', 'list'])).error)
      .toContain('patchboard mcp accept notes');

    const script = await run(['mcp', 'accept', 'notes']);
    expect(script.code).toBe(2);
    expect(script.error).toContain('without a terminal, accept needs --yes');
    const declined = await run(['mcp', 'accept', 'notes'], ['n']);
    expect(declined.code).toBe(2);
    expect(declined.error).toBe('Accept this contract? [y/N] nothing accepted\n');
    expect(declined.out).toContain('    - "Searches."\n    + "Searches everything."\n');
    const accepted = await run(['mcp', 'accept', 'notes.search'], ['y']);
    expect(accepted).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\nnotes\.search accepted\n$/) as string,
    });
    expect((await run(['mcp', 'accept', 'notes', '--yes'])).error).toContain('nothing to accept');
    const unknown = await run(['mcp', 'accept', 'notes.serch', '--yes']);
    expect(unknown.code).toBe(5);
    expect(unknown.error).toContain('notes has no tool notes.serch; did you mean notes.search?');
    expectNoSecret(script, declined, accepted);
  });

  it('openapi add shows the operations, and a name is used once for both kinds', async () => {
    const added = await run(['openapi', 'add', 'shop', join(folder, 'shop.json')]);
    expect(added.code).toBe(0);
    expect(added.out).toMatch(
      /shop\.deleteOrders +ask for approval\nshop\.listOrders +run unasked, read only\n/,
    );
    expect((await run(['openapi', 'list'])).out).toMatch(/\nshop +connected +OpenAPI 3\.1/);
    const taken = await run(adding('shop'));
    expect(taken.code).toBe(2);
    expect(taken.error).toContain('patchboard openapi remove shop');
  });

  it('import adds servers at once, and doctor lists all upstreams', async () => {
    const file = join(folder, 'client.json');
    const entry = { command: process.execPath, args: [SERVER, list], env: { SECRET } };
    writeFileSync(file, JSON.stringify({ mcpServers: { Imported: entry } }));
    const imported = await run(['mcp', 'import', file]);
    expect(imported).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\nimported +Imported +/) as string,
    });
    await expect.poll(async () => (await run(['mcp', 'list'])).out).toMatch(/\nimported +connected/);
    const main = join(ROOT, 'packages/patchboard/bin/patchboard.mjs');
    const env = { ...cleanEnvironment(), PATCHBOARD_DATA: server.dataFolder, PATCHBOARD_URL: server.url };
    const { stdout } = await promisify(execFile)(process.execPath, [main, 'doctor'], {
      cwd: folder,
      env,
    }).catch((error: unknown) => error as { stdout: string });
    expect(stdout).toMatch(/ok +upstream +imported \(.*\) is connected; 3 tools\n/);
    expect(stdout).toMatch(/ok +upstream +notes \(.*\) is connected; 3 tools\n/);
    expectNoSecret(imported, { code: 0, out: stdout, error: '' });
  });
});

describe('the commands for upstreams without a running server', { timeout: LONG }, () => {
  it('add connects by itself once, and ends the process', async () => {
    const data = join(folder, 'data');
    const main = join(ROOT, 'packages/patchboard/bin/patchboard.mjs');
    const env = { ...cleanEnvironment(), PATCHBOARD_DATA: data };
    // Through the launcher, which runs `patchboard mcp` itself.
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [main, ...adding('notes')], {
      cwd: folder,
      env,
    });
    expect(stdout).toMatch(TABLE);
    expect(stderr).toContain('No server runs on this data folder; the next start connects it.');
    expectNoSecret({ code: 0, out: stdout, error: stderr });
    const shop = await runCli(['openapi', 'add', 'shop', join(folder, 'shop.json')], {
      PATCHBOARD_DATA: data,
    });
    expect(shop).toMatchObject({ code: 0, out: expect.stringContaining('shop.deleteOrders') as string });
  });

  it('add that is interrupted ends the process that it started', async () => {
    const pidFile = join(folder, 'pid');
    const program = `fs.writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1e6)`;
    const main = join(ROOT, 'packages/patchboard/bin/patchboard.mjs');
    const argv = [main, 'mcp', 'add', 'stuck', '--', process.execPath, '--eval', program];
    const env = { ...cleanEnvironment(), PATCHBOARD_DATA: join(folder, 'data-of-stuck') };
    const adding = startCommand(process.execPath, argv, { cwd: folder, env });
    await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8')).toMatch(/^\d+$/);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    onTestFinished(() => {
      if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    });
    expect((await adding.stop()).code).toBe(143);
    expect(isRunning(pid)).toBe(false);
  });

  it('add of a command that ends at once shows what it wrote, without secrets', async () => {
    const data = join(folder, 'data-of-failing');
    const added = await runCli(failing('ends'), { PATCHBOARD_DATA: data });
    expect(added).toMatchObject({ code: 6, out: '' });
    expect(added.error).toContain('\n  cannot read [redacted]\n');
    expect(added.error).toContain('ends is not connected: the process ended (exit code 3)');
    expectNoSecret(added);
  });

  it('add does not promise that a server keeps trying', async () => {
    const data = join(folder, 'data-of-none');
    const added = await runCli(['openapi', 'add', 'shop', folder], { PATCHBOARD_DATA: data });
    expect(added.code).toBe(6);
    expect(added.error).toContain(`could not read ${folder}: it is a folder`);
    expect(added.error).toContain('It stays in');
    expect(added.error).not.toContain('keeps trying');
  });
});
