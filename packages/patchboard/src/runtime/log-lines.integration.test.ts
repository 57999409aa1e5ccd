import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MODULE = new URL('./log-lines.ts', import.meta.url).href;

/** A process that logs and ends at once, by itself or by `process.exit`. */
async function lastWords(ending: string): Promise<string> {
  const source = `
    const { bufferedLines } = await import('${MODULE}');
    const lines = bufferedLines(2);
    lines.write('one\\n');
    lines.write('two\\n');
    ${ending}`;
  const args = ['--conditions=patchboard-source', '--input-type=module', '--eval', source];
  // With one thread for files there is none left over that would happen to write in time.
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
  const { stderr } = await promisify(execFile)(process.execPath, args, { env });
  return stderr;
}

it.each([
  ['ends by itself', ''],
  ['is told to exit', 'process.exit(0);'],
])('loses no line of a process that %s', async (_title, ending) => {
  expect(await lastWords(ending)).toBe('one\ntwo\n');
});
