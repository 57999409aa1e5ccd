import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CONSOLE_PAGES } from '@patchboard/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADD_COMMANDS, CONFIG_SAMPLE } from '../../../console/src/components/upstreams/add-commands.ts';
import { commands } from '../../src/cli/commands.ts';
import { processContext } from '../../src/cli/context.ts';
import { createOutput } from '../../src/cli/output.ts';
import { createProgram, runProgram } from '../../src/cli/program.ts';
import { resolveSettings } from '../../src/settings/settings.ts';
import { runCli } from '../support/run-cli.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-shown-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command that the console shows, without a connection to the upstream of the example. */
async function run(shown: string): Promise<void> {
  const words = shown.replace('~/.cursor/mcp.json', join(folder, 'mcp.json')).split(' ').slice(2);
  const options = words.includes('import') ? [] : ['--no-check'];
  const argv = [...words.slice(0, 3), ...options, ...words.slice(3)];
  let error = '';
  let set = 0;
  const stderr = { write: (text: string) => void (error += text) };
  const context = {
    ...processContext({ PATCHBOARD_DATA: join(folder, 'data') }),
    output: createOutput({ stdout: { write: () => undefined }, stderr, noColour: true }),
    canAsk: false,
    exitWith: (code: number) => void (set = code),
  };
  const streams = { out: () => undefined, error: stderr.write };
  const program = createProgram(await commands(context, argv), '0.0.0', streams);
  const code = (await runProgram(program, argv, streams)) ?? set;
  expect({ shown, code, error: code === 0 ? '' : error }).toEqual({ shown, code: 0, error: '' });
}

describe('what the console shows for adding an upstream', () => {
  it('are commands that add it', async () => {
    writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { docs: { command: 'docs' } } }));
    for (const { command } of ADD_COMMANDS) await run(command);
    const stored: unknown = JSON.parse(readFileSync(join(folder, 'data', 'upstreams.json'), 'utf8'));
    expect(stored).toMatchObject({
      upstreams: {
        github: { url: 'https://mcp.example.com/mcp' },
        files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/docs'] },
        docs: { command: 'docs' },
      },
      openapi: { shop: { description: resolve('shop.yaml') } },
    });
  });

  it('is a config that the server reads', () => {
    const config = join(folder, 'patchboard.yaml');
    writeFileSync(config, CONFIG_SAMPLE);
    const data = join(folder, 'other');
    const { upstreams } = resolveSettings(
      { GITHUB_TOKEN: 'token-1234', SHOP_KEY: 'key-1234' },
      { config, data },
    );
    expect(upstreams.mcp.map(({ name }) => name)).toEqual(['github', 'files']);
    expect(upstreams.openapi.map(({ name }) => name)).toEqual(['shop']);
  });
});

it('`patchboard open` knows the pages of the navigation, and no other', async () => {
  const { out } = await runCli(['open', '--help'], {});
  const [, pages = ''] = /or a page:\n([\s\S]+?)\nWith /.exec(out) ?? [];
  expect(pages.split(',').map((page) => page.trim())).toEqual([...CONSOLE_PAGES]);
});
