/** Something an agent wrote down, before it has its number. */
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
   * Adds all entries after number `after`, or none. False: the journal does not end there, so somebody else writes it,
   * and nothing was written.
   */
  appendJournal(journal: string, after: number, entries: readonly JournalDraft[]): Promise<boolean>;
  /** In order, after number `after`; of all kinds unless some are named. */
  readJournal(
    journal: string,
    after: number,
    limit: number,
    kinds?: readonly string[],
  ): Promise<readonly JournalEntry[]>;
}
