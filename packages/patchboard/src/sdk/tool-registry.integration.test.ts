import { createClient } from '@patchboard/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { aBoard } from '../../test/support/a-board.ts';
import { createPatchboard, globalToolRegistry, tool, ToolRegistry, type ToolInstance } from '../index.ts';

class Upper implements ToolInstance {
  readonly name = 'upper';
  readonly description = 'Upper case';
  readonly input_schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
  exec({ text }: { text: string }): string {
    return text.toUpperCase();
  }
}

const one = tool('one', () => 1);
const two = tool('two', () => 2);

describe('ToolRegistry', () => {
  it('registers tools, instances and factories, lists them by source, and unregisters them', () => {
    const registry = new ToolRegistry();
    let made = 0;
    registry.register(one);
    registry.register('upper', () => (made++, new Upper()), { source: 'text' });
    registry.register(() => tool('lower', () => 0), { source: 'text' });
    expect(registry.list().map(({ name, source }) => [name, source])).toEqual([
      ['one', 'local'],
      ['upper', 'text'],
      ['lower', 'text'],
    ]);
    expect([registry.get('one'), registry.get('nothing')]).toEqual([one, undefined]);
    expect([registry.get('upper'), registry.get('upper')]).toEqual([expect.any(Upper), expect.any(Upper)]);
    expect(made).toBe(1);
    expect(registry.unregisterSource('text')).toEqual(['upper', 'lower']);
    expect(registry.unregisterSource('text')).toEqual([]);
    expect([registry.unregister('one'), registry.unregister('one')]).toEqual([true, false]);
    expect(registry.list()).toEqual([]);
  });

  it('does not change when a tool is only defined', () => {
    const before = globalToolRegistry.list().length;
    tool('defined.only', () => 1);
    expect(globalToolRegistry.list()).toHaveLength(before);
  });

  it('has a global instance that boards use only if it is passed to them', async () => {
    globalToolRegistry.register(one, { source: 'a test' });
    onTestFinished(() => void globalToolRegistry.unregisterSource('a test'));
    expect((await aBoard()).tools()).toEqual([]);
    const board = await aBoard({ tools: globalToolRegistry });
    expect((await board.call('one')).result).toBe(1);
  });

  it.each([
    ['a name outside the rule', 'name_invalid', () => ({ ...one, name: 'no spaces' })],
    ['a name of dots', 'name_invalid', () => ({ ...one, name: '..' })],
    ['no name', 'name_invalid', () => ({ ...one, name: undefined }) as never],
    ['a name in use', 'name_taken', () => tool('one', () => 2)],
    [
      'an invalid schema',
      'schema_invalid',
      () => tool({ name: 'x', parameters: { type: 'strnig' }, execute: () => 1 }),
    ],
    [
      'an invalid output schema',
      'schema_invalid',
      () => tool({ name: 'x', output: { $ref: '#/nowhere' }, execute: () => 1 }),
    ],
    [
      'a time limit that is too long for the board',
      'schema_invalid',
      () => tool({ name: 'x', metadata: { timeout: 86_400_001 }, execute: () => 1 }),
    ],
    [
      'contradictory metadata',
      'schema_invalid',
      () => tool({ name: 'x', metadata: { readonly: true, destructive: true }, execute: () => 1 }),
    ],
  ])('refuses %s as %s, on a running board and a new one', async (_what, code, make) => {
    const registry = new ToolRegistry();
    registry.register(one);
    const board = await aBoard({ tools: registry });
    expect(() => registry.register(make())).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ code }) }),
    );
    expect(registry.list()).toHaveLength(1);
    expect(board.tools().map(({ name }) => name)).toEqual(['one']);
    await expect(createPatchboard({ tools: [one, make()] })).rejects.toMatchObject({ failure: { code } });
  });

  it('refuses a name that is the wire name of another tool, until that tool is unregistered', () => {
    const registry = new ToolRegistry();
    registry.register(tool('a.b', () => 1));
    expect(() => registry.register(tool('a__b', () => 2))).toThrow('the name is the wire name of a.b');
    registry.unregister('a.b');
    expect(registry.register(tool('a__b', () => 2)).name).toBe('a__b');
  });

  it('refuses a value that is not a tool, and a factory that returns a tool with another name', () => {
    const registry = new ToolRegistry();
    expect(() => registry.register({ name: 'x' } as never)).toThrow(TypeError);
    expect(() => registry.register('x', undefined as never)).toThrow(TypeError);
    expect(() => registry.register('x', () => one)).toThrow('the factory for x makes a tool named one');
  });
});

