import { describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../../test/support/fake-clock.ts';
import { digest } from '../../store/samples.contract.ts';
import { anEntry, insertAll } from '../../store/samples.contract.ts';
import { endedCalls, refusedRows } from '../../store/search-samples.contract.ts';
import { memoryStore } from '../../store/memory/memory-store.ts';
import { CallIndexer } from './call-indexer.ts';
import type { CallIndexWriter, IndexBatch, IndexPosition } from './call-search.ts';
import { LedgerSource, type IndexSource } from './index-source.ts';

/** Keeps the batches. `fail` makes it reject, `isElsewhere` refuses the lease. */
class MemoryWriter implements CallIndexWriter {
  position: IndexPosition = { seq: 0, hash: '' };
  batches: IndexBatch[] = [];
  leases = 0;
  clears = 0;
  forgotten: number[] = [];
  isReleased = false;
  isElsewhere = false;
  problem: string | null = null;

  async acquireLease(): Promise<IndexPosition | null> {
    this.leases += 1;
    if (this.problem !== null) throw new Error(this.problem);
    return this.isElsewhere ? null : this.position;
  }

  async apply(batch: IndexBatch): Promise<boolean> {
    if (this.problem !== null) throw new Error(this.problem);
    if (this.isElsewhere || batch.from !== this.position.seq) return false;
    this.position = batch.to;
    this.batches.push(batch);
    return true;
  }

  async clear(): Promise<void> {
    this.clears += 1;
    this.position = { seq: 0, hash: '' };
    this.batches = [];
  }

  async forget(before: number): Promise<void> {
    this.forgotten.push(before);
  }

  async release(): Promise<void> {
    this.isReleased = true;
  }

  get ids(): string[] {
    return this.batches.flatMap(({ calls }) => calls.map(({ id }) => id));
  }
}

function anIndexer(writer = new MemoryWriter(), keepCallsMs: number | null = null) {
  const clock = new FakeClock();
  const store = memoryStore({ digest });
  const logged: string[] = [];
  const log = (event: string): void => void logged.push(event);
  const indexer = new CallIndexer({
    source: new LedgerSource(store),
    writer,
    clock,
    log: { info: log, warn: log, error: log },
    onCommitted: (listener) => store.watch(listener),
    keepCallsMs,
  });
  /** Lets the indexer work for this long. */
  const run = async (ms: number): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await clock.advance(ms / 20);
  };
  return { indexer, store, writer, clock, logged, run };
}

