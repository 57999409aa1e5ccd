import { BoundedMap } from '../../core/bounded-map.ts';
import type { JournalDraft, JournalEntry } from '../../core/journals.ts';

interface KeptJournal {
  /** Number of entries dropped before the first kept one. */
  readonly dropped: number;
  readonly entries: JournalEntry[];
}

/** Keeps the `retain` most recently written journals. */
export class MemoryJournals {
  readonly #retain: number;
  readonly #journals: BoundedMap<string, KeptJournal>;
  #hasDropped = false;

  constructor(retain: number) {
    this.#retain = retain;
    this.#journals = new BoundedMap(retain);
  }

  /** Returns false if the journal does not end at `after`, because another writer was first. */
  append(journal: string, after: number, drafts: readonly JournalDraft[]): boolean {
    const existing = this.#journals.use(journal);
    const kept = existing ?? this.#begin(after);
    if (kept.dropped + kept.entries.length !== after) return false;
    drafts.forEach(({ kind, body }, index) => kept.entries.push({ no: after + index + 1, kind, body }));
    if (existing !== undefined) return true;
    this.#hasDropped ||= this.#journals.size === this.#retain;
    this.#journals.set(journal, kept);
    return true;
  }

  read(journal: string, after: number, limit: number, kinds?: readonly string[]): JournalEntry[] {
    const found: JournalEntry[] = [];
    const { dropped, entries } = this.#journals.get(journal) ?? { dropped: 0, entries: [] };
    const first = Math.max(0, after - dropped);
    for (let index = first; index < entries.length && found.length < limit; index += 1) {
      const entry = entries[index];
      if (entry !== undefined && (kinds === undefined || kinds.includes(entry.kind))) found.push(entry);
    }
    return found;
  }

  /** An agent may continue a journal that the store has dropped; its next entries are kept from there on. */
  #begin(after: number): KeptJournal {
    return { dropped: this.#hasDropped ? after : 0, entries: [] };
  }
}