describe('a board made from a registry', () => {
  it('adds and removes tools with the registry, with one event for each change', async () => {
    const registry = new ToolRegistry();
    registry.register(one);
    const board = await aBoard({ tools: registry });
    const { url } = await board.listen({ port: 0 });
    const events = createClient({ url }).events({ after: 0 });
    registry.register(two, { source: 'later' });
    expect((await board.call('two')).result).toBe(2);
    registry.unregisterSource('later');
    await expect(board.call('two')).rejects.toMatchObject({ failure: { code: 'tool_not_found' } });
    registry.register(two);
    const changes: unknown[] = [];
    for await (const { type, data } of events) {
      if (type === 'registry.changed') changes.push({ ...(data as object), at: '' });
      if (changes.length === 3) break;
    }
    expect(changes).toEqual([
      { registered: ['two'], at: '' },
      { removed: ['two'], at: '' },
      { registered: ['two'], at: '' },
    ]);
  });

  it('finishes running and queued calls of a tool that was unregistered', async () => {
    const begun: ((value: unknown) => void)[] = [];
    let bothBegun = (): void => {};
    const second = new Promise<void>((resolve) => (bothBegun = resolve));
    const slow = tool({
      name: 'slow',
      metadata: { concurrent: false },
      execute: () =>
        new Promise((resolve) => {
          if (begun.push(resolve) === 2) bothBegun();
        }),
    });
    const board = await aBoard({ tools: [slow] });
    const running = await board.invoke('slow');
    const queued = await board.invoke('slow');
    expect([running.state, queued.state]).toEqual(['EXECUTING', 'PENDING']);
    board.registry.unregister('slow');
    begun[0]!('done');
    expect(await board.wait(running.id)).toMatchObject({ state: 'COMPLETED', result: 'done' });
    await second;
    begun[1]!('done too');
    expect(await board.wait(queued.id)).toMatchObject({ state: 'COMPLETED', result: 'done too' });
  });

  it('does not run a call that is approved after its tool was unregistered', async () => {
    let ran = false;
    const risky = tool({ name: 'risky', metadata: { destructive: true }, execute: () => (ran = true) });
    const board = await aBoard({ tools: [risky] });
    const { id } = await board.invoke('risky');
    board.registry.unregister('risky');
    await board.decide(id, 'allow');
    expect(await board.wait(id)).toMatchObject({
      state: 'FAILED',
      code: 'tool_not_found',
      failure: { outcome: 'not_started' },
    });
    expect(ran).toBe(false);
  });

  it('does not take names of client tools', async () => {
    const board = await aBoard({ tools: [] });
    const { url } = await board.listen({ port: 0 });
    const lent = { name: 'lent.tool', schema: { type: 'object' } };
    const response = await fetch(`${url}/internal/tools/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_id: 'phone', tools: [lent, { ...lent, name: 'a__b' }] }),
    });
    expect(await response.json()).toMatchObject({ ok: true });
    for (const name of ['lent.tool', 'lent__tool'])
      expect(() => board.registry.register(tool(name, () => 1))).toThrow('a client has registered');
    board.registry.register(tool('a.b', () => 'ours'));
    expect(board.tools().find(({ name }) => name === 'a.b')?.wireName).not.toBe('a__b');
  });

  it('does not change any more after it is closed', async () => {
    const registry = new ToolRegistry();
    const board = await createPatchboard({ tools: registry });
    await board.close();
    registry.register(one);
    expect(board.tools()).toEqual([]);
  });
});
