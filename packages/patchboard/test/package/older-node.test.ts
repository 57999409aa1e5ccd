import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, type Finished } from '../support/run-command.ts';
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
});
