import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { blocksOf } from '../packages/patchboard/test/readme/markdown.ts';
import type { ClientRun } from './client-run.ts';
import { program } from './program.ts';

const GUIDE = new URL('../docs/guides/mcp.md', import.meta.url);
const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const MARK = 'npm run interop';

/** Runs the program of the guide that imports the package, and compares its output with what the guide shows. */
export function guideProgram(era: ClientRun['era'], packageName: string): ClientRun {
  return {
    era,
    transport: 'http',
    does: 'the program in the guide',
    run: async ({ url }) => {
      const blocks = blocksOf(await readFile(GUIDE, 'utf8')).filter(({ mark }) => mark === MARK);
      const at = blocks.findIndex(({ code }) => code.includes(`from '${packageName}'`));
      const [shown, output] = blocks.slice(at, at + 2);
      assert.ok(at !== -1 && shown !== undefined && output !== undefined, `the guide has no ${packageName}`);
      // Inside this folder, where the packages are installed.
      const folder = await mkdtemp(join(FOLDER, '.guide-'));
      try {
        const file = join(folder, 'program.ts');
        await writeFile(file, shown.code.replaceAll('http://127.0.0.1:8080', url));
        assert.equal((await program(file, [])).trim(), output.code);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}
