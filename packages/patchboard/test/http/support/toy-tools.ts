import type { ServerTool } from '../../../src/core/tools/server-tool.ts';
import { aServerTool } from '../../support/an-engine.ts';

export const echo: ServerTool = aServerTool({ name: 'echo' });

export const add: ServerTool = aServerTool({
  name: 'math.add',
  description: 'adds two whole numbers',
  inputSchema: {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
  outputSchema: { type: 'integer' },
  annotations: { readonly: true, idempotent: true },
  execute: (args) => {
    const { a, b } = args as { a: number; b: number };
    return Promise.resolve(a + b);
  },
});

export const failing: ServerTool = aServerTool({
  name: 'fails',
  execute: () => Promise.reject(new Error('it broke')),
});

/** Requires approval. */
export const danger: ServerTool = aServerTool({ name: 'danger', annotations: { destructive: true } });

/** A tool whose calls run until the test releases them; it reports each start. */
export function gatedTool(name = 'gated'): {
  tool: ServerTool;
  /** Resolves when the next call has started. */
  begun(): Promise<void>;
  /** Ends every running call with this result. */
  open(result?: unknown): void;
  progress(data: unknown): void;
} {
  let running: { resolve: (value: unknown) => void; progress: (data: unknown) => void }[] = [];
  let onBegin: (() => void) | null = null;
  const tool = aServerTool({
    name,
    timeoutMs: 60_000,
    execute: (_args, context) =>
      new Promise((resolve, reject) => {
        running.push({ resolve, progress: (data) => context.progress(data) });
        context.signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
        onBegin?.();
      }),
  });
  return {
    tool,
    begun: () =>
      running.length > 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            onBegin = () => {
              onBegin = null;
              resolve();
            };
          }),
    open: (result = 'done') => {
      for (const { resolve } of running) resolve(result);
      running = [];
    },
    progress: (data) => {
      for (const call of running) call.progress(data);
    },
  };
}
