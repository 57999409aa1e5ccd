import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  Agent,
  createPatchboard,
  formatRequest,
  sqlite,
  textDialect,
  type Patchboard,
  type PolicyDocument,
  type ToolCallRecord,
} from '../../src/index.ts';
import { scriptedModels } from '../../src/testing/index.ts';

const ALLOW: PolicyDocument = { default: { mode: 'auto', autoAllowTools: ['fs_*', 'bash_*'] } };

/** The tools as an agent uses them: through the engine, in the real sandbox. */
describe('the workspace tools', () => {
  let board: Patchboard;
  let folder: string;
  let root: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'patchboard-tools-'));
    root = join(folder, 'workspace');
    board = await createPatchboard({
      store: sqlite(join(folder, 'data')),
      workspace: { root, create: true },
      policy: ALLOW,
    });
  });

  afterAll(async () => {
    await board.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function call(name: string, args: unknown, runId = 'run_1'): Promise<ToolCallRecord> {
    return await board.call(name, args, { runId });
  }

  async function result<T = Record<string, unknown>>(name: string, args: unknown): Promise<T> {
    const record = await call(name, args);
    expect(record).toMatchObject({ state: 'COMPLETED', sandbox: 'bubblewrap' });
    return record.result as T;
  }

  /** Changes the file from outside the run. */
  function change(path: string, content: string): void {
    execFileSync('sh', ['-c', 'printf %s "$2" > "$1"', 'sh', join(root, path), content]);
  }

  it('take the other names of parameters over text too', async () => {
    const models = await scriptedModels([
      formatRequest({ toolName: 'fs_write', args: { file_path: 'alias.txt', contents: 'old' } }),
      formatRequest({
        toolName: 'fs_edit',
        args: { file_path: 'alias.txt', old_string: 'old', new_string: 'new' },
      }),
      formatRequest({ toolName: 'bash_run', args: { cmd: 'cat alias.txt', timeout: '9000' } }),
      'ok',
    ]);
    onTestFinished(() => models.close());
    const model = createOpenAI({ baseURL: models.baseUrl, apiKey: 'none' }).chat('scripted');
    const agent = new Agent({ board, model, dialect: textDialect() });
    const { calls } = await agent.send('Write, edit and print.');
    expect(calls.map(({ state, error }) => error ?? state)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
    expect(calls[2]?.result).toMatchObject({ stdout: 'new' });
  });

  it('are twelve in a board with agents, each with a description', () => {
    const tools = board.tools({ tag: 'workspace' });
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      'bash_kill',
      'bash_logs',
      'bash_run',
      'fs_edit',
      'fs_glob',
      'fs_grep',
      'fs_multi_edit',
      'fs_read',
      'fs_write',
      'task_run',
      'todo_read',
      'todo_write',
    ]);
  });

  it('require approval to write or run, and none to read, unless a policy decides otherwise', async () => {
    const careful = await createPatchboard({ workspace: {} });
    const states = async (name: string, args: unknown): Promise<string> =>
      (await careful.invoke(name, args)).state;
    expect(await states('bash_run', { command: 'ls' })).toBe('APPROVAL_REQUIRED');
    expect(await states('fs_write', { path: 'a', content: '' })).toBe('APPROVAL_REQUIRED');
    expect(await states('fs_edit', { path: 'a', edits: [{ old: 'a', new: 'b' }] })).toBe('APPROVAL_REQUIRED');
    expect(await states('fs_multi_edit', { edits: [{ path: 'a', old: 'a', new: 'b' }] })).toBe(
      'APPROVAL_REQUIRED',
    );
    expect((await careful.call('fs_glob', { pattern: '*' })).state).toBe('COMPLETED');
    await careful.close();
  });

  it('write and read text by lines, with the folders it needs', async () => {
    const text = 'one\ntwo\r\nthree\nvier 🦊';
    expect(await result('fs_write', { path: 'deep/er/text.txt', content: text })).toEqual({
      path: 'deep/er/text.txt',
      size: Buffer.byteLength(text),
      created: true,
    });
    const whole = { path: 'deep/er/text.txt', lineCount: 4, size: Buffer.byteLength(text), encoding: 'utf8' };
    expect(await result('fs_read', { path: 'deep/er/text.txt' })).toEqual({
      ...whole,
      content: text,
      truncated: false,
    });
    expect(await result('fs_read', { path: './deep//er/text.txt', offset: 2, limit: 2 })).toEqual({
      ...whole,
      content: 'two\r\nthree\n',
      truncated: true,
    });
    expect((await result('fs_read', { path: 'deep/er/text.txt', offset: 9 }))['content']).toBe('');
    expect(await result('fs_write', { path: 'empty', content: '' })).toMatchObject({ size: 0 });
    expect(await result('fs_read', { path: 'empty' })).toMatchObject({
      content: '',
      lineCount: 0,
      truncated: false,
    });
  });

  it('read images and binary files as base64, and refuse to return bytes as text', async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
    await writeFile(join(root, 'dot.png'), bytes);
    await writeFile(join(root, 'blob.bin'), bytes);
    expect(await result('fs_read', { path: 'dot.png' })).toMatchObject({
      encoding: 'base64',
      mediaType: 'image/png',
      content: bytes.toString('base64'),
    });
    expect(await call('fs_read', { path: 'blob.bin' })).toMatchObject({
      state: 'FAILED',
      error: 'blob.bin is not UTF-8 text; encoding base64 reads its bytes',
    });
    expect((await result('fs_read', { path: 'blob.bin', encoding: 'base64' }))['content']).toBe(
      bytes.toString('base64'),
    );
  });

  it('cut a large file at a character and say so', async () => {
    await writeFile(join(root, 'large.txt'), '中'.repeat(200_000));
    const read = await result<{ content: string; truncated: boolean; size: number }>('fs_read', {
      path: 'large.txt',
    });
    expect(read).toMatchObject({ truncated: true, size: 600_000 });
    expect(read.content).toMatch(/^中+$/);
  });

  it('edit literally, return a diff, and accept both families of parameter names', async () => {
    await result('fs_write', { file_path: 'a.js', content: 'let a = 1;\nlet b = 2;\n' });
    expect(await result('fs_edit', { path: 'a.js', edits: [{ old: 'a = 1', new: 'a = $&' }] })).toEqual({
      path: 'a.js',
      replacements: 1,
      diff: '--- a/a.js\n+++ b/a.js\n@@ -1,2 +1,2 @@\n-let a = 1;\n+let a = $&;\n let b = 2;\n',
    });
    await result('fs_edit', { file_path: 'a.js', old_string: '$&', new_string: '$1', replace_all: false });
    await result('fs_edit', {
      path: 'a.js',
      edits: [{ old_string: 'let', new_string: 'const', replace_all: true }],
    });
    expect(await readFile(join(root, 'a.js'), 'utf8')).toBe('const a = $1;\nconst b = 2;\n');
    expect(await result('bash_run', { cmd: 'cat a.js' })).toMatchObject({
      stdout: 'const a = $1;\nconst b = 2;\n',
    });
  });

  it('refuse what is not in the schema, and say where', async () => {
    await expect(call('fs_edit', { path: 'a.js', edits: [] })).rejects.toThrow(/edits/);
    await expect(call('fs_read', { pth: 'a.js' })).rejects.toThrow(/path|pth/);
    await expect(call('bash_run', { command: '' })).rejects.toThrow(/command/);
    await expect(call('fs_write', { path: 'a', file_path: 'b', content: '' })).rejects.toThrow(/file_path/);
  });

  it('edit several files or none', async () => {
    await result('fs_write', { path: 'm/one.txt', content: 'one' });
    await result('fs_write', { path: 'm/two.txt', content: 'two' });
    const edits = [
      { path: 'm/one.txt', old: 'one', new: '1' },
      { path: 'm/two.txt', old: 'gone', new: '2' },
    ];
    expect(await call('fs_multi_edit', { edits })).toMatchObject({
      state: 'FAILED',
      error: 'm/two.txt, edits/1: old is not in the file',
    });
    expect(await readFile(join(root, 'm/one.txt'), 'utf8')).toBe('one');
    edits[1]!.old = 'two';
    expect(await result('fs_multi_edit', { edits })).toMatchObject({
      files: [
        { path: 'm/one.txt', replacements: 1 },
        { path: 'm/two.txt', replacements: 1 },
      ],
    });
    expect(await readFile(join(root, 'm/two.txt'), 'utf8')).toBe('2');
    const shared = [
      { old: '1', new: 'x' },
      { old: 'x', new: 'y' },
    ];
    expect(await result('fs_multi_edit', { path: 'm/one.txt', edits: shared })).toMatchObject({
      files: [{ replacements: 2 }],
    });
    expect(await call('fs_multi_edit', { edits: shared })).toMatchObject({
      state: 'FAILED',
      error: 'edits/0 names no path, and there is none for all',
    });
  });

  it('are atomic: a folder that cannot be written leaves every file unchanged', async () => {
    await result('fs_write', { path: 'half/free.txt', content: 'free' });
    await result('fs_write', { path: 'half/shut/held.txt', content: 'held' });
    await result('bash_run', { command: 'chmod 500 half/shut' });
    const edits = [
      { path: 'half/free.txt', old: 'free', new: 'changed' },
      { path: 'half/shut/held.txt', old: 'held', new: 'changed' },
    ];
    expect(await call('fs_multi_edit', { edits })).toMatchObject({
      state: 'FAILED',
      code: 'permission_denied',
    });
    expect(await readFile(join(root, 'half/free.txt'), 'utf8')).toBe('free');
    const { stdout } = await result<{ stdout: string }>('bash_run', {
      command: 'ls -A half half/shut; chmod 700 half/shut',
    });
    expect(stdout).not.toContain('patchboard');
  });

  it('refuse to change what someone else changed since it was read, and keep their own changes fresh', async () => {
    await result('fs_write', { path: 'fresh.txt', content: 'one' });
    await result('fs_edit', { path: 'fresh.txt', edits: [{ old: 'one', new: 'two' }] });
    change('fresh.txt', 'two, by someone else');
    const said = 'fresh.txt has changed since this run read it: read it again first';
    const stale = { state: 'FAILED', code: 'conflict', error: said };
    expect(await call('fs_edit', { path: 'fresh.txt', edits: [{ old: 'two', new: 'x' }] })).toMatchObject(
      stale,
    );
    expect(await call('fs_write', { path: 'fresh.txt', content: 'x' })).toMatchObject(stale);
    expect(await readFile(join(root, 'fresh.txt'), 'utf8')).toBe('two, by someone else');
    await result('fs_read', { path: 'fresh.txt' });
    await result('fs_edit', { path: 'fresh.txt', edits: [{ old: 'two', new: 'x' }] });
    // Another run has seen nothing, so nothing is stale for it.
    const other = { path: 'fresh.txt', edits: [{ old: 'x', new: 'y' }] };
    expect(await call('fs_edit', other, 'run_2')).toMatchObject({ state: 'COMPLETED' });
    expect(await call('fs_edit', { path: 'fresh.txt', edits: [{ old: 'y', new: 'z' }] })).toMatchObject(
      stale,
    );
  });

  it('apply all parallel edits of one run', async () => {
    await result('fs_write', {
      path: 'many.txt',
      content: Array.from({ length: 20 }, (_, n) => `<${n}>`).join('\n'),
    });
    const records = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        call('fs_edit', { path: 'many.txt', edits: [{ old: `<${n}>`, new: `[${n}]` }] }),
      ),
    );
    expect(records.map(({ state }) => state)).toEqual(Array(20).fill('COMPLETED'));
    expect(await readFile(join(root, 'many.txt'), 'utf8')).not.toContain('<');
  });

  it('find files in order, without what git ignores', async () => {
    for (const path of ['g/b.ts', 'g/a.ts', 'g/c.js', 'g/dist/x.ts', 'g/.hidden/y.ts', 'g/gen.ts'])
      await result('fs_write', { path, content: 'needle\n' });
    await result('fs_write', { path: 'g/.gitignore', content: 'dist/\ngen.ts\n' });
    expect(await result('fs_glob', { pattern: 'g/**/*.ts' })).toEqual({
      paths: ['g/.hidden/y.ts', 'g/a.ts', 'g/b.ts'],
      truncated: false,
    });
    expect(await result('fs_glob', { pattern: '*.ts', path: 'g', exclude: '.hidden/**' })).toEqual({
      paths: ['g/a.ts', 'g/b.ts'],
      truncated: false,
    });
    expect(await result('fs_glob', { pattern: '*.ts', path: 'g', limit: 1 })).toMatchObject({
      truncated: true,
    });
    expect(await call('fs_glob', { pattern: 'a{b' })).toMatchObject({
      state: 'FAILED',
      code: 'input_invalid',
    });
  });

  it('search contents: patterns, plain text, flags, context and limits', async () => {
    await result('fs_write', { path: 's/a.txt', content: 'first\nNeedle (1)\nlast\nneedles\n' });
    const match = { path: 's/a.txt', line: 2, text: 'Needle (1)' };
    expect(await result('fs_grep', { pattern: String.raw`Needle \(\d\)`, path: 's' })).toEqual({
      matches: [match],
      truncated: false,
    });
    expect(await result('fs_grep', { pattern: 'Needle (1)', literal: true, path: 's', context: 1 })).toEqual({
      matches: [{ ...match, before: ['first'], after: ['last'] }],
      truncated: false,
    });
    expect(await result('fs_grep', { pattern: 'needle', flags: 'i', path: 's' })).toMatchObject({
      matches: [{}, {}],
    });
    expect(await result('fs_grep', { pattern: 'needle', flags: 'iw', path: 's' })).toMatchObject({
      matches: [match],
    });
    expect(await result('fs_grep', { pattern: 'e', path: 's', limit: 1 })).toMatchObject({ truncated: true });
    expect(await result('fs_grep', { pattern: 'first.*last', flags: 's', path: 's' })).toMatchObject({
      matches: [{ line: 1 }],
    });
    expect(await result('fs_grep', { pattern: '--help', path: 's' })).toEqual({
      matches: [],
      truncated: false,
    });
    expect(await call('fs_grep', { pattern: '(', path: 's' })).toMatchObject({
      state: 'FAILED',
      code: 'input_invalid',
    });
    expect(await call('fs_grep', { pattern: 'x', path: 'nowhere' })).toMatchObject({ state: 'FAILED' });
  });

  it('run commands with their output, exit code and folder', async () => {
    await result('fs_write', { path: 'sub/x', content: '' });
    expect(await result('bash_run', { command: 'pwd; echo oops >&2; exit 7', cwd: 'sub' })).toEqual({
      stdout: `${root}/sub\n`,
      stderr: 'oops\n',
      exitCode: 7,
      timedOut: false,
      stdoutTruncated: false,
      stderrTruncated: false,
    });
    expect(await result('bash_run', { command: 'sleep 60', timeout_ms: 100 })).toMatchObject({
      timedOut: true,
      exitCode: null,
    });
    expect(await result('bash_run', { command: 'true', cwd: 'nowhere' })).toMatchObject({ exitCode: 1 });
    expect(await call('bash_run', { command: 'true', network: true })).toMatchObject({
      state: 'FAILED',
      code: 'permission_denied',
    });
    expect(await call('bash_run', { command: 'true', timeout_ms: 700_000 })).toMatchObject({
      code: 'input_invalid',
    });
  });

  it('require approval for a dangerous command even if commands are allowed', async () => {
    const asked = await board.invoke('bash_run', { command: 'echo hi; rm -rf sub' }, { runId: 'run_1' });
    expect(asked).toMatchObject({
      state: 'APPROVAL_REQUIRED',
      approval: { reason: 'the command deletes whole folders (rm)' },
    });
    await board.decide(asked.id, 'deny', { note: 'not today' });
    expect(await board.wait(asked.id)).toMatchObject({ state: 'DENIED' });
  });

  it('keep commands in the background, with their own ids', async () => {
    const { pid, status } = await result<{ pid: string; status: string }>('bash_run', {
      command: 'echo up; sleep 60',
      run_in_background: true,
    });
    expect(status).toBe('running');
    expect(pid).toMatch(/^job_/);
    const log = await result('bash_logs', { pid, follow: true });
    expect(log).toEqual({ pid, status: 'running', exitCode: null, output: 'up\n', offset: 0, nextOffset: 3 });
    expect(await call('bash_logs', { pid }, 'run_2')).toMatchObject({ state: 'FAILED' });
    expect(await call('bash_kill', { pid }, 'run_2')).toMatchObject({ state: 'FAILED' });
    expect(await call('bash_kill', { pid: String(process.pid) })).toMatchObject({ state: 'FAILED' });
    expect(await result('bash_kill', { bash_id: pid })).toEqual({ pid, status: 'killed', exitCode: null });
    expect(await result('bash_logs', { pid })).toMatchObject({ status: 'killed', output: 'up\n' });
  });

  it('keep a todo list for each run, with one in progress, over restarts', async () => {
    const todos = [
      { id: '1', content: 'find it', status: 'completed' },
      { id: '2', content: 'mend it', status: 'in_progress' },
    ];
    expect((await call('todo_write', { todos })).result).toEqual({ todos });
    expect((await call('todo_read', {}, 'run_2')).result).toEqual({ todos: [] });
    const two = todos.map((todo) => ({ ...todo, status: 'in_progress' }));
    expect(await call('todo_write', { todos: two })).toMatchObject({
      state: 'FAILED',
      code: 'input_invalid',
      error: 'only one todo may be in_progress, not 2 (1, 2)',
    });
    expect(await call('todo_write', { todos: [todos[0], todos[0]] })).toMatchObject({
      code: 'input_invalid',
    });
    await expect(call('todo_write', { todos: [{ id: '1', content: 'x', status: 'done' }] })).rejects.toThrow(
      /status/,
    );
    await board.close();
    board = await createPatchboard({
      store: sqlite(join(folder, 'data')),
      workspace: { root, create: true },
      policy: ALLOW,
    });
    expect((await call('todo_read', {})).result).toEqual({ todos });
  });
});
