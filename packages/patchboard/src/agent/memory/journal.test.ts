import { describe, expect, it } from 'vitest';
import { memory } from '../../board/stores.ts';
import type { JournalStore } from '../../core/journals.ts';
import { Journal } from './journal.ts';

/** A journal on a real store that fails a given number of writes. */
async function aJournal() {
  const store = await memory().open();
  let refusals = 0;
  const refusing: JournalStore = {
    appendJournal: async (id, last, entries) => {
      if (refusals > 0) {
        refusals -= 1;
        throw new Error('disk full');
      }
      return await store.appendJournal(id, last, entries);
    },
    readJournal: (...asked) => store.readJournal(...asked),
  };
  const journal = new Journal(refusing, 'talk', 0, () => {});
  const refuseNext = (): void => {
    refusals += 1;
  };
  const kept = async (): Promise<string[]> => (await journal.read(0, 100)).map(({ body }) => body);
  return { journal, refuseNext, kept };
}

const entry = (body: string) => ({ kind: 'message', body });

describe('a lost entry whose write was not awaited', () => {
  it('rejects the next awaited write, whose entries are not stored', async () => {
    const { journal, refuseNext, kept } = await aJournal();
    await journal.append(entry('first'));
    refuseNext();
    journal.note(entry('noted'));
    await journal.settled();
    await expect(journal.append(entry('second'))).rejects.toThrow('disk full');
    expect(await kept()).toEqual(['first']);
    await journal.append(entry('second'));
    expect(await kept()).toEqual(['first', 'second']);
  });

  it('rejects an awaited write that was queued before the loss was known', async () => {
    const { journal, refuseNext, kept } = await aJournal();
    refuseNext();
    journal.note(entry('noted'));
    await expect(journal.append(entry('first'))).rejects.toThrow('disk full');
    await journal.append(entry('first'));
    expect(await kept()).toEqual(['first']);
  });

  it('rejects an awaited write of the same batch, once', async () => {
    const { journal, refuseNext, kept } = await aJournal();
    const before = journal.append(entry('first'));
    refuseNext();
    journal.note(entry('noted'));
    await expect(journal.append(entry('second'))).rejects.toThrow('disk full');
    await before;
    await journal.append(entry('third'));
    expect(await kept()).toEqual(['first', 'third']);
  });
});
