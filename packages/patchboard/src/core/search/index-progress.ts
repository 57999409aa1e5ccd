import type { Clock, Store } from '../ports.ts';

/** How long a request waits for the index at most. */
export const INDEX_WAIT_MS = 500;
const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 64;

export interface IndexProgressParts {
  readonly store: Pick<Store, 'search' | 'ledgerHead'>;
  readonly clock: Pick<Clock, 'elapsed' | 'after'>;
  /** Called while a request waits: the index should be written without the usual pause. */
  readonly indexAwaited: () => void;
}

/**
 * Resolves to true once the index contains every ledger row that is committed now, so that it has all calls that have
 * ended; to false if that takes longer than `INDEX_WAIT_MS`, or if the store has no index.
 */
export async function indexHasReached({ store, clock, indexAwaited }: IndexProgressParts): Promise<boolean> {
  const { search } = store;
  if (search === undefined) return false;
  const { seq } = await store.ledgerHead();
  const deadline = clock.elapsed() + INDEX_WAIT_MS;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if ((await search.position()) >= seq) return true;
    const leftMs = deadline - clock.elapsed();
    if (leftMs <= 0) return false;
    indexAwaited();
    await new Promise<void>((resolve) => void clock.after(Math.min(pauseMs, leftMs), resolve));
  }
}
