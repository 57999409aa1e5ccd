import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cleanEnvironment, CLI } from '../support/server-process.ts';
import { LONG, Workplace } from './cli-process.ts';

const REPLY = [
  'Two calls, one of them broken.',
  '<<<[TOOL_REQUEST]>>>',
  'tool_name:「始」directory-tree_listFiles「末」',
  'request_id:「始」first「末」',
  'path:「始」src/tools「末」',
  'depth:「始」2「末」',
  '<<<[END_TOOL_REQUEST]>>>',
  '<<<[TOOL_REQUEST]>>>',
  'tool_name:「始」FileOperator「末」,',
  'command:「始」ReadFile「末」,',
  'path:「始」src',
].join('\n');

/** The JSON of `parse` for a reply with errors, which ends with 1. */
async function reportOf<T>(place: Workplace, argv: readonly string[]): Promise<T> {
  const { code, out, error } = await place.run(['parse', ...argv, '--json']);
  expect([code, error]).toEqual([1, '']);
  return JSON.parse(out) as T;
}

describe('patchboard parse', { timeout: LONG }, () => {
  let place: Workplace;
  beforeAll(async () => {
    place = await Workplace.create();
    await writeFile(join(place.folder, 'reply.txt'), REPLY);
    const schema = { type: 'object', properties: { path: { type: 'string' }, depth: { type: 'integer' } } };
    const tools = [{ name: 'directory-tree_listFiles', schema }];
    await writeFile(join(place.folder, 'tools.json'), JSON.stringify({ tools }));
    await writeFile(join(place.folder, 'bad.json'), '[{"nam');
  });
  afterAll(() => place.remove());

  it('keeps its exit code when the reader of its output is gone', async () => {
    const argv = [CLI, 'parse', join(place.folder, 'reply.txt')];
    const child = spawn(process.execPath, argv, {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: cleanEnvironment(),
    });
    child.stdout.destroy();
    expect(await once(child, 'exit')).toEqual([1, null]);
  });

  it('keeps its exit code when the reader of its messages is gone', async () => {
    const argv = [CLI, 'parse', join(place.folder, 'nothing.txt')];
    const child = spawn(process.execPath, argv, {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: cleanEnvironment(),
    });
    child.stderr.destroy();
    expect(await once(child, 'exit')).toEqual([2, null]);
  });

  it('prints the calls of a reply and what is wrong with it, without a server', async () => {
    const report = await reportOf(place, ['--protocol', 'vcp', join(place.folder, 'reply.txt')]);
    expect(report).toEqual({
      requests: [
        {
          requestId: 'first',
          toolName: 'directory-tree_listFiles',
          args: { path: 'src/tools', depth: '2' },
          line: 2,
          column: 1,
        },
      ],
      errors: [
        {
          code: 'value_unclosed',
          message: 'the value of "path" is not closed: write 「末」 right after it',
          reasons: [{ code: 'value_unclosed', params: { key: 'path', mark: '「末」' } }],
          line: 11,
          column: 6,
        },
      ],
    });
  });

  it('reads arguments as the schemas of a file want them', async () => {
    const argv = ['--tools', join(place.folder, 'tools.json'), join(place.folder, 'reply.txt')];
    const { requests } = await reportOf<{ requests: unknown[] }>(place, argv);
    expect(requests).toMatchObject([
      {
        args: { path: 'src/tools', depth: 2 },
        arguments: [
          { name: 'path', raw: 'src/tools', type: 'string', value: 'src/tools', status: 'kept' },
          { name: 'depth', raw: '2', type: 'integer', value: 2, status: 'coerced' },
        ],
      },
    ]);
  });

  it('says of a tool that the file does not have which one was meant', async () => {
    const reply = join(place.folder, 'misspelt.txt');
    await writeFile(reply, REPLY.split('\n').slice(0, 7).join('\n').replace('listFiles', 'listFile'));
    const argv = ['--tools', join(place.folder, 'tools.json'), reply];
    expect((await reportOf<{ errors: unknown[] }>(place, argv)).errors).toEqual([
      {
        code: 'tool_not_found',
        message: 'tool not found: directory-tree_listFile; did you mean directory-tree_listFiles?',
        reasons: [
          {
            code: 'tool_unknown_near',
            params: { tool: 'directory-tree_listFile', meant: 'directory-tree_listFiles' },
          },
        ],
        line: 2,
        column: 1,
      },
    ]);
  });

  it('prints it for people too', async () => {
    const { out, code } = await place.run(['parse', join(place.folder, 'reply.txt')]);
    expect(code).toBe(1);
    expect(out).toContain('2:1  directory-tree_listFiles  first');
    expect(out).toContain('11:6  value_unclosed');
  });

  it('exits with 0 for a reply without errors', async () => {
    const reply = join(place.folder, 'good.txt');
    await writeFile(reply, REPLY.split('\n').slice(0, 7).join('\n'));
    expect(await place.json(['parse', reply])).toMatchObject({
      requests: [{ requestId: 'first' }],
      errors: [],
    });
  });

  it('says in one line which file cannot be used', async () => {
    const missing = await place.run(['parse', join(place.folder, 'nothing.txt')]);
    expect(missing).toMatchObject({ code: 2, error: expect.stringContaining('cannot read') as string });
    const bad = await place.run([
      'parse',
      '--tools',
      join(place.folder, 'bad.json'),
      join(place.folder, 'reply.txt'),
    ]);
    expect(bad).toMatchObject({ code: 2, error: expect.stringContaining('is not JSON') as string });
    const unknown = await place.run(['parse', '--protocol', 'smoke']);
    expect(unknown).toMatchObject({ code: 2, error: expect.stringContaining('vcp') as string });
  });
});

describe('patchboard tools export', { timeout: LONG }, () => {
  it('prints the tools of a server in the format of a vendor, and a prompt as text', async () => {
    const place = await Workplace.create();
    const stop = await place.serve();
    try {
      const { tools } = await place.json<{ tools: { name: string }[] }>([
        'tools',
        'export',
        '--format',
        'anthropic',
      ]);
      expect(tools.map(({ name }) => name)).toContain('calculation__eval');
      const { out } = await place.run(['tools', 'export', '--format', 'vcp']);
      expect(out).toContain('tool_name:「始」calculation.eval「末」');
      const file = join(place.folder, 'tools.json');
      await writeFile(file, (await place.run(['tools', 'export', '--format', 'mcp'])).out);
      const reply = join(place.folder, 'reply.txt');
      await writeFile(
        reply,
        ['calculation.eval', 'calculation__eval']
          .map((name) => `<<<[TOOL_REQUEST]>>>tool_name:「始」${name}「末」<<<[END_TOOL_REQUEST]>>>`)
          .join('\n'),
      );
      const argv = ['--tools', file, reply];
      const report = await reportOf<{ requests: unknown[]; errors: unknown[] }>(place, argv);
      const request = { toolName: 'calculation.eval' };
      expect(report.requests).toMatchObject([request, request]);
      const error = { code: 'input_invalid', message: '"expression" is required' };
      expect(report.errors).toMatchObject([error, error]);
    } finally {
      await stop();
      await place.remove();
    }
  });
});
