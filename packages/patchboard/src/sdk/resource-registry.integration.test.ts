import { afterEach, describe, expect, it } from 'vitest';
import { createPatchboard } from '../board/create-patchboard.ts';
import type { BoardOptions, Patchboard } from '../board/board-types.ts';
import type { Resource } from '../core/resources/resource.ts';
import { tool } from './tool.ts';
import { ResourceRegistry } from './resource-registry.ts';

const boards: Patchboard[] = [];
afterEach(async () => {
  for (const board of boards.splice(0)) await board.close();
});

async function aBoard(options: BoardOptions): Promise<Patchboard> {
  const board = await createPatchboard(options);
  boards.push(board);
  return board;
}

function note(uri: string): Resource {
  return { uri, name: uri, read: () => `read ${uri}` };
}

const code = (name: string) => ({ failure: { code: name } });

describe('resources of a board', () => {
  it('are listed, read and completed in process', async () => {
    const echo = tool({ name: 'echo', description: 'Returns its input.', execute: (args) => args });
    const board = await aBoard({
      tools: [echo],
      resources: {
        resources: [note('n:b'), note('n:a')],
        prompts: [{ name: 'greet', arguments: [{ name: 'who' }], get: ({ who }) => `hello ${who}` }],
      },
    });
    const { resources } = board;
    expect(resources.list().map(({ uri }) => uri)).toEqual(['n:a', 'n:b']);
    expect(resources.templates().map(({ name }) => name)).toEqual(['call', 'tool']);
    expect(resources.prompts().map(({ name }) => name)).toEqual(['greet', 'tools_as_text']);
    expect(await resources.read('n:a')).toEqual([{ uri: 'n:a', text: 'read n:a' }]);
    await expect(resources.read('n:none')).rejects.toMatchObject(code('resource_not_found'));
    expect(await resources.prompt('greet', { who: 'Ada' })).toEqual({
      messages: [{ role: 'user', content: { type: 'text', text: 'hello Ada' } }],
    });
    const { id: callId } = await board.call('echo', { n: 1 });
    const [record] = await resources.read(`patchboard://calls/${callId}`);
    expect(JSON.parse(record!.text!)).toMatchObject({ tool_call_id: callId, args: { n: 1 } });
    const of = { resourceTemplate: 'patchboard://calls/{tool_call_id}' };
    expect(await resources.complete({ of, name: 'tool_call_id', value: '' })).toEqual({
      values: [callId],
      total: 1,
      hasMore: false,
    });
  });

  it('follow a registry, all boards at once, and report updates', async () => {
    const registry = new ResourceRegistry({ resources: [note('n:a')] });
    const [one, two] = [await aBoard({ resources: registry }), await aBoard({ resources: registry })];
    registry.addResource(note('n:b'));
    registry.addResourceTemplate({ uriTemplate: 'n:x/{id}', name: 'x', read: ({ id = '' }) => id });
    for (const board of [one, two]) {
      expect(board.resources.list().map(({ uri }) => uri)).toEqual(['n:a', 'n:b']);
      expect(await board.resources.read('n:x/7')).toMatchObject([{ text: '7' }]);
    }
    let updates = 0;
    const stop = one.resources.watch('n:x/7', () => (updates += 1));
    registry.updated('n:x/7');
    registry.updated('n:x/8');
    stop();
    registry.updated('n:x/7');
    expect(updates).toBe(1);
    expect(registry.remove({ resources: ['n:a', 'n:none'] })).toMatchObject({ resources: ['n:a'] });
    await expect(two.resources.read('n:a')).rejects.toMatchObject(code('resource_not_found'));
    await one.close();
    registry.addResource(note('n:c'));
    expect(two.resources.list().map(({ uri }) => uri)).toEqual(['n:b', 'n:c']);
  });

  it('are refused as a whole, with the reason, and then not registered', async () => {
    const registry = new ResourceRegistry();
    const board = await aBoard({ resources: registry });
    const add = (resources: Resource[]) => () => registry.add({ resources });
    expect(add([note('n:a'), note('bad')])).toThrow(/resource bad: a URI has a scheme/);
    expect(add([note('n:a'), note('n:a')])).toThrow('registered twice: n:a');
    expect(add([note('patchboard://mine')])).toThrow(/reserved/);
    expect(registry.list().resources).toEqual([]);
    expect(board.resources.list()).toEqual([]);
    await expect(createPatchboard({ resources: { resources: [note('bad')] } })).rejects.toMatchObject(
      code('name_invalid'),
    );
    await expect(createPatchboard({ resources: [] as never })).rejects.toMatchObject(code('body_invalid'));
  });
});
