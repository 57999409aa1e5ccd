import { describe, expect, it } from 'vitest';
import type { Subject } from './store.contract.ts';

export function describeJournals(subject: Subject): void {
  describe('journals', () => {
    const a = { kind: 'message', body: '{"a":1}' };
    const b = { kind: 'event', body: '{"b":2}' };

    it('number their entries from 1, separately for each journal', async () => {
      const { store } = subject;
      expect(await store.appendJournal('run_1', 0, [a, b])).toBe(true);
      expect(await store.appendJournal('run_2', 0, [b])).toBe(true);
      expect(await store.appendJournal('run_1', 2, [a])).toBe(true);
      expect(await store.readJournal('run_1', 0, 10)).toEqual([
        { no: 1, ...a },
        { no: 2, ...b },
        { no: 3, ...a },
      ]);
      expect(await store.readJournal('run_2', 0, 10)).toEqual([{ no: 1, ...b }]);
      expect(await store.readJournal('run_3', 0, 10)).toEqual([]);
    });

    it('are read from any number on, by kind, page by page', async () => {
      const { store } = subject;
      await store.appendJournal('run_1', 0, [a, b, a, b, a]);
      expect((await store.readJournal('run_1', 2, 2)).map(({ no }) => no)).toEqual([3, 4]);
      expect((await store.readJournal('run_1', 1, 2, ['message'])).map(({ no }) => no)).toEqual([3, 5]);
      expect(await store.readJournal('run_1', 5, 10)).toEqual([]);
      expect(await store.readJournal('run_1', 0, 10, ['nothing'])).toEqual([]);
    });

    it('accept one of two concurrent writes, and nothing of the other', async () => {
      const { store } = subject;
      const results = await Promise.all([
        store.appendJournal('run_1', 0, [a]),
        store.appendJournal('run_1', 0, [b, b]),
      ]);
      expect(results).toEqual([true, false]);
      expect(await store.appendJournal('run_1', 7, [b])).toBe(false);
      expect(await store.readJournal('run_1', 0, 10)).toEqual([{ no: 1, ...a }]);
    });
  });
}
