import { execFile } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createClient } from '@patchboard/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runCommand, startCommand, type Finished } from '../support/run-command.ts';
import { cleanEnvironment } from '../support/server-process.ts';
import { installPackages } from './installed.ts';
import { olderNode, type OtherNode } from './other-node.ts';

describe('the packed packages', () => {
  let installed: ReturnType<typeof installPackages>;
  beforeAll(() => {
    installed = installPackages();
  }, 300_000);
  afterAll(() => installed.remove());

  async function run({ path, args }: Omit<OtherNode, 'version'>, program: string): Promise<Finished> {
    const evaluated = [...args, '--input-type=module', '--eval', program];
    return await runCommand(path, evaluated, { cwd: installed.folder, env: cleanEnvironment() });
  }

  it('say on an older Node which one is needed, in one line and nothing else of their own', async () => {
    const older = olderNode();
    const { code, error } = await run(older, "import 'patchboard';");
    expect(code).toBe(1);
    const needed = `patchboard needs Node 24 or newer; this is Node ${older.version}`;
    const lines = error.split('\n').filter((line) => /patchboard|ERR_|Error|^\s+at /.test(line));
    expect(lines).toEqual([expect.stringContaining(needed)]);
    const caught = "await import('patchboard').catch(({ message }) => console.log(message));";
    expect((await run(older, caught)).out).toBe(`${needed}\n`);
  });

  it('run a program on the Node that they need', async () => {
    const program = `
      import { createPatchboard, tool } from 'patchboard';
      import { createClient } from '@patchboard/client';
      const board = await createPatchboard({ tools: [tool('twice', ({ n }) => 2 * n)] });
      console.log(typeof createClient, (await board.call('twice', { n: 21 })).result);
      await board.close();`;
    const { out, error } = await run({ path: process.execPath, args: [] }, program);
    expect([out, error]).toEqual(['function 42\n', '']);
  });

  it('export classes under their names', async () => {
    const program = `
      const isClass = (value) => typeof value === 'function' && String(value).startsWith('class');
      for (const name of ['patchboard', 'patchboard/testing', '@patchboard/client', '@patchboard/wire'])
        for (const [exported, value] of Object.entries(await import(name)))
          if (isClass(value)) console.log(exported, value.name);`;
    const { out } = await run({ path: process.execPath, args: [] }, program);
    const classes = out
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    expect(classes.map(([exported]) => exported)).toEqual(
      expect.arrayContaining(['Agent', 'ToolRegistry', 'PatchboardError']),
    );
    expect(classes.filter(([exported, name]) => exported !== name)).toEqual([]);
  });

  it('have a map for the source of every line that a stack names', async () => {
    const program = `
      import { Agent } from 'patchboard';
      try { new Agent({}); } catch ({ stack }) { console.log(stack); }`;
    const { out } = await run({ path: process.execPath, args: ['--enable-source-maps'] }, program);
    expect(out).toMatch(/at new \w*Agent \(.*\/patchboard\/src\/agent\/agent\.ts:\d+:\d+\)/);
  });

  it('have no map of declarations, whose sources are not in the package', () => {
    const folder = join(installed.folder, 'node_modules');
    const files = ['patchboard', '@patchboard/client', '@patchboard/wire'].flatMap((name) =>
      readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' }),
    );
    expect(files).toContain(join('dist', 'index.d.ts'));
    expect(files.filter((file) => file.endsWith('.d.ts.map'))).toEqual([]);
  });

  describe('serve', () => {
    // The registry and the failure are those of the server only if both load the same modules.
    const PACK = `
      import { failure, tool, ToolFailure, ToolRegistry } from 'patchboard';
      const registry = new ToolRegistry();
      registry.register(tool('shop.greet', () => ({ hello: 'world' })));
      registry.register(tool('shop.close', () => { throw new ToolFailure(failure('conflict', 'closed already')); }));
      export const pack = { name: 'shop', tools: [], toolSource: registry };`;

    const launcher = (): string =>
      join(installed.folder, 'node_modules', 'patchboard', 'bin', 'patchboard.mjs');

    async function serve(): Promise<string> {
      const { folder } = installed;
      writeFileSync(join(folder, 'shop.mjs'), PACK);
      writeFileSync(join(folder, 'config.json'), '{"packs":["./shop.mjs"]}');
      const args = [launcher(), 'serve', '--port', '0', '--config', 'config.json', '--data', 'data'];
      const server = startCommand(process.execPath, args, { cwd: folder, env: cleanEnvironment() });
      onTestFinished(async () => void (await server.stop()));
      return /ready at (\S+)/.exec(await server.says(/ready at \S+.*\n/))?.[1] ?? '';
    }

    it('runs tools of a pack that uses the library, and finds its programs and files', async () => {
      expect(existsSync(join(installed.folder, 'node_modules', 'patchboard', 'src'))).toBe(false);
      const url = await serve();
      const client = createClient({ url, agentId: 'ada' });
      const call = async (name: string, args: object): Promise<unknown> =>
        (await client.call(name, args as Record<string, never>)).result;
      expect(await call('shop.greet', {})).toEqual({ hello: 'world' });
      await expect(call('shop.close', {})).rejects.toMatchObject({ code: 'conflict' });
      expect(await call('fs_glob', { pattern: '*' })).toMatchObject({ paths: [] });
      // Without a setting it reads a sample.
      expect(await call('database.query', { sql: 'select 1 + 1 as two' })).toMatchObject({ rows: [[2]] });
      expect((await fetch(`${url}/ui/`)).status).toBe(200);
      expect(await (await fetch(`${url}/healthz`)).json()).toMatchObject({ version: expect.any(String) });
    });

    it('is found by patchboard mcp, which forwards to it', async () => {
      await serve();
      const { folder } = installed;
      const env = { ...cleanEnvironment(), PATCHBOARD_DATA: join(folder, 'data') };
      const bridge = promisify(execFile)(process.execPath, [launcher(), 'mcp'], { cwd: folder, env });
      const params = { name: 'calculation__eval', arguments: { expression: '6*7' } };
      bridge.child.stdin?.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`);
      const { stdout } = await bridge;
      expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { structuredContent: { value: 42 } } });
    });
  });
});
