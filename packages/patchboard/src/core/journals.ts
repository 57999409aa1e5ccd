/** A journal entry that has no number yet. */
export interface JournalDraft {
  readonly kind: string;
  /** JSON text. */
  readonly body: string;
}

/** Entries of one journal are numbered from 1, without a gap, and never change. */
export interface JournalEntry extends JournalDraft {
  readonly no: number;
}

export interface JournalStore {
  /**
   * Appends all entries after number `after`, or none (compare-and-set). Returns false if the journal does not end there,
   * because another process writes it.
   */
  appendJournal(journal: string, after: number, entries: readonly JournalDraft[]): Promise<boolean>;
  /** Reads entries in order, after number `after`. `kinds` default: all. */
  readJournal(
    journal: string,
    after: number,
    limit: number,
    kinds?: readonly string[],
  ): Promise<readonly JournalEntry[]>;
}
