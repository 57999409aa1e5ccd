import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerFile } from '../../src/settings/server-file.ts';
import { LONG, NOWHERE, Workplace } from '../cli/cli-process.ts';
import { program } from '../docs/vocabulary.ts';
import { olderNode } from '../package/other-node.ts';
import { aFixedPort } from '../support/a-fixed-port.ts';
import { aFolder } from '../support/a-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { aBridge, modern, type BridgeProcess } from './support/a-bridge.ts';

/** The environment of a bridge that has to find a server: nothing listens at the default URL. */
async function searching(dataFolder: string): Promise<Record<string, string>> {
  return { PATCHBOARD_DATA: dataFolder, PORT: String(await aFixedPort()) };
}

async function serverFile(dataFolder: string): Promise<ServerFile> {
  return JSON.parse(await readFile(join(dataFolder, 'server.json'), 'utf8')) as ServerFile;
}

/** Writes the file of a server that was killed. */
async function writeStaleServerFile(dataFolder: string): Promise<void> {
  const dead = spawn(process.execPath, ['--version']);
  await once(dead, 'close');
  const stale = { url: NOWHERE, pid: dead.pid, startedAt: '2026-01-01T00:00:00Z', version: '0' };
  await writeFile(join(dataFolder, 'server.json'), JSON.stringify(stale));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Sends a request that every server responds to. */
async function reaches(bridge: BridgeProcess, id: number): Promise<boolean> {
  const { error } = await bridge.request(id, 'server/discover', modern());
  return error?.data?.['code'] !== 'server_unreachable' && error?.data?.['code'] !== 'connection_lost';
}

describe('without PATCHBOARD_URL, the bridge', { timeout: LONG }, () => {
  it('shares a server with a bridge that starts at the same moment on an older Node, and survives its kill', async () => {
    const folder = await aFolder();
    await writeStaleServerFile(folder);
    const env = await searching(folder);
    const { path, args } = olderNode();
    // Each starts a server in the course of the test: on its own Node, or on the Node of the installation.
    const bridges = [aBridge({ env }), aBridge({ env, node: [path, ...args] })];
    expect(await Promise.all(bridges.map((bridge) => reaches(bridge, 1)))).toEqual([true, true]);
    const { pid, url, temporary } = await serverFile(folder);
    expect([isAlive(pid), temporary]).toEqual([true, true]);
    expect(new URL(url).hostname).toBe('127.0.0.1');
    const owner = bridges.find((bridge) => bridge.stderr().includes('the server listens at'));
    const other = bridges.find((bridge) => bridge !== owner);
    expect(owner?.stderr()).toContain(`no server is running; starting one on the data folder ${folder}`);
    expect(other?.stderr()).not.toContain('the server listens at');
    // The server ends with the bridge that started it, even if that is killed; the other one then starts its own.
    await owner?.kill('SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(await reaches(other!, 2)).toBe(true);
    const next = await serverFile(folder);
    expect(next.pid).not.toBe(pid);
    expect(await other?.end()).toBe(0);
    await waitFor(() => expect(isAlive(next.pid)).toBe(false));
    expect(existsSync(join(folder, 'server.json'))).toBe(false);
  });

  it('responds with the reason if no server can be started', async () => {
    const place = await Workplace.create();
    const file = await place.write('file', 'not a folder');
    const env = {
      ...(await searching(join(file, 'data'))),
      PATCHBOARD_CONFIG: await place.write('c.yaml', 'x: 1'),
    };
    const bridge = aBridge({ env });
    const { error } = await bridge.request(1, 'initialize');
    expect(error?.data).toEqual({ code: 'server_unreachable', outcome: 'not_started' });
    expect(error?.message).toContain('none could be started: patchboard: ');
    expect(await bridge.end()).toBe(1);
    await place.remove();
  });
});

describe('on an older Node, patchboard mcp', { timeout: LONG }, () => {
  it('prints its help; other commands name the Node that they need', async () => {
    const { path, args } = olderNode();
    const help = aBridge({ node: [path, ...args], args: ['--help'] });
    expect(await help.end()).toBe(0);
    expect(help.stdout()).toMatch(/^Usage: patchboard mcp \[options\]\n/);
    const mcp = program().commands.find((command) => command.name() === 'mcp');
    const options = mcp?.options.map(({ long }) => long) ?? [];
    expect(help.stdout().match(/--[a-z]+/g)).toEqual([...options, '--help']);
    expect(
      help
        .stdout()
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([]);
    const config = aBridge({ node: [path, ...args], args: ['config'] });
    expect(await config.end()).toBe(2);
    expect(config.stderr()).toContain('patchboard needs Node 24 or newer; this is v');
  });
});
