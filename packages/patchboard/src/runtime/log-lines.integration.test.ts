import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { aFolder } from '../../test/support/a-folder.ts';

const MODULE = new URL('./log-lines.ts', import.meta.url).href;
/** More than a pipe or a socket holds. */
const MANY = 20_000;
const manyLines = Array.from({ length: MANY }, (_, no) => `line ${no} of a process that ends\n`).join('');
const WRITE_MANY = `for (let no = 0; no < ${MANY}; no += 1) lines.write('line ' + no + ' of a process that ends\\n');`;

function nodeArgs(source: string): string[] {
  const code = `
    const { bufferedLines } = await import('${MODULE}');
    const lines = bufferedLines(2);
    ${BUSY}
    ${source}`;
  return ['--conditions=patchboard-source', '--input-type=module', '--eval', code];
}

/** With a single I/O thread that is busy, no thread can happen to write the lines in time. */
const BUSY = `(await import('node:crypto')).pbkdf2('', '', 300_000, 64, 'sha512', () => undefined);`;
const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };

/** Runs a process that logs, and returns its stderr. */
async function stderrOf(source: string): Promise<string> {
  const { stderr } = await promisify(execFile)(process.execPath, nodeArgs(source), {
    env,
    maxBuffer: 2 * manyLines.length,
  });
  return stderr;
}

/** Runs a process whose stderr is a pipe to a shell command, and returns what the command printed. */
async function piped(source: string, reader: string): Promise<string> {
  const script = `"$@" 2>&1 >/dev/null | { ${reader} ; }`;
  const all = ['-c', script, 'sh', process.execPath, ...nodeArgs(source)];
  const { stdout } = await promisify(execFile)('sh', all, { env, maxBuffer: 2 * manyLines.length });
  return stdout;
}

const ENDINGS = [
  ['ends by itself', ''],
  ['calls process.exit', 'process.exit(0);'],
] as const;

describe.each(ENDINGS)('a process that %s', (_title, ending) => {
  it('writes the lines that wait for the next flush', async () => {
    expect(await stderrOf(`lines.write('one\\n'); lines.write('two\\n'); ${ending}`)).toBe('one\ntwo\n');
  });

  it('writes each of many lines once and in order', async () => {
    expect((await stderrOf(WRITE_MANY + ending)) === manyLines).toBe(true);
  });

  it('does not wait for a slow reader before it ends, and then writes each line', async () => {
    const marker = join(await aFolder(), 'written');
    const source = `${WRITE_MANY} (await import('node:fs')).writeFileSync('${marker}', ''); ${ending}`;
    const reader = `until [ -e '${marker}' ]; do sleep 0.01; done; cat`;
    expect((await piped(source, reader)) === manyLines).toBe(true);
  });

  it('ends if the reader of a pipe is gone', async () => {
    const folder = await aFolder();
    const source = `
      const { existsSync, writeFileSync } = await import('node:fs');
      while (!existsSync('${folder}/closed'));
      process.on('exit', (code) => writeFileSync('${folder}/ended', String(code)));
      ${WRITE_MANY}
      ${ending}`;
    await piped(source, `exec <&-; : > '${folder}/closed'`);
    expect(await readFile(join(folder, 'ended'), 'utf8')).toBe('0');
  });

  it('ends if the reader of a socket is gone', async () => {
    const source = `process.stdin.resume().once('end', () => { ${WRITE_MANY} ${ending} });`;
    const child = spawn(process.execPath, nodeArgs(source), { env, stdio: ['pipe', 'ignore', 'pipe'] });
    child.stderr.destroy();
    await once(child.stderr, 'close');
    child.stdin.end();
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});

it('writes what was logged before a line that is written to the descriptor itself', async () => {
  expect(await stderrOf(`lines.write('one\\n'); lines.drain(); process.stderr.write('two\\n');`)).toBe(
    'one\ntwo\n',
  );
});
