/** A pack whose tools open all file descriptors of the server, and close them. */
import { closeSync, openSync } from 'node:fs';
import type { PackDefinition } from '../../../src/index.ts';
import type { ServerTool } from '../../../src/core/tools/server-tool.ts';

const taken: number[] = [];

function takeAll(): number {
  for (;;) {
    try {
      taken.push(openSync('/dev/null', 'r'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EMFILE') return taken.length;
      throw error;
    }
  }
}

function releaseAll(): number {
  const count = taken.length;
  for (const descriptor of taken.splice(0)) closeSync(descriptor);
  return count;
}

function tool(name: string, execute: () => number): ServerTool {
  return {
    name,
    description: 'For tests of a server without file descriptors.',
    inputSchema: { type: 'object' },
    outputSchema: null,
    timeoutMs: 10_000,
    annotations: { readonly: true },
    metadata: null,
    concurrency: null,
    execute: () => ({ descriptors: execute() }),
  };
}

export const pack: PackDefinition = {
  name: 'hoard',
  tools: [tool('hoard.take', takeAll), tool('hoard.release', releaseAll)],
};
