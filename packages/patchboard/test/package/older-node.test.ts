import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, type Finished } from '../support/run-command.ts';
import { cleanEnvironment } from '../support/server-process.ts';
import { installPackages } from './installed.ts';

interface OtherNode {
  readonly path: string;
  readonly version: string;
  readonly args: readonly string[];
}

const PRETENDED = '20.0.0';
const PRETENCE = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${PRETENDED}' } })`;

/** One of the system that is too old; where there is none, our own that takes itself for one. */
function olderNode(): OtherNode {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'node');
    if (folder.includes('node_modules') || !existsSync(path)) continue;
    const version = execFileSync(path, ['--version'], { encoding: 'utf8' }).trim().slice(1);
    if (Number.parseInt(version, 10) < 24) return { path, version, args: [] };
  }
  const args = ['--import', `data:text/javascript,${encodeURIComponent(PRETENCE)}`];
  return { path: process.execPath, version: PRETENDED, args };
}

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
