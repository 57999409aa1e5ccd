import { existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aBoard } from '../../test/support/a-board.ts';
import { aFolder } from '../../test/support/a-folder.ts';
import { createPatchboard, sqlite, tool, type WorkspaceOptions } from '../index.ts';

function refusal(message: string): object {
  return {
    name: 'BoardError',
    failure: { code: 'body_invalid', message: expect.stringContaining(message) as string },
  };
}

describe('the workspace of a board', () => {
  it.each<[string, unknown, string]>([
    ['a path alone', './files', "workspace must be an object; it is './files'"],
    ['a flag', true, 'workspace must be an object; it is true'],
    ['a misspelt member', { roots: './files' }, 'workspace.roots is not known; did you mean root?'],
    ['a root that is no text', { root: 1 }, 'workspace.root must be the path of a folder; it is 1'],
    ['an empty root', { root: ' ' }, 'workspace.root must be the path of a folder'],
    ['a network that is no flag', { network: 'yes' }, "workspace.network must be true or false; it is 'yes'"],
    [
      'one folder in place of a list',
      { readable: '/opt' },
      "workspace.readable must be a list: write ['/opt']",
    ],
    ['names in place of values', { environment: ['CI'] }, 'workspace.environment must be an object of texts'],
    [
      'values that are no texts',
      { environment: { CI: 1 } },
      'workspace.environment must be an object of texts',
    ],
    ['a limit of nothing', { limits: { timeoutMs: 0 } }, 'workspace.limits.timeoutMs must be a whole number'],
    ['an unknown limit', { limits: { timeout: 1 } }, 'workspace.limits.timeout is not known'],
  ])('is refused for %s', async (_what, workspace, message) => {
    const given = workspace as WorkspaceOptions;
    await expect(createPatchboard({ workspace: given })).rejects.toMatchObject(refusal(message));
  });

  it('requires a root that is an existing folder', async () => {
    const folder = await aFolder();
    const root = join(folder, 'repositroy');
    const missing = `workspace: root ${root} does not exist; make the folder, or set create: true`;
    await expect(createPatchboard({ workspace: { root } })).rejects.toMatchObject(refusal(missing));
    expect(existsSync(root)).toBe(false);
    writeFileSync(root, '');
    await expect(createPatchboard({ workspace: { root, create: true } })).rejects.toMatchObject(
      refusal(`workspace: root ${root} is not a folder`),
    );
  });

  it('may not show its commands the data folder, which has the store and the operator token', async () => {
    const folder = await aFolder();
    const data = join(folder, 'data');
    const link = join(await aFolder(), 'link');
    symlinkSync(folder, link);
    for (const [named, workspace] of [
      [`root ${folder}`, { root: folder }],
      [`root ${link}`, { root: link }],
      [`root ${data}`, { root: data, create: true }],
      [`readable ${folder}`, { readable: ['/usr', folder] }],
    ] as const)
      await expect(createPatchboard({ store: sqlite(data), workspace })).rejects.toMatchObject(
        refusal(`workspace: ${named} contains the data folder ${data}`),
      );
    const beside = { root: join(folder, 'files'), create: true, readable: [await aFolder()] };
    await aBoard({ store: sqlite(data), workspace: beside });
  });

  it('may be the parent of the temporary folder of a board without a store', async () => {
    await aBoard({ workspace: { root: tmpdir(), searchPath: '/nowhere' } });
  });

  it('creates its root with create: true', async () => {
    const root = join(await aFolder(), 'new', 'files');
    await aBoard({ workspace: { root, create: true } });
    expect(statSync(root).isDirectory()).toBe(true);
  });
});

describe('the limits of commands', () => {
  it('may leave the CPU time unlimited', async () => {
    await aBoard({ workspace: { limits: { cpuSeconds: Infinity } } });
    const unlimited = createPatchboard({ workspace: { limits: { jobMs: Infinity } } });
    await expect(unlimited).rejects.toMatchObject(refusal('workspace.limits.jobMs must be a whole number'));
  });
});

describe('context.services', () => {
  const look = tool('look', async (_args, { services }) => ({
    todos: (await services?.todo.list()) ?? 'none',
    seen: services?.filePool.seen('a') ?? 'nothing',
  }));

  it('is undefined without a workspace', async () => {
    const board = await aBoard({ tools: [look] });
    expect((await board.call('look')).result).toEqual({ todos: 'none', seen: 'nothing' });
  });

  it('is defined with a workspace', async () => {
    const board = await aBoard({ tools: [look], workspace: {} });
    expect((await board.call('look')).result).toEqual({ todos: [], seen: 'nothing' });
  });
});
