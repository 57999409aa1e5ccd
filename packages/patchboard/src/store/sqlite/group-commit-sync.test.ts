import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../core/failures.ts';
import { GroupCommit, type Disk } from './group-commit.ts';

/** A disk whose syncs complete when the test calls `complete`. */
class SlowDisk implements Disk {
  readonly pending: ((error: Error | null) => void)[] = [];
  syncsNow = 0;
  lost: string | null = null;

  problem(): string | null {
    return this.lost;
  }

  sync(done: (error: Error | null) => void): void {
    this.pending.push(done);
  }

  syncNow(): void {
    this.syncsNow += 1;
  }

  complete(error: Error | null = null): void {
    const done = this.pending.shift();
    if (done === undefined) throw new Error('no sync is pending');
    done(error);
  }
}

let database: DatabaseSync;
let disk: SlowDisk;
let commit: GroupCommit;
/** Number of transactions for which `durable` was called. */
let durable: number;

beforeEach(() => {
  database = new DatabaseSync(':memory:');
  database.exec('create table notes (text)');
  disk = new SlowDisk();
  durable = 0;
  commit = new GroupCommit(database, disk, {
    save: () => () => {},
    beforeCommit: () => {},
    durable: () => (durable += 1),
  });
});
afterEach(() => database.close());

function note(text: string): { readonly done: Promise<void>; readonly isSettled: () => boolean } {
  let settled = false;
  const done = commit.write(() => void database.prepare('insert into notes values (?)').run(text));
  done.then(
    () => (settled = true),
    () => (settled = true),
  );
  return { done, isSettled: () => settled };
}

function notes(): unknown[] {
  return database
    .prepare('select text from notes')
    .all()
    .map((row) => row['text']);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('a write', () => {
  it('resolves, and is passed to watchers, only after it is on the disk', async () => {
    const first = note('first');
    await turns(3);
    expect({ notes: notes(), durable, settled: first.isSettled() }).toEqual({
      notes: ['first'],
      durable: 0,
      settled: false,
    });
    disk.complete();
    await first.done;
    expect(durable).toBe(1);
  });

  it('shares the next transaction with all writes that arrive while the disk is busy', async () => {
    const first = note('first');
    await turns(1);
    const others = ['second', 'third', 'fourth'].map(note);
    await turns(3);
    expect(notes()).toEqual(['first']);
    expect(disk.pending).toHaveLength(1);
    disk.complete();
    await first.done;
    await turns(1);
    expect(notes()).toHaveLength(4);
    expect(others.map((other) => other.isSettled())).toEqual([false, false, false]);
    disk.complete();
    await Promise.all(others.map(async ({ done }) => await done));
    expect(disk.pending).toHaveLength(0);
  });

  it('is on the disk when `close` returns, whether it was queued or in progress', async () => {
    const underWay = note('under way');
    await turns(1);
    const queued = note('queued');
    commit.close();
    await Promise.all([underWay.done, queued.done]);
    expect(disk.syncsNow).toBe(2);
    disk.complete();
    expect(durable).toBe(2);
    await expect(note('late').done).rejects.toThrow('the store is closed');
  });
});

describe('a reader', () => {
  it('waits while a commit is not on the disk', async () => {
    expect(commit.durable()).toBeUndefined();
    const first = note('first');
    expect(commit.durable()).toBeUndefined();
    await turns(1);
    let seen: unknown[] | undefined;
    const reading = commit.durable()?.then(() => (seen = notes()));
    const second = note('second');
    await turns(3);
    expect(seen).toBeUndefined();
    disk.complete();
    await reading;
    // The next transaction has not begun: the reader sees exactly what is on the disk.
    expect(seen).toEqual(['first']);
    await turns(1);
    disk.complete();
    await Promise.all([first.done, second.done]);
  });
});

describe('a disk that fails', () => {
  it('rejects committed and queued writes, and nothing is written any more', async () => {
    const first = note('first');
    await turns(1);
    const queued = note('queued');
    const reading = commit.durable();
    disk.complete(new Error('EIO: i/o error, fdatasync'));
    const message =
      'the disk did not keep what was written (EIO: i/o error, fdatasync); nothing more is written until a restart';
    await expect(first.done).rejects.toThrow(message);
    await expect(queued.done).rejects.toThrow(message);
    await expect(note('late').done).rejects.toThrow(message);
    await reading;
    await turns(2);
    expect({ durable, waiting: disk.pending }).toEqual({ durable: 0, waiting: [] });
    expect(notes()).toEqual(['first']);
  });
});

describe('files that are gone', () => {
  it('make queued writes reject without a commit, and writes work again once they are back', async () => {
    disk.lost = 'the folder was moved';
    expect(commit.problem()).toBe('the folder was moved');
    const refused = [note('first'), note('second')];
    for (const { done } of refused) {
      await expect(done).rejects.toThrow(new StorageUnavailable('the folder was moved'));
    }
    expect(notes()).toEqual([]);
    disk.lost = null;
    const third = note('third');
    await turns(1);
    disk.complete();
    await third.done;
    expect([notes(), commit.problem(), durable]).toEqual([['third'], null, 1]);
  });
});
