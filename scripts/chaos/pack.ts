import { setTimeout as sleep } from 'node:timers/promises';
import type { Pack, ServerTool, ToolContext } from '../../packages/patchboard/src/core/tools/server-tool.ts';
import { InputRequired } from '../../packages/patchboard/src/core/call/input.ts';
import type { RecordEffect } from './effects.ts';
import type { Failpoint } from './failpoints.ts';

/** Tools of the chaos server. `n` identifies a request of the driver. */
export const TOOLS = {
  quick: 'chaos.quick',
  /** Waits a while, without an effect. */
  pause: 'chaos.pause',
  /** Idempotent: executed again after a crash. */
  slow: 'chaos.slow',
  /** Not idempotent: executed at most once. */
  effect: 'chaos.effect',
  /** Not idempotent, and requires approval. */
  approve: 'chaos.approve',
  /** Asks its caller and waits for the response. */
  ask: 'chaos.ask',
  /** Returns an input request, and runs again with the response. */
  askReturned: 'chaos.ask_returned',
  /** Waits for its signal. */
  stuck: 'chaos.stuck',
} as const;

const QUESTION = { message: 'Which token?', schema: { type: 'integer' } } as const;

export function chaosPack(recordEffect: RecordEffect, failpoint: Failpoint): Pack {
  const leaveTrace = (tool: string, { callId, attempt }: ToolContext, args?: ChaosArgs): void => {
    failpoint.reach('dispatch.begun');
    recordEffect({ tool, callId, attempt, ...(args === undefined ? {} : { args }) });
    failpoint.reach('dispatch.effect');
  };
  return {
    name: 'chaos',
    tools: [
      tool(TOOLS.quick, { readonly: true }, async (args) => args),
      tool(TOOLS.pause, { readonly: true }, async (args, context) => {
        await sleep(args.ms, undefined, { signal: context.signal });
        return args;
      }),
      tool(TOOLS.slow, { idempotent: true }, async (args, context) => {
        leaveTrace(TOOLS.slow, context);
        await sleep(args.ms, undefined, { signal: context.signal });
        return args;
      }),
      tool(TOOLS.effect, {}, async (args, context) => {
        leaveTrace(TOOLS.effect, context);
        await sleep(args.ms, undefined, { signal: context.signal });
        return args;
      }),
      tool(TOOLS.approve, { destructive: true }, async (args, context) => {
        leaveTrace(TOOLS.approve, context, args);
        await sleep(args.ms, undefined, { signal: context.signal });
        return args;
      }),
      tool(TOOLS.ask, {}, async (_args, context) => {
        leaveTrace(TOOLS.ask, context);
        return { given: await context.requestInput(QUESTION) };
      }),
      tool(TOOLS.askReturned, {}, async (_args, context) => {
        const { token } = context.inputs;
        if (token === undefined) return new InputRequired({ token: QUESTION });
        leaveTrace(TOOLS.askReturned, context);
        return { given: token.content };
      }),
      tool(TOOLS.stuck, {}, async (_args, context) => {
        await new Promise<void>((resolve) => {
          context.signal.addEventListener('abort', () => resolve(), { once: true });
        });
        return null;
      }),
    ],
  };
}

interface ChaosArgs {
  readonly n: number;
  readonly ms: number;
}

function tool(
  name: string,
  annotations: ServerTool['annotations'],
  execute: (args: ChaosArgs, context: ToolContext) => Promise<unknown>,
): ServerTool {
  return {
    name,
    description: 'A tool of the chaos tests.',
    inputSchema: {
      type: 'object',
      properties: {
        n: { type: 'integer' },
        ms: { type: 'integer', minimum: 0, maximum: 60_000 },
      },
      required: ['n', 'ms'],
      additionalProperties: false,
    },
    outputSchema: null,
    timeoutMs: 20_000,
    annotations,
    metadata: null,
    concurrency: null,
    // The arguments have passed the schema above.
    execute: (args, context) => execute(args as ChaosArgs, context),
  };
}
