import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MCP_CLIENTS, type KeyView } from '@patchboard/wire';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LONG, NOWHERE, Workplace } from '../cli/cli-process.ts';
import { aBridge, LAUNCHER, modern } from './support/a-bridge.ts';

let place: Workplace;
beforeEach(async () => {
  place = await Workplace.create();
});
afterEach(() => place.remove());

interface Stdio {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

async function keysAt(workplace: Workplace): Promise<KeyView[]> {
  const found: KeyView[] = [];
  for await (const key of (await workplace.client()).keys.list()) found.push(key);
  return found;
}

describe('patchboard mcp config', { timeout: LONG }, () => {
  it('prints JSON to stdout, and to stderr where to put it', async () => {
    const { code, out, error } = await place.run(['mcp', 'config', '--client', 'vscode', '--http']);
    const expected = { servers: { pb: { type: 'http', url: `${NOWHERE}/mcp` } } };
    expect([code, JSON.parse(out)]).toEqual([0, expected]);
    expect(error).toBe('Add this to .vscode/mcp.json of a workspace.\n');
  });

  it('prints TOML for codex', async () => {
    const stdio = await place.run(['mcp', 'config', '--client', 'codex', '--tools', 'a.*,b.*']);
    expect(stdio.out.split('\n')).toEqual([
      '[mcp_servers.pb]',
      `command = ${JSON.stringify(process.execPath)}`,
      `args = ${JSON.stringify([LAUNCHER, 'mcp', '--tools', 'a.*,b.*'])}`,
      `env = { PATCHBOARD_URL = "${NOWHERE}" }`,
      '',
    ]);
    const flags = ['--http', '--url', 'https://example.com/pb/', '--key', 'codex', '--hold', '600'];
    const http = await place.run(['mcp', 'config', '--client', 'codex', ...flags], {
      PATCHBOARD_KEY: 'pb_none',
    });
    expect(http.out.split('\n')).toEqual([
      '[mcp_servers.pb]',
      'url = "https://example.com/pb/mcp?hold=600"',
      'http_headers = { Authorization = "Bearer YOUR_KEY" }',
      '',
    ]);
  });

  it('prints a command for Claude Code, and everything with --json', async () => {
    const args = ['mcp', 'config', '--client', 'claude-code', '--json'];
    const data = join(place.folder, 'with space');
    const stdio = await place.json<{ command: string }>(args, { PATCHBOARD_URL: '', PATCHBOARD_DATA: data });
    expect(stdio).toMatchObject({ client: 'claude-code', file: '.mcp.json of a project' });
    expect(stdio.command).toBe(
      `claude mcp add --env 'PATCHBOARD_DATA=${data}' --transport stdio pb -- ${process.execPath} ${LAUNCHER} mcp`,
    );
    const http = await place.json<{ command: string }>([...args, '--http']);
    expect(http.command).toBe(`claude mcp add --transport http pb ${NOWHERE}/mcp`);
  });

  it('refuses an unknown client with the list, and HTTP for one that has none', async () => {
    const unknown = await place.run(['mcp', 'config', '--client', 'emacs']);
    expect([unknown.code, unknown.out]).toEqual([2, '']);
    expect(unknown.error).toContain(`Allowed choices are ${MCP_CLIENTS.join(', ')}.`);
    const desktop = await place.run('mcp config --client claude-desktop --http --key x'.split(' '));
    expect([desktop.code, desktop.out]).toEqual([2, '']);
    expect(desktop.error).toContain(
      'claude-desktop has no servers over HTTP in its configuration: omit --http',
    );
  });

  it('creates the key of an agent, with which the printed command works', async () => {
    const stop = await place.serve();
    const url = place.environment['PATCHBOARD_URL'] ?? '';
    const clean = { PATCHBOARD_URL: '' };
    const made = await place.run('mcp config --client cursor --key cursor'.split(' '), clean);
    expect(made.code).toBe(0);
    expect(made.error).toContain('local mode has ended');
    const { mcpServers } = JSON.parse(made.out) as { mcpServers: { pb: Stdio } };
    const { command, args, env } = mcpServers.pb;
    expect(env).toEqual({
      PATCHBOARD_DATA: place.data,
      PATCHBOARD_KEY: expect.stringMatching(/^pb_/) as string,
    });
    expect(await keysAt(place)).toMatchObject([
      { kind: 'agent', name: 'cursor', scopes: ['tools:call', 'calls:read'] },
    ]);

    expect([command, args]).toEqual([process.execPath, [LAUNCHER, 'mcp']]);
    const bridge = aBridge({ env, cwd: place.folder });
    const call = modern({ name: 'calculation.eval', arguments: { expression: '6*7' } });
    expect((await bridge.request(1, 'tools/call', call)).result).toMatchObject({
      structuredContent: { value: 42 },
    });
    expect(await bridge.end()).toBe(0);
    expect(bridge.stderr()).toBe('');

    // Over HTTP, with the URL of the running server; the first key has ended local mode.
    const http = await place.run('mcp config --client vscode --http'.split(' '), clean);
    expect(JSON.parse(http.out)).toEqual({ servers: { pb: { type: 'http', url: `${url}/mcp` } } });
    expect(http.error).toContain(`${url} requires a key: add --key NAME`);

    // Without the credential of an operator, a placeholder.
    const agent = { ...clean, PATCHBOARD_KEY: env['PATCHBOARD_KEY'] ?? '' };
    const refused = await place.run('mcp config --client gemini --http --key g'.split(' '), agent);
    expect(JSON.parse(refused.out)).toEqual({
      mcpServers: { pb: { httpUrl: `${url}/mcp`, headers: { Authorization: 'Bearer YOUR_KEY' } } },
    });
    expect(refused.error).toContain(
      'patchboard keys create --kind agent --name g --scope tools:call --scope calls:read',
    );
    expect(await keysAt(place)).toHaveLength(1);
    const token = await readFile(join(place.data, 'operator.token'), 'utf8');
    for (const { out } of [made, http, refused]) expect(out).not.toContain(token.trim());
    await stop();
  });
});
