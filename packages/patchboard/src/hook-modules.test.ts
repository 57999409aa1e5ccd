import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from './settings/config-file.ts';
import { resolveSettings } from './settings/settings.ts';
import { loadHooks } from './hook-modules.ts';
import { startPlatform } from './platform.ts';

describe('hooks of a server', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchboard-hooks-'));
  });
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function module(name: string, text: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  }

  it('guard every face: a module named in the config can deny a call', async () => {
    const hooks = await module(
      'deny.mjs',
      `export const hooks = { preToolUse: (call) => call.name === 'calculation.eval' && call.args.expression.includes('666')
        ? { decision: 'deny', reason: 'not that number' } : undefined };`,
    );
    const config = await module('config.yaml', `hooks: ['${hooks}']\n`);
    const settings = resolveSettings({}, { port: '0', data: join(folder, 'data'), config });
    const platform = await startPlatform(settings, { info: () => {}, warn: () => {}, error: () => {} });
    try {
      const invoke = async (expression: string): Promise<Response> =>
        await fetch(`${platform.url}/v1/tools/calculation.eval/invoke`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', prefer: 'wait=10' },
          body: JSON.stringify({ run_id: 'r', args: { expression } }),
        });
      const denied = await invoke('600+66*1-666');
      expect([denied.status, await denied.json()]).toMatchObject([
        403,
        { code: 'hook_denied', detail: 'permission denied: not that number' },
      ]);
      expect(await (await invoke('6*7')).json()).toMatchObject({ result: { value: 42 } });
    } finally {
      await platform.close();
    }
  });

  it.each([
    ['a file that is not there', 'missing.mjs', null, 'cannot be loaded'],
    ['a module without hooks', 'none.mjs', 'export const other = 1;', 'exports no hooks'],
    [
      'hooks that are no functions',
      'odd.mjs',
      'export default { preToolUse: 1 };',
      'preToolUse must be a function',
    ],
    [
      'a hook that is misspelt',
      'misspelt.mjs',
      'export const hooks = { preToolUSe: () => {} };',
      'did you mean preToolUse?',
    ],
  ])('refuse %s in one line', async (_title, name, text, message) => {
    const path = text === null ? join(folder, name) : await module(name, text);
    await expect(loadHooks([path])).rejects.toThrow(ConfigError);
    await expect(loadHooks([path])).rejects.toThrow(message);
  });
});
