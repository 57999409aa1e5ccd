import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { aBoard } from '../../test/support/a-board.ts';
import {
  createPatchboard,
  tool,
  ToolFailure,
  type BoardOptions,
  type Hooks,
  type Patchboard,
  type ToolCallRecord,
  type ToolContext,
} from '../index.ts';

/** Invalid behaviour of tools, hooks and embedding programs, and the state in which the call ends. */

async function aSmallBoard(options: BoardOptions): Promise<Patchboard> {
  return await aBoard({ ...options, limits: { resultBytes: 1000, ...options.limits } });
}

async function callOf(execute: () => unknown, options: BoardOptions = {}): Promise<ToolCallRecord> {
  return await (await aSmallBoard({ tools: [tool('t', execute)], ...options })).call('t');
}

function cycle(): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  value['self'] = value;
  return value;
}

describe('an invalid tool', () => {
  const fine = tool('t', () => 1);
  it.each([
    [
      'a bad schema',
      'schema_invalid',
      [tool({ name: 'x', parameters: { type: 'strnig' }, execute: () => 1 })],
    ],
    ['a schema with a cycle', 'schema_invalid', [tool({ name: 'x', parameters: cycle(), execute: () => 1 })]],
    [
      'a bad pattern',
      'schema_invalid',
      [tool({ name: 'x', parameters: { pattern: '(' }, execute: () => 1 })],
    ],
    ['a duplicate name', 'name_taken', [fine, tool('t', () => 2)]],
    ['a name outside the rule', 'name_invalid', [{ ...fine, name: 'spaces are not names' }]],
  ])('is refused for %s, as %s', async (_what, code, tools) => {
    await expect(createPatchboard({ tools })).rejects.toMatchObject({
      name: 'BoardError',
      failure: { code },
    });
  });
});

describe('a class in place of an instance', () => {
  it('is refused with what to write', async () => {
    class Adder {
      readonly name = 'add';
      readonly description = 'Adds';
      readonly input_schema = { type: 'object' };
      exec(): number {
        return 1;
      }
    }
    await expect(createPatchboard({ tools: [Adder as never] })).rejects.toThrow(
      new TypeError('Adder is a class: pass an instance, new Adder()'),
    );
    await aSmallBoard({ tools: [new Adder()] });
  });
});

describe('an invalid result', () => {
  it.each([
    ['a BigInt', () => ({ n: 1n })],
    ['a cycle', cycle],
    [
      'something whose toJSON throws',
      () => ({
        toJSON: () => {
          throw new Error('no');
        },
      }),
    ],
  ])('%s: FAILED as tool_failed', async (_what, execute) => {
    const record = await callOf(execute);
    expect(record).toMatchObject({ state: 'FAILED', code: 'tool_failed' });
    expect(record.error).toMatch(/^the result cannot be written as JSON: /);
  });

  it('over the limit: FAILED as result_too_large, with outcome unknown', async () => {
    expect(await callOf(() => 'x'.repeat(1001))).toMatchObject({
      state: 'FAILED',
      code: 'result_too_large',
      error: 'the result is larger than 1000 bytes',
      failure: { outcome: 'unknown' },
    });
    expect((await callOf(() => '字'.repeat(332))).state).toBe('COMPLETED');
    expect((await callOf(() => '字'.repeat(333))).code).toBe('result_too_large');
  });

  it.each([
    ['undefined', () => undefined, null],
    ['a function', () => () => 1, null],
    ['a symbol', () => Symbol('s'), null],
    ['NaN', () => ({ n: Number.NaN }), { n: null }],
    ['a Date', () => ({ at: new Date(0) }), { at: '1970-01-01T00:00:00.000Z' }],
    ['a Map', () => new Map([[1, 2]]), {}],
  ])('%s: stored as its JSON form', async (_what, execute, kept) => {
    expect(await callOf(execute)).toMatchObject({ state: 'COMPLETED', result: kept });
  });

  it('that does not fit its output schema: FAILED as output_invalid', async () => {
    const t = tool({ name: 't', output: { type: 'number' }, execute: () => 'one' as unknown });
    expect(await (await aSmallBoard({ tools: [t] })).call('t')).toMatchObject({
      state: 'FAILED',
      code: 'output_invalid',
    });
  });
});

