import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MODULE = new URL('./log-lines.ts', import.meta.url).href;

/** Runs a process that logs and then ends at once, and returns its stderr. */
async function stderrOf(ending: string): Promise<string> {
  const source = `
    const { bufferedLines } = await import('${MODULE}');
    const lines = bufferedLines(2);
    lines.write('one\\n');
    lines.write('two\\n');
    ${ending}`;
  const args = ['--conditions=patchboard-source', '--input-type=module', '--eval', source];
  // With a single I/O thread, no idle thread can happen to write the lines in time.
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
  const { stderr } = await promisify(execFile)(process.execPath, args, { env });
  return stderr;
}

it.each([
  ['ends by itself', ''],
  ['calls process.exit', 'process.exit(0);'],
])('loses no line of a process that %s', async (_title, ending) => {
  expect(await stderrOf(ending)).toBe('one\ntwo\n');
});
