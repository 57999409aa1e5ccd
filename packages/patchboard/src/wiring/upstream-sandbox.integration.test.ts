import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { aFolder } from '../../test/support/a-folder.ts';
import type { StdioTransportSettings } from '../sources/mcp/mcp-upstream-settings.ts';
import { resolveWorkspace } from './sandbox-setup.ts';
import { upstreamSandbox } from './upstream-sandbox.ts';

const TRANSPORT: StdioTransportSettings = {
  kind: 'stdio',
  command: 'bash',
  args: [],
  env: {},
  cwd: null,
  sandbox: { network: false, readable: [] },
};

/** What a script prints inside the sandbox of an upstream. */
async function printed(script: string, folder: string): Promise<string> {
  const surroundings = { workspace: resolveWorkspace({}), dataFolder: folder };
  const wrap = await upstreamSandbox('files', TRANSPORT, surroundings);
  if (wrap === null) throw new Error('there is a sandbox setting, so there must be a sandbox');
  const { command, args } = wrap('bash', ['-c', script]);
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', TOKEN: 'a-secret' };
  const child = spawn(command, [...args], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end('a line\n');
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  expect(args.join(' ')).not.toContain('a-secret');
  return output;
}

it('reads its standard input at once, has its variables, changes its own folder and sees no other', async () => {
  const folder = await aFolder();
  await writeFile(join(folder, 'operator.token'), 'a token');
  const script = `read -r line; echo "$line $TOKEN"; echo x > made; ls; cat ${join(folder, 'operator.token')} 2>&1`;
  const output = await printed(script, folder);
  expect(output).toContain('a line a-secret\nmade\n');
  expect(output).toContain('No such file');
});

it('is not used where the upstream has no sandbox setting', async () => {
  const surroundings = { workspace: resolveWorkspace({}), dataFolder: await aFolder() };
  expect(await upstreamSandbox('files', { ...TRANSPORT, sandbox: null }, surroundings)).toBeNull();
});

it('refuses the start where this machine has no sandbox', async () => {
  const workspace = resolveWorkspace({ searchPath: '/nowhere' });
  await expect(
    upstreamSandbox('files', TRANSPORT, { workspace, dataFolder: await aFolder() }),
  ).rejects.toThrow(/^upstreams\.files\.sandbox: /);
});

it('refuses to let the process read the data folder', async () => {
  const dataFolder = await aFolder();
  for (const readable of [dataFolder, dirname(dataFolder)]) {
    const transport = { ...TRANSPORT, sandbox: { network: false, readable: [readable] } };
    await expect(
      upstreamSandbox('files', transport, { workspace: resolveWorkspace({}), dataFolder }),
    ).rejects.toThrow(`upstreams.files.sandbox.readable: ${readable} contains the data folder`);
  }
});

it('refuses a working folder that contains the data folder', async () => {
  const dataFolder = await aFolder();
  const cwd = dirname(dataFolder);
  await expect(
    upstreamSandbox('files', { ...TRANSPORT, cwd }, { workspace: resolveWorkspace({}), dataFolder }),
  ).rejects.toThrow(`upstreams.files.cwd: ${cwd} contains the data folder`);
});

it('may read a folder beside the data folder', async () => {
  const readable = await aFolder();
  const transport = { ...TRANSPORT, sandbox: { network: false, readable: [readable] } };
  const surroundings = { workspace: resolveWorkspace({}), dataFolder: await aFolder() };
  expect(await upstreamSandbox('files', transport, surroundings)).toBeTypeOf('function');
});
