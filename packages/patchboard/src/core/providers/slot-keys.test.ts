import { describe, expect, it } from 'vitest';
import { aServerTool } from '../../../test/support/an-engine.ts';
import { SlotKeys } from './slot-keys.ts';

const limits = { concurrencyPerRun: 2, concurrencyPerTenant: 4, concurrencyServer: 8 };
const tool = aServerTool({ name: 'plain' });
const ofRun = { tenant: 'a', runId: 'run_1', countsInRun: true };

describe('SlotKeys', () => {
  it('returns the keys of run, tenant and server, then those of the tool', () => {
    const keys = new SlotKeys(limits);
    const own = aServerTool({ name: 'own', concurrency: 1, slot: { name: 'gpu', limit: 3 } });
    expect(keys.of(own, ofRun)).toEqual([
      { name: 'run:1 a run_1', limit: 2 },
      { name: 'tenant:a', limit: 4 },
      { name: 'server', limit: 8 },
      { name: 'tool:own', limit: 1 },
      { name: 'shared:gpu', limit: 3 },
    ]);
    // The keys of one tool do not stay with the run.
    expect(keys.of(tool, ofRun)).toHaveLength(3);
  });

  it('tells runs of two tenants apart that have the same id', () => {
    const keys = new SlotKeys(limits);
    const names = ['a', 'b', 'a'].map((tenant) =>
      keys.of(tool, { ...ofRun, tenant }).map(({ name }) => name),
    );
    expect(names).toEqual([
      ['run:1 a run_1', 'tenant:a', 'server'],
      ['run:1 b run_1', 'tenant:b', 'server'],
      ['run:1 a run_1', 'tenant:a', 'server'],
    ]);
  });

  it('leaves out the run of a call that does not count in it', () => {
    const keys = new SlotKeys(limits);
    keys.of(tool, ofRun);
    expect(keys.of(tool, { ...ofRun, countsInRun: false }).map(({ name }) => name)).toEqual([
      'tenant:a',
      'server',
    ]);
  });
});
