import { setTimeout as pause } from 'node:timers/promises';
import type { Pack, ServerTool } from '../../packages/patchboard/src/core/tools/server-tool.ts';

/** Returns at once, so that the benchmark measures everything but the tool. */
const ECHO: ServerTool = {
  name: 'bench.echo',
  description: 'Returns the text it is given.',
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', maxLength: 1000 } },
    required: ['text'],
    additionalProperties: false,
  },
  outputSchema: null,
  timeoutMs: 10_000,
  annotations: { readonly: true },
  metadata: null,
  concurrency: null,
  execute: (args) => Promise.resolve(args),
};

/** How long `WAIT_TOOL` takes. */
export const WAIT_MS = 50;

/** Waits, as a tool does that calls another service. */
const WAIT: ServerTool = {
  ...ECHO,
  name: 'bench.wait',
  description: `Returns the text it is given after ${WAIT_MS} ms.`,
  execute: async (args, { signal }) => {
    await pause(WAIT_MS, undefined, { signal });
    return args;
  },
};

export const BENCH_PACK: Pack = { name: 'bench', tools: [ECHO, WAIT] };
export const WAIT_TOOL: string = WAIT.name;
export const ECHO_TOOL: string = ECHO.name;
export const ECHO_ARGS: { readonly text: string } = { text: 'forty two characters of perfectly plain text' };
