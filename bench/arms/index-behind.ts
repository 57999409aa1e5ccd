import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../packages/patchboard/src/core/ports.ts';
import type {
  CallIndexWriter,
  IndexBatch,
  IndexPosition,
} from '../../packages/patchboard/src/core/search/call-search.ts';
import type { IndexSource } from '../../packages/patchboard/src/core/search/index-source.ts';
import { nodeClock } from '../../packages/patchboard/src/runtime/node-clock.ts';
import { startIndexing } from '../../packages/patchboard/src/wiring/call-indexing.ts';
import { silentLog } from '../../packages/patchboard/test/support/an-engine.ts';

/** Writes the index of calls of a store that is being filled. */
export interface IndexBehind {
  /** Takes what was stored since. Resolves before that is written. */
  follow(): Promise<void>;
  /** Resolves when the index has every stored call. */
  finish(): Promise<void>;
}

const POLL_MS = 200;

/**
 * A server pauses while there are commits, and reads older rows from the ledger again. On SQLite this one does neither: its
 * batches are what is still in memory, and the thread of the index writes one while the next calls are stored.
 */
export async function indexBehind(store: Store): Promise<IndexBehind> {
  const { indexSource: source, indexWriter: writer } = store;
  if (source === undefined || writer === undefined) return laterIndex(store);
  const position = await writer.acquireLease();
  if (position === null) throw new Error('another process writes the index');
  // From now on the source keeps what is committed.
  await source.read(position.seq);
  return pipelinedIndex(source, writer, position);
}

function pipelinedIndex(source: IndexSource, writer: CallIndexWriter, start: IndexPosition): IndexBehind {
  let position = start;
  let applying: Promise<boolean> = Promise.resolve(true);
  const applied = async (): Promise<void> => {
    if (!(await applying)) throw new Error('the index is not where it was left');
  };
  return {
    follow: async () => {
      const batch = await readAll(source, position);
      await applied();
      if (batch === null) return;
      position = batch.to;
      applying = writer.apply(batch);
    },
    finish: applied,
  };
}

/** Joins what the source returns in small batches. */
async function readAll(source: IndexSource, from: IndexPosition): Promise<IndexBatch | null> {
  let all: IndexBatch | null = null;
  for (let after = from.seq; ;) {
    const batch = await source.read(after);
    if (batch === null) return all;
    all =
      all === null
        ? batch
        : {
            ...batch,
            from: all.from,
            calls: [...all.calls, ...batch.calls],
            refusals: [...all.refusals, ...batch.refusals],
          };
    after = batch.to.seq;
  }
}

/** For a store whose index is written by its own code only. */
function laterIndex(store: Store): IndexBehind {
  return {
    follow: async () => {},
    finish: async () => {
      const stop = startIndexing({ store, clock: nodeClock, log: silentLog }, null);
      const { seq } = await store.ledgerHead();
      while (((await store.search?.position()) ?? seq) < seq) await sleep(POLL_MS);
      await stop();
    },
  };
}
