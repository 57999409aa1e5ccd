import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { aBoard } from '../../test/support/a-board.ts';
import { inputRequired, toAiSdkTools, tool, ToolFailure } from '../index.ts';

const City = z.object({ city: z.string(), days: z.number().default(3) });

describe('requestInput with a zod schema', () => {
  it('asks with its JSON Schema, and resolves with the parsed content', async () => {
    const plan = tool('trip.plan', async (_args, context) => {
      const { city, days } = await context.requestInput({ message: 'Which city?', schema: City });
      return `${days} days in ${city}`;
    });
    const board = await aBoard({ tools: [plan] });
    const schemas: unknown[] = [];
    const record = await board.call(
      'trip.plan',
      {},
      {
        onInputRequest: ({ schema }) => {
          schemas.push(schema);
          return { city: 'Paris' };
        },
      },
    );
    expect(record).toMatchObject({ state: 'COMPLETED', result: '3 days in Paris' });
    expect(schemas).toMatchObject([
      { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    ]);
  });

  it('rejects with input_invalid for what JSON Schema cannot express; the tool may ask again', async () => {
    const even = z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') });
    const messages: string[] = [];
    const ask = tool('ask', async (_args, context) => {
      for (;;) {
        try {
          return (await context.requestInput({ message: 'An even number?', schema: even })).n;
        } catch (error) {
          if (!(error instanceof ToolFailure) || error.failure.code !== 'input_invalid') throw error;
          messages.push(error.failure.message);
        }
      }
    });
    const board = await aBoard({ tools: [ask] });
    let n = 3;
    const record = await board.call('ask', {}, { onInputRequest: () => ({ n: n++ }) });
    expect(record.result).toBe(4);
    expect(messages).toEqual([expect.stringContaining('must be even')]);
  });

  it('fails the tool for a schema of another library', async () => {
    const ask = tool('ask', (_args, context) =>
      context.requestInput({ message: 'x', schema: { _def: {} } as never }),
    );
    const board = await aBoard({ tools: [ask] });
    expect(await board.call('ask', {}, { onInputRequest: () => ({}) })).toMatchObject({
      code: 'tool_failed',
      error: expect.stringContaining('schema') as string,
    });
  });
});

describe('inputRequired', () => {
  it('asks for one thing without a key, and carries a state to the next run', async () => {
    const plan = tool('trip.plan', (_args, { inputs, carried }) => {
      if (inputs['input'] === undefined)
        return inputRequired({ message: 'Which city?', schema: City }, { carry: { began: 1 } });
      return { ...City.parse(inputs['input'].content), carried };
    });
    const board = await aBoard({ tools: [plan] });
    const onInputRequest = (): unknown => ({ city: 'Rome' });
    expect(await board.call('trip.plan', {}, { onInputRequest })).toMatchObject({
      result: { city: 'Rome', days: 3, carried: { began: 1 } },
    });
  });

  it('asks for several things, each under its key', async () => {
    const ask = tool('ask', (_args, { inputs }) =>
      'message' in inputs
        ? inputs
        : inputRequired({
            message: { message: 'Your message?', schema: z.string() },
            terms: { message: 'Accept the terms', url: 'https://example.test/terms' },
          }),
    );
    const board = await aBoard({ tools: [ask] });
    const record = await board.call(
      'ask',
      {},
      { onInputRequest: ({ url }) => (url === undefined ? 'hello' : 'visited') },
    );
    expect(record.result).toEqual({
      message: { action: 'accept', content: 'hello' },
      terms: { action: 'accept', content: null },
    });
  });

  it('throws for a request that is not one', () => {
    expect(() => inputRequired({} as never)).toThrow(TypeError);
    expect(() => inputRequired('Which city?' as never)).toThrow(/inputRequired\(\) takes/);
    expect(() => inputRequired({ city: 'Which city?' } as never)).toThrow(/city must be an object/);
    expect(() => inputRequired({ message: 'x', schemas: {} } as never)).toThrow('did you mean schema?');
  });
});

describe('asksInput', () => {
  it('is part of the contract', async () => {
    const silent = tool({ name: 'ask', execute: () => 1 });
    const asking = tool({ name: 'ask', metadata: { asksInput: true }, execute: () => 1 });
    const [one] = (await aBoard({ tools: [silent] })).tools();
    const [other] = (await aBoard({ tools: [asking] })).tools();
    expect(other?.annotations).toEqual({ asks_input: true });
    expect(other?.version).not.toBe(one?.version);
  });

  it('excludes cached results', async () => {
    const ask = tool({
      name: 'ask',
      metadata: { readonly: true, cacheTtl: 1000, asksInput: true },
      execute: () => 1,
    });
    await expect(aBoard({ tools: [ask] })).rejects.toThrow(
      'ask asks its caller for input, so its results cannot be cached',
    );
  });

  it('is absent, and the tool asks: the result of that call is not cached', async () => {
    const ask = tool({
      name: 'ask',
      metadata: { readonly: true, cacheTtl: 60_000 },
      execute: async (_args, context) => await context.requestInput({ message: 'x' }),
    });
    const board = await aBoard({ tools: [ask] });
    const results: unknown[] = [];
    for (const n of [1, 2])
      results.push((await board.call('ask', {}, { onInputRequest: () => ({ n }) })).result);
    expect(results).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

describe('toAiSdkTools', () => {
  it('passes the input requests of its tools to onInputRequest', async () => {
    const ask = tool('ask', (_args, context) => context.requestInput({ message: 'Which city?' }));
    const board = await aBoard({ tools: [ask] });
    const options = { toolCallId: 'toolu_1' };
    const answering = toAiSdkTools(board, { onInputRequest: () => ({ city: 'Oslo' }) });
    expect(await answering['ask']?.execute({}, options)).toEqual({ city: 'Oslo' });
    const silent = toAiSdkTools(board);
    await expect(silent['ask']?.execute({}, options)).rejects.toThrow('input_unavailable');
  });
});
