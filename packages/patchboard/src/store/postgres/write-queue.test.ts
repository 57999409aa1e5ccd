import { describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../core/failures.ts';
import { aCall, aRecord, anEntry, callId, completed } from '../samples.contract.ts';
import { WriteQueue, type Committer } from './write-queue.ts';
import type { Write, WriteOutcome } from './write.ts';
import { fenced, type WriterLost } from './writer-lost.ts';

const INSERTED: WriteOutcome = { kind: 'inserted' };

function insert(n: number, scope?: string): Write {
  const key = scope === undefined ? null : { scope, bodyHash: 'b', expiresAt: 9e12 };
  return { kind: 'insert', record: aRecord(aCall(n), key) };
}

function replace(n: number): Write {
  return {
    kind: 'replace',
    call: completed(aCall(n)),
    expectedVersion: 1,
    entries: [],
    argsChanged: false,
    keepsHolder: false,
  };
}

function sqlError(code: string): Error {
  return Object.assign(new Error(`error ${code}`), { code });
}

/** Records batches. `fail` returns the error of a batch, or undefined. */
function aQueue(fail: (ids: readonly string[]) => Error | undefined = () => undefined): {
  queue: WriteQueue;
  batches: string[][];
  lost: WriterLost[];
} {
  const batches: string[][] = [];
  const lost: WriterLost[] = [];
  const committer: Committer = {
    commit: async (writes) => {
      await new Promise((resolve) => setImmediate(resolve));
      const ids = writes.map(idOf);
      const error = fail(ids);
      if (error !== undefined) throw error;
      batches.push(ids);
      return writes.map((write): WriteOutcome => (write.kind === 'insert' ? INSERTED : { kind: 'replaced' }));
    },
  };
  const queue = new WriteQueue({ committer, committed: () => {}, lost: (error) => lost.push(error) });
  return { queue, batches, lost };
}

function idOf(write: Write): string {
  if (write.kind === 'insert') return write.record.call.id;
  return write.kind === 'replace' ? `-${write.call.id}` : write.kind;
}

const ids = (...numbers: number[]): string[] => numbers.map(callId);

describe('WriteQueue', () => {
  it('commits the writes of one turn together, and later ones in the next batch', async () => {
    const { queue, batches } = aQueue();
    const first = [1, 2, 3].map((n) => queue.push(insert(n)));
    await first[0];
    await queue.push(insert(4));
    expect(batches).toEqual([ids(1, 2, 3), ids(4)]);
  });

  it('ends a batch before a second change of a call and before another kind of change', async () => {
    const { queue, batches } = aQueue();
    const other: Write = { kind: 'other', run: () => Promise.resolve({ value: 1, entries: [] }) };
    const append: Write = { kind: 'append', entries: [anEntry()] };
    await Promise.all(
      [insert(1), replace(1), replace(1), other, insert(2), append].map((one) => queue.push(one)),
    );
    expect(batches).toEqual([
      [callId(1), `-${callId(1)}`],
      [`-${callId(1)}`],
      ['other'],
      [callId(2), 'append'],
    ]);
  });

  it('resolves waiting duplicates of a key without another batch', async () => {
    const { queue, batches } = aQueue();
    const outcomes = await Promise.all([1, 2, 3].map((n) => queue.push(insert(n, 'k'))));
    const duplicate = { kind: 'duplicate', callId: callId(1), bodyHash: 'b' };
    expect(outcomes).toEqual([INSERTED, duplicate, duplicate]);
    expect(batches).toEqual([ids(1)]);
  });

  it('isolates a write that makes its batch fail; the others are committed in order', async () => {
    const { queue, batches } = aQueue((batch) => (batch.includes(callId(5)) ? sqlError('22021') : undefined));
    const results = await Promise.allSettled([1, 2, 3, 4, 5, 6, 7, 8].map((n) => queue.push(insert(n))));
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8].map((n) => n !== 5),
    );
    expect(batches.flat()).toEqual(ids(1, 2, 3, 4, 6, 7, 8));
    expect(queue.problem).toBeNull();
  });

  it('repeats a single write after a deadlock', async () => {
    let attempts = 0;
    const { queue } = aQueue(() => ((attempts += 1) < 3 ? sqlError('40P01') : undefined));
    expect(await queue.push(insert(1))).toEqual(INSERTED);
    expect(attempts).toBe(3);
  });

  it('rejects the whole batch if the disk is full, and says so until a batch succeeds', async () => {
    let isFull = true;
    const { queue } = aQueue(() => (isFull ? sqlError('53100') : undefined));
    const results = await Promise.allSettled([1, 2].map((n) => queue.push(insert(n))));
    for (const result of results)
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StorageFull' } });
    expect(queue.problem).toMatch(/53100/);
    isFull = false;
    await queue.push(insert(3));
    expect(queue.problem).toBeNull();
  });

  it('rejects what waits, not what is being committed, while the database is away', async () => {
    const { queue } = aQueue();
    const taken = queue.push(insert(1));
    await new Promise((resolve) => setImmediate(resolve));
    const waiting = queue.push(insert(2));
    queue.rejectWaiting(new StorageUnavailable('away'));
    await expect(waiting).rejects.toThrow('away');
    expect(await taken).toEqual(INSERTED);
  });

  it('reports a lost writer once, and rejects every later write', async () => {
    const { queue, lost } = aQueue(() => fenced());
    const results = await Promise.allSettled([queue.push(insert(1)), queue.push(insert(2))]);
    expect(results.every(({ status }) => status === 'rejected')).toBe(true);
    await expect(queue.push(insert(3))).rejects.toThrow(/taken over/);
    expect(lost).toHaveLength(1);
  });

  it('is idle when everything is settled, and rejects writes after it was stopped', async () => {
    const { queue, batches } = aQueue();
    const pushed = queue.push(insert(1));
    queue.stop(new StorageUnavailable('the store is closed'));
    await expect(queue.push(insert(2))).rejects.toThrow('closed');
    await queue.idle();
    expect(batches).toEqual([ids(1)]);
    expect(await pushed).toEqual(INSERTED);
  });
});
