import { describe, expect, it, vi } from 'vitest';
import { FakeClock, settled } from '../../../test/support/fake-clock.ts';
import { INDEX_WAIT_MS, indexHasReached } from './index-progress.ts';
import type { CallSearch } from './call-search.ts';

/** An index whose position the test moves, over a ledger that grows. */
function anIndex() {
  const at = { head: 10, position: 10 };
  const clock = new FakeClock();
  const search = { position: async () => at.position } as CallSearch;
  const awaited = vi.fn();
  const store = { search, ledgerHead: async () => ({ seq: at.head, hash: '' }) };
  const reached = (): Promise<boolean> => indexHasReached({ store, clock, indexAwaited: awaited });
  return { at, clock, reached, awaited };
}

describe('a request', () => {
  it('does not wait for an index that has every row', async () => {
    const { reached, awaited } = anIndex();
    expect(await reached()).toBe(true);
    expect(awaited).not.toHaveBeenCalled();
  });

  it('waits until the index has the rows of its beginning, not later ones, and makes it hurry', async () => {
    const { at, clock, reached, awaited } = anIndex();
    at.position = 7;
    const waiting = reached();
    await settled();
    expect(awaited).toHaveBeenCalled();
    at.head = 99;
    at.position = 10;
    await clock.advance(INDEX_WAIT_MS - 1);
    expect(await waiting).toBe(true);
  });

  it('goes on after a bounded time', async () => {
    const { at, clock, reached } = anIndex();
    at.position = 9;
    const waiting = reached();
    for (let ms = 0; ms < INDEX_WAIT_MS; ms += 1) {
      await settled();
      await clock.advance(1);
    }
    expect(await waiting).toBe(false);
  });

  it('of a store without an index is never complete', async () => {
    const store = { ledgerHead: async () => ({ seq: 0, hash: '' }) };
    expect(await indexHasReached({ store, clock: new FakeClock(), indexAwaited: () => {} })).toBe(false);
  });
});