describe('a thrown value', () => {
  const thrower = (thrown: unknown) => (): never => {
    throw thrown;
  };
  it.each([
    ['a text', 'just a text', 'just a text'],
    ['nothing', undefined, 'threw undefined'],
    ['null', null, 'threw object'],
    ['a number', 7, 'threw number'],
    ['an object', { error: 'x' }, 'threw object'],
    ['an error without a message', new RangeError(), 'RangeError'],
    ['an error whose message is no text', Object.assign(new Error(), { message: 7n }), '7'],
    [
      'an error whose members throw',
      Object.defineProperty(new Error(), 'message', { get: thrower('no') }),
      'the tool threw a value that cannot be read',
    ],
    [
      'an invalid failure',
      new ToolFailure({ code: 'nonsense', message: 'x' } as never),
      'the tool threw an invalid ToolFailure: it needs a known code, a message, and only JSON values',
    ],
    [
      'a failure with a cycle',
      new ToolFailure({ code: 'timeout', message: 'x', toolResult: cycle() } as never),
      'the tool threw an invalid ToolFailure: it needs a known code, a message, and only JSON values',
    ],
  ])('%s: FAILED as tool_failed', async (_what, thrown, error) => {
    expect(await callOf(thrower(thrown))).toMatchObject({ state: 'FAILED', code: 'tool_failed', error });
    // A rejected promise is treated the same.
    // oxlint-disable-next-line prefer-promise-reject-errors
    expect(await callOf(() => Promise.reject(thrown))).toMatchObject({
      state: 'FAILED',
      code: 'tool_failed',
      error,
    });
  });

  it('with a long message: truncated', async () => {
    const { error = '' } = await callOf(thrower(new Error('x'.repeat(1_000_000))));
    expect(error.length).toBeLessThan(8300);
    expect(error).toMatch(/^x+… \(1000000 characters\)$/);
  });
});

describe('a tool that does not end', () => {
  it('never resolves: TIMED_OUT at its deadline', async () => {
    const t = tool({ name: 't', metadata: { timeout: 20 }, execute: () => new Promise(() => {}) });
    const record = await (await aSmallBoard({ tools: [t] })).call('t');
    expect(record).toMatchObject({ state: 'TIMED_OUT', code: 'timeout', failure: { outcome: 'unknown' } });
  });

  it.each([
    ['resolves', (resolve: (value: unknown) => void) => resolve('late')],
    ['fails', (_resolve: unknown, reject: (error: Error) => void) => reject(new Error('late'))],
  ])('%s after its deadline: what comes later is ignored', async (_what, end) => {
    let finish = (): void => {};
    const t = tool({
      name: 't',
      metadata: { timeout: 20 },
      execute: () => new Promise((resolve, reject) => (finish = () => end(resolve, reject))),
    });
    const board = await aSmallBoard({ tools: [t] });
    const record = await board.call('t');
    finish();
    // Another call has gone all the way since.
    await board.call('t');
    expect(await board.get(record.id)).toEqual(record);
  });

  it('emits after the end: the event is dropped and logged once', async () => {
    const lines: string[] = [];
    const write = (event: string): void => void lines.push(event);
    let late: ToolContext | undefined;
    const t = tool('t', (_args, context) => void (late = context));
    const board = await aSmallBoard({ tools: [t], log: { info: () => {}, warn: write, error: write } });
    await board.call('t');
    late!.emit('late', 1);
    late!.emit('later', 2);
    expect(lines).toEqual(['call.event_after_end']);
  });
});

