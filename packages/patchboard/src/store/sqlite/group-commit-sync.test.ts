import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StorageUnavailable } from '../../core/failures.ts';
import { GroupCommit, type Disk } from './group-commit.ts';

/** Answers when it is told to. */
class SlowDisk implements Disk {
  readonly waiting: ((error: Error | null) => void)[] = [];
  syncsNow = 0;
  lost: string | null = null;

  problem(): string | null {
    return this.lost;
  }

  sync(done: (error: Error | null) => void): void {
    this.waiting.push(done);
  }

  syncNow(): void {
    this.syncsNow += 1;
  }

  answer(error: Error | null = null): void {
    const done = this.waiting.shift();
    if (done === undefined) throw new Error('nobody waits for the disk');
    done(error);
  }
}

let database: DatabaseSync;
let disk: SlowDisk;
let commit: GroupCommit;
/** How many transactions watchers were told of. */
let told: number;

beforeEach(() => {
  database = new DatabaseSync(':memory:');
  database.exec('create table notes (text)');
  disk = new SlowDisk();
  told = 0;
  commit = new GroupCommit(database, disk, {
    save: () => () => {},
    beforeCommit: () => {},
    durable: () => (told += 1),
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
  it('is answered and told of after the disk has it, and not before', async () => {
    const first = note('first');
    await turns(3);
    expect({ notes: notes(), told, settled: first.isSettled() }).toEqual({
      notes: ['first'],
      told: 0,
      settled: false,
    });
    disk.answer();
    await first.done;
    expect(told).toBe(1);
  });

  it('waits for a busy disk together with all that come meanwhile, and shares the next transaction with them', async () => {
    const first = note('first');
    await turns(1);
    const others = ['second', 'third', 'fourth'].map(note);
    await turns(3);
    expect(notes()).toEqual(['first']);
    expect(disk.waiting).toHaveLength(1);
    disk.answer();
    await first.done;
    await turns(1);
    expect(notes()).toHaveLength(4);
    expect(others.map((other) => other.isSettled())).toEqual([false, false, false]);
    disk.answer();
    await Promise.all(others.map(async ({ done }) => await done));
    expect(disk.waiting).toHaveLength(0);
  });

  it('is on the disk before a close is over, whether it was queued or under way', async () => {
    const underWay = note('under way');
    await turns(1);
    const queued = note('queued');
    commit.close();
    await Promise.all([underWay.done, queued.done]);
    expect(disk.syncsNow).toBe(2);
    disk.answer();
    expect(told).toBe(2);
    await expect(note('late').done).rejects.toThrow('the store is closed');
  });
});

describe('a reader', () => {
  it('waits while something is committed that the disk does not have', async () => {
    expect(commit.durable()).toBeUndefined();
    const first = note('first');
    expect(commit.durable()).toBeUndefined();
    await turns(1);
    let seen: unknown[] | undefined;
    const reading = commit.durable()?.then(() => (seen = notes()));
    const second = note('second');
    await turns(3);
    expect(seen).toBeUndefined();
    disk.answer();
    await reading;
    // The next transaction has not begun: what it saw is what the disk has.
    expect(seen).toEqual(['first']);
    await turns(1);
    disk.answer();
    await Promise.all([first.done, second.done]);
  });
});

describe('a disk that fails', () => {
  it('fails what was committed and what was queued, and nothing is written any more', async () => {
    const first = note('first');
    await turns(1);
    const queued = note('queued');
    const reading = commit.durable();
    disk.answer(new Error('EIO: i/o error, fdatasync'));
    const said =
      'the disk did not keep what was written (EIO: i/o error, fdatasync); nothing more is written until a restart';
    await expect(first.done).rejects.toThrow(said);
    await expect(queued.done).rejects.toThrow(said);
    await expect(note('late').done).rejects.toThrow(said);
    await reading;
    await turns(2);
    expect({ told, waiting: disk.waiting }).toEqual({ told: 0, waiting: [] });
    expect(notes()).toEqual(['first']);
  });
});

describe('files that are gone', () => {
  it('refuse what is queued before anything is committed, and accept writes once they are back', async () => {
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
    disk.answer();
    await third.done;
    expect([notes(), commit.problem(), told]).toEqual([['third'], null, 1]);
  });
});
