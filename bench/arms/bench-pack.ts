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

export const BENCH_PACK: Pack = { name: 'bench', tools: [ECHO] };
export const ECHO_TOOL: string = ECHO.name;
export const ECHO_ARGS: { readonly text: string } = { text: 'forty two characters of perfectly plain text' };
