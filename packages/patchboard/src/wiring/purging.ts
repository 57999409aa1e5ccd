import { messageOf } from '../core/failures.ts';
import type { Clock, Log, Store } from '../core/ports.ts';

export interface PurgingParts {
  readonly store: Pick<Store, 'purgeCalls'>;
  readonly log: Log;
  readonly clock: Pick<Clock, 'now'>;
}

const EVERY_MS = 3_600_000;
const BATCH = 1000;

/**
 * Purges calls that ended longer than `keepCallsMs` ago, now and every hour; null: never. Ledger rows are never removed. The
 * returned function stops it.
 */
export function keepPurging(keepCallsMs: number | null, { store, log, clock }: PurgingParts): () => void {
  if (keepCallsMs === null) return () => {};
  const purge = async (): Promise<void> => {
    let removed = 0;
    for (;;) {
      const batch = await store.purgeCalls(clock.now() - keepCallsMs, BATCH);
      removed += batch;
      if (batch < BATCH) break;
    }
    if (removed > 0) log.info('retention.purged', { calls: removed });
  };
  const run = (): void => {
    purge().catch((error: unknown) => log.error('retention.failed', { error: messageOf(error) }));
  };
  const timer = setInterval(run, EVERY_MS);
  run();
  return () => clearInterval(timer);
}
