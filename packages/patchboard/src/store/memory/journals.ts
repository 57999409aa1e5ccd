import type { JournalDraft, JournalEntry } from '../../core/journals.ts';

export class MemoryJournals {
  readonly #journals: Map<string, JournalEntry[]> = new Map();

  /** False: somebody else wrote after `after` first. */
  append(journal: string, after: number, entries: readonly JournalDraft[]): boolean {
    const standing = this.#journals.get(journal) ?? [];
    if (standing.length !== after) return false;
    entries.forEach(({ kind, body }, index) => standing.push({ no: after + index + 1, kind, body }));
    this.#journals.set(journal, standing);
    return true;
  }

  read(journal: string, after: number, limit: number, kinds?: readonly string[]): JournalEntry[] {
    const found: JournalEntry[] = [];
    const standing = this.#journals.get(journal) ?? [];
    for (let index = after; index < standing.length && found.length < limit; index += 1) {
      const entry = standing[index];
      if (entry !== undefined && (kinds === undefined || kinds.includes(entry.kind))) found.push(entry);
    }
    return found;
  }
}
