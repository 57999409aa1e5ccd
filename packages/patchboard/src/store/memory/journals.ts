import { BoundedMap } from '../../core/bounded-map.ts';
import type { JournalDraft, JournalEntry } from '../../core/journals.ts';

interface KeptJournal {
  /** How many entries were dropped before the first that is kept. */
  readonly dropped: number;
  readonly entries: JournalEntry[];
}

/** Keeps the `retain` journals that were written last. */
export class MemoryJournals {
  readonly #retain: number;
  readonly #journals: BoundedMap<string, KeptJournal>;
  #hasDropped = false;

  constructor(retain: number) {
    this.#retain = retain;
    this.#journals = new BoundedMap(retain);
  }

  /** False: another writer has written after `after` first. */
  append(journal: string, after: number, drafts: readonly JournalDraft[]): boolean {
    const standing = this.#journals.use(journal);
    const kept = standing ?? this.#begin(after);
    if (kept.dropped + kept.entries.length !== after) return false;
    drafts.forEach(({ kind, body }, index) => kept.entries.push({ no: after + index + 1, kind, body }));
    if (standing !== undefined) return true;
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

  /** An agent may outlive its journal in the store: what it writes next is kept from there on. */
  #begin(after: number): KeptJournal {
    return { dropped: this.#hasDropped ? after : 0, entries: [] };
  }
}
