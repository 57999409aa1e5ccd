import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../../test/support/a-folder.ts';
import { aModule, serveWith } from '../../test/support/modules.ts';
import { loadHooks } from './hook-modules.ts';
import { ConfigError } from '../settings/config-file.ts';

describe('hooks of a server', () => {
  it('apply to every API: a module named in the config can deny a call', async () => {
    const hooks = await aModule(
      'deny.mjs',
      `export const hooks = { preToolUse: (call) => call.name === 'calculation.eval' && call.args.expression.includes('666')
        ? { decision: 'deny', reason: 'not that number' } : undefined };`,
    );
    const { url } = await serveWith({ hooks: [hooks] });
    const invoke = async (expression: string): Promise<Response> =>
      await fetch(`${url}/v1/tools/calculation.eval/invoke`, {
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
    const path = text === null ? join(await aFolder(), name) : await aModule(name, text);
    await expect(loadHooks([path])).rejects.toThrow(ConfigError);
    await expect(loadHooks([path])).rejects.toThrow(message);
  });
});