describe('a hook', () => {
  const withHook = async (hooks: Hooks): Promise<ToolCallRecord> =>
    await callOf(() => ({ done: true }), { hooks });

  it.each<[string, Hooks, object]>([
    [
      'throws',
      {
        preToolUse: () => {
          throw new Error('no');
        },
      },
      { state: 'DENIED', code: 'hook_denied' },
    ],
    [
      'returns an invalid value',
      { preToolUse: () => 'yes' as never },
      { state: 'DENIED', code: 'hook_denied' },
    ],
    [
      'denies with a value that is not JSON',
      { preToolUse: () => ({ decision: 'deny', toolResult: cycle() }) },
      { state: 'DENIED', code: 'hook_denied' },
    ],
    [
      'requires approval with a value that is not JSON',
      { preToolUse: () => ({ decision: 'ask', meta: cycle() }) },
      { state: 'APPROVAL_REQUIRED' },
    ],
    [
      'has a result with a cycle',
      { preToolUse: () => ({ result: cycle() }) },
      { state: 'FAILED', code: 'tool_failed' },
    ],
    [
      'reviews and throws',
      {
        postToolUse: () => {
          throw new Error('no');
        },
      },
      { state: 'FAILED', code: 'hook_denied' },
    ],
    [
      'makes a cycle of the result',
      { postToolUse: () => ({ replace: { content: cycle() } }) },
      { state: 'FAILED', code: 'tool_failed' },
    ],
  ])('that %s', async (_what, hooks, ending) => {
    const board = await aSmallBoard({ tools: [tool('t', () => ({ done: true }))], hooks });
    const { id, state } = await board.invoke('t');
    expect(state === 'APPROVAL_REQUIRED' ? await board.get(id) : await board.wait(id)).toMatchObject(ending);
  });

  it.each<[string, Required<Hooks>['postToolUse']]>([
    ['replaces the result', () => ({ replace: { content: { sum: 'three' } } })],
    ['updates the result', () => ({ update: { result: { sum: 'three' } } })],
    ['adds what the schema does not allow', () => ({ update: { result: { checked: true } } })],
    ['modifies the result object', (_call, result) => void Object.assign(result as object, { sum: 'three' })],
  ])('that %s so that it breaks the output schema: FAILED as output_invalid', async (_what, postToolUse) => {
    const add = tool({
      name: 'add',
      output: z.strictObject({ sum: z.number() }),
      execute: () => ({ sum: 3 }),
    });
    const record = await (await aSmallBoard({ tools: [add], hooks: { postToolUse } })).call('add');
    expect(record).toMatchObject({
      state: 'FAILED',
      code: 'output_invalid',
      failure: { outcome: 'unknown' },
    });
    expect(record.error).toMatch(
      /^a hook changed the result, and it does not fit the tool's output schema: /,
    );
    expect(record).not.toHaveProperty('result');
  });

  it('that changes a result within the output schema: the changed result is stored', async () => {
    const hooks: Hooks = { postToolUse: () => ({ update: { result: { sum: 4, at: new Date(0) } } }) };
    const output = { type: 'object', properties: { sum: { type: 'number' }, at: { type: 'string' } } };
    const add = tool({ name: 'add', output, execute: () => ({ sum: 3 }) });
    expect(await (await aSmallBoard({ tools: [add], hooks })).call('add')).toMatchObject({
      state: 'COMPLETED',
      result: { sum: 4, at: '1970-01-01T00:00:00.000Z' },
    });
  });

  it('that changes the arguments to a value that is not JSON: refused as input_invalid', async () => {
    await expect(withHook({ preToolUse: () => ({ args: cycle() }) })).rejects.toMatchObject({
      failure: { code: 'input_invalid' },
    });
  });
});

describe('arguments from an embedding program', () => {
  it.each([
    ['a cycle', cycle()],
    ['a BigInt', { n: 1n }],
  ])('%s: refused as input_invalid', async (_what, args) => {
    const board = await aSmallBoard({ tools: [tool('t', () => 1)] });
    await expect(board.call('t', args)).rejects.toMatchObject({ failure: { code: 'input_invalid' } });
    expect((await board.call('t')).state).toBe('COMPLETED');
  });
});
