import type { Clock, Log, Store } from '../core/ports.ts';
import { CallIndexer } from '../core/search/call-indexer.ts';
import type { Searches } from '../core/search/searches.ts';
import type { RunningIndex } from '../core/search/call-search.ts';
import { LedgerSource } from '../core/search/index-source.ts';

export interface IndexingParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Whose requests wait for the index. */
  readonly engine?: { readonly searches: Pick<Searches, 'onIndexAwaited'> };
}

/**
 * Starts writing the index of calls, behind the commits, if the store has one. `keepCallsMs`: how long ended calls are kept;
 * null: for ever. The returned function stops it.
 */
export function startIndexing(
  { store, clock, log, engine }: IndexingParts,
  keepCallsMs: number | null,
): () => Promise<void> {
  const running = startIndex({ store, clock, log }, keepCallsMs);
  if (running === null) return async () => {};
  const unfollow = engine?.searches.onIndexAwaited(() => running.hurry());
  return async () => {
    unfollow?.();
    await running.stop();
  };
}

function startIndex({ store, clock, log }: IndexingParts, keepCallsMs: number | null): RunningIndex | null {
  if (store.startIndex !== undefined) return store.startIndex(keepCallsMs);
  const { indexWriter: writer, indexSource: source = new LedgerSource(store) } = store;
  if (writer === undefined) return null;
  const onCommitted = (listener: () => void): (() => void) => store.watch(listener);
  const indexer = new CallIndexer({ source, writer, clock, log, onCommitted, keepCallsMs });
  indexer.start();
  return indexer;
}
