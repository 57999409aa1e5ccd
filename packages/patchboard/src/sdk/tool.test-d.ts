import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import { tool, type ToolContext } from '../index.ts';

const add = tool({
  name: 'math.add',
  parameters: z.object({ a: z.number(), unit: z.enum(['m', 'km']).default('m') }),
  execute: (args, context) => {
    expectTypeOf(args).toEqualTypeOf<{ a: number; unit: 'm' | 'km' }>();
    expectTypeOf(context).toEqualTypeOf<ToolContext>();
    return { sum: args.a };
  },
});
type ResultOf<Tool extends { execute: (...args: never[]) => unknown }> = Awaited<ReturnType<Tool['execute']>>;
expectTypeOf<ResultOf<typeof add>>().toEqualTypeOf<{ sum: number }>();

const plain = tool({
  name: 'plain',
  parameters: { type: 'object' },
  execute: (args) => {
    expectTypeOf(args).toEqualTypeOf<Record<string, unknown>>();
    return 1;
  },
});
expectTypeOf<ResultOf<typeof plain>>().toEqualTypeOf<number>();

const short = tool('short', (args: { text: string }) => args.text);
expectTypeOf<Parameters<(typeof short)['execute']>[0]>().toEqualTypeOf<{ text: string }>();

// @ts-expect-error a tool requires an execute function
tool('nothing');

tool('typed', async (_args, context) => {
  const schema = z.object({ city: z.string(), days: z.number().default(3) });
  expectTypeOf(await context.requestInput({ message: 'Where?', schema })).toEqualTypeOf<{
    city: string;
    days: number;
  }>();
  expectTypeOf(
    await context.requestInput({ message: 'Where?', schema: { type: 'object' } }),
  ).toEqualTypeOf<unknown>();
  expectTypeOf(await context.requestInput({ message: 'Where?' })).toEqualTypeOf<unknown>();
});
