import { expect, it } from 'vitest';
import { aFolder } from '../../test/support/a-folder.ts';
import { runCanary } from './canary.ts';
import { DEFAULT_COMMAND_LIMITS } from './command-limits.ts';
import { probe } from './probe.ts';

it('reports every attempt that nothing prevents', async () => {
  const stateFolder = await aFolder();
  const { enclosure } = await probe(
    {
      tools: { node: '', ripgrep: '', fileServer: '' },
      limits: DEFAULT_COMMAND_LIMITS,
      environment: {},
      readable: [],
      searchPath: '',
      stateFolder,
    },
    'a platform without a sandbox',
  );
  const { results, problem } = await runCanary(enclosure, stateFolder);
  expect(results).toEqual([
    { check: 'start', held: true },
    { check: 'read', held: false },
    { check: 'write', held: false },
    { check: 'network', held: false },
    { check: 'signal', held: false },
  ]);
  expect(problem).toBe('these checks failed: read, write, network, signal');
});