describe('the indexer of calls', () => {
  it('adds every ended call and refused request once, in order, up to the newest row', async () => {
    const { indexer, store, writer, run } = anIndexer();
    const calls = endedCalls(700);
    await insertAll(store, calls.slice(0, 650));
    await store.append(refusedRows(30));
    indexer.start();
    await run(2000);
    await insertAll(store, calls.slice(650));
    await store.append([anEntry()]);
    await run(2000);
    await indexer.stop();
    expect(writer.ids).toEqual(calls.map(({ id }) => id));
    expect(writer.batches.flatMap(({ refusals }) => refusals)).toHaveLength(30);
    expect(writer.position.seq).toBe((await store.ledgerHead()).seq);
    for (const { calls: some, refusals } of writer.batches)
      expect(some.length + refusals.length).toBeLessThan(500);
    expect(writer.isReleased).toBe(true);
  });

  it('waits for the next commit when it is up to date, and arms no timer', async () => {
    const { indexer, store, clock, run } = anIndexer();
    await insertAll(store, endedCalls(5));
    indexer.start();
    await run(2000);
    expect(clock.armed).toBe(0);
    await indexer.stop();
  });

  it('does not gather commits while a request waits, but keeps the pauses after a failure', async () => {
    const { indexer, store, writer, clock, run } = anIndexer();
    const calls = endedCalls(9);
    await insertAll(store, calls.slice(0, 5));
    indexer.start();
    await run(2000);
    await insertAll(store, calls.slice(5, 7));
    await settled();
    expect(writer.ids).toHaveLength(5);
    indexer.hurry();
    await settled();
    expect(writer.ids).toHaveLength(7);

    writer.problem = 'no disk';
    await insertAll(store, calls.slice(7));
    await settled();
    indexer.hurry();
    await settled();
    const { leases } = writer;
    for (let times = 0; times < 5; times += 1) {
      indexer.hurry();
      await settled();
    }
    expect([writer.leases, clock.armed]).toEqual([leases, 1]);
    await indexer.stop();
  });

  it('pauses between batches while there are commits, unless the rows that wait in memory are nearly too many', async () => {
    const clock = new FakeClock();
    let isNearlyFull = false;
    let commit: () => void = () => {};
    let reads = 0;
    const source: IndexSource = {
      head: async () => 1_000,
      hashAt: async () => '',
      // Each batch takes 10 ms, and another commit happens meanwhile.
      read: async (after) => {
        reads += 1;
        await new Promise<void>((resolve) => void clock.after(10, resolve));
        commit();
        return { from: after, to: { seq: after + 1, hash: '' }, calls: [], refusals: [], hasMore: true };
      },
      isNearlyFull: () => isNearlyFull,
    };
    const log = (): void => {};
    const indexer = new CallIndexer({
      source,
      writer: new MemoryWriter(),
      clock,
      log: { info: log, warn: log, error: log },
      onCommitted: (listener) => ((commit = listener), () => {}),
      keepCallsMs: null,
    });
    const readsIn = async (ms: number): Promise<number> => {
      const before = reads;
      for (let at = 0; at < ms; at += 1) await clock.advance(1);
      return reads - before;
    };
    indexer.start();
    await readsIn(250);
    expect(await readsIn(400)).toBe(10);
    isNearlyFull = true;
    await readsIn(40);
    expect(await readsIn(400)).toBeGreaterThanOrEqual(30);
    isNearlyFull = false;
    await readsIn(10);
    const stopped = indexer.stop();
    await readsIn(20);
    await stopped;
  });

  it('continues at the position of the index', async () => {
    const { store, writer, ...first } = anIndexer();
    await insertAll(store, endedCalls(10));
    const source = new LedgerSource(store);
    await writer.apply((await source.read(0))!);
    first.indexer.start();
    await insertAll(store, endedCalls(20).slice(10));
    await first.run(2000);
    await first.indexer.stop();
    expect([writer.clears, writer.ids.length]).toEqual([0, 20]);
  });

  it('makes the index anew if the store is another one, or went back', async () => {
    for (const position of [
      { seq: 3, hash: 'of another store' },
      { seq: 1e9, hash: 'of a later row' },
    ]) {
      const writer = new MemoryWriter();
      writer.position = position;
      const { indexer, store, run } = anIndexer(writer);
      await insertAll(store, endedCalls(10));
      indexer.start();
      await run(2000);
      await indexer.stop();
      expect([writer.clears, writer.ids.length]).toEqual([1, 10]);
    }
  });

  it('makes an index that was lost anew when a request waits for it, also without a commit', async () => {
    const { indexer, store, writer, run } = anIndexer();
    await insertAll(store, endedCalls(10));
    indexer.start();
    await run(2000);
    // The file was damaged, and replaced by an empty one.
    await writer.clear();
    indexer.hurry();
    await run(2000);
    await indexer.stop();
    expect(writer.ids).toHaveLength(10);
  });

  it('waits while another node has the lease, and takes it over', async () => {
    const { indexer, store, writer, run } = anIndexer();
    writer.isElsewhere = true;
    await insertAll(store, endedCalls(10));
    indexer.start();
    await run(12_000);
    expect(writer.leases).toBe(3);
    writer.isElsewhere = false;
    await run(10_000);
    await indexer.stop();
    expect(writer.ids).toHaveLength(10);
  });

  it('logs a failure once, retries less and less often, and recovers', async () => {
    const { indexer, store, writer, logged, run } = anIndexer();
    writer.problem = 'the disk is full';
    await insertAll(store, endedCalls(10));
    indexer.start();
    await run(600_000);
    expect(logged).toEqual(['search.index_failed']);
    expect(writer.leases).toBeLessThan(20);
    writer.problem = null;
    await run(120_000);
    await indexer.stop();
    expect(logged).toEqual(['search.index_failed', 'search.index_recovered']);
    expect(writer.ids).toHaveLength(10);
  });

  it('forgets calls when they are no longer kept', async () => {
    const { indexer, store, writer, clock, run } = anIndexer(new MemoryWriter(), 1000);
    indexer.start();
    await run(2000);
    await insertAll(store, endedCalls(1));
    await run(3_700_000);
    await insertAll(store, endedCalls(2).slice(1));
    await run(2000);
    await indexer.stop();
    expect(writer.forgotten).toHaveLength(2);
    expect(clock.now() - writer.forgotten[1]!).toBeLessThan(5000);
  });
});
