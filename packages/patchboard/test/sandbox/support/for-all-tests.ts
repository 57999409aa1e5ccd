import { afterAll, beforeAll } from 'vitest';
import type { Sandbox } from '../../../src/core/sandbox.ts';
import { aSandboxSetup, type OpenBench } from './a-sandbox-setup.ts';

/** One sandboxSetup for all tests of a suite; there from its first test on. */
export function forAllTests(): { readonly bench: () => OpenBench; readonly sandbox: () => Sandbox } {
  let open: OpenBench | undefined;
  const bench = (): OpenBench => {
    if (open === undefined) throw new Error('there is no sandboxSetup outside of tests');
    return open;
  };
  beforeAll(async () => {
    open = await aSandboxSetup();
  });
  afterAll(async () => {
    await open?.close();
  });
  return { bench, sandbox: () => bench().sandbox() };
}
