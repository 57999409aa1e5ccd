import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '@patchboard/client';
import { createPatchboard, tool, type Patchboard } from '../../src/index.ts';
import { LONG, Workplace } from './cli-process.ts';

let place: Workplace;
let board: Patchboard;
let url: string;

beforeAll(async () => {
  place = await Workplace.create();
  board = await createPatchboard({
    tools: [tool('notes.add', () => 'added')],
    resources: {
      resources: [
        { uri: 'notes://a', name: 'a', mimeType: 'text/plain', read: () => 'first\r\n\u001b[31mred' },
        { uri: 'notes://b', name: 'b', description: 'Bytes.', read: () => ({ blob: 'AAEC' }) },
      ],
      resourceTemplates: [
        { uriTemplate: 'notes://page/{page}', name: 'page', read: ({ page = '' }) => `page ${page}` },
      ],
      prompts: [
        {
          name: 'greet',
          description: 'Says hello.',
          arguments: [{ name: 'who', required: true, complete: () => ['Ada'] }, { name: 'tone' }],
          get: ({ who, tone = 'plain' }) => ({
            messages: [
              { role: 'user', content: `hello ${who}, ${tone}` },
              { role: 'assistant', content: { type: 'resource_link', uri: 'notes://a', name: 'a' } },
            ],
          }),
        },
      ],
    },
  });
  ({ url } = await board.listen({ port: 0 }));
  place.environment = { ...place.environment, PATCHBOARD_URL: url };
}, LONG);

afterAll(async () => {
  await board.close();
  await place.remove();
}, LONG);

describe('resources at the command line', { timeout: LONG }, () => {
  it('are listed with the templates, and read', async () => {
    const list = await place.run(['resources']);
    expect(list.out).toContain('notes://page/{page}');
    expect(list.out).toMatch(/notes:\/\/b +Bytes\./);
    const read = await place.run(['resources', 'read', 'notes://a']);
    // The contents, unchanged: of a file with Windows line ends, nothing else would be that file.
    expect(read).toMatchObject({ code: 0, out: 'first\r\n\u001b[31mred\n' });
    const shown = await place.terminal([], ['resources', 'read', 'notes://a']);
    expect(shown.transcript).toContain(String.raw`first\u000d`);
    expect(shown.transcript).toContain(String.raw`\u001b[31mred`);
    const none = await place.run(['resources', 'read', 'notes://none']);
    expect(none.code).toBe(5);
    expect(none.error).toContain('no resource has the URI notes://none');
  });
});

describe('prompts at the command line', { timeout: LONG }, () => {
  it('are listed with their arguments, and become messages', async () => {
    const list = await place.run(['prompts', 'ls']);
    expect(list.out).toMatch(/greet +who \[tone\] +Says hello\./);
    const got = await place.run(['prompts', 'get', 'greet', 'who=Ada']);
    expect(got.out).toContain('user:\nhello Ada, plain\nassistant:\n');
    const missing = await place.run(['prompts', 'get', 'greet']);
    expect(missing.code).toBe(2);
    expect(missing.error).toContain('the argument who is required');
  });
});

describe('resources in the TypeScript client', () => {
  it('are listed, read and completed', async () => {
    const { resources } = createClient({ url });
    const uris: string[] = [];
    for await (const { uri } of resources.list({ limit: 1 })) uris.push(uri);
    expect(uris).toEqual(['notes://a', 'notes://b']);
    expect(await resources.read('notes://page/a%20b')).toEqual([
      { uri: 'notes://page/a%20b', text: 'page a b' },
    ]);
    expect((await resources.templates().page()).items.map(({ name }) => name)).toContain('page');
    expect((await resources.prompts().page()).items[0]).toMatchObject({
      name: 'greet',
      arguments: [
        { name: 'who', required: true },
        { name: 'tone', required: false },
      ],
    });
    expect((await resources.prompt('greet', { who: 'Ada' })).messages).toHaveLength(2);
    await expect(resources.prompt('greet')).rejects.toMatchObject({ code: 'input_invalid' });
    const question = { of: { prompt: 'greet' }, name: 'who', value: '' };
    expect(await resources.complete(question)).toEqual({ values: ['Ada'], total: 1, has_more: false });
    const of = { uriTemplate: 'patchboard://tools/{name}' };
    expect((await resources.complete({ of, name: 'name', value: 'notes' })).values).toEqual(['notes.add']);
  });
});
