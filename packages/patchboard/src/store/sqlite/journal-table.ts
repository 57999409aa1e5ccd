import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { JournalDraft, JournalEntry } from '../../core/journals.ts';
import { Turns } from '../turns.ts';
import { integer, text } from './rows.ts';

export class JournalTable {
  readonly #end: StatementSync;
  readonly #add: StatementSync;
  readonly #read: StatementSync;
  readonly #readKinds: StatementSync;
  readonly #turns: Turns = new Turns();

  constructor(database: DatabaseSync) {
    this.#end = database.prepare('select coalesce(max(no), 0) as no from journals where journal = ?');
    this.#add = database.prepare('insert into journals (journal, no, kind, body) values (?, ?, ?, ?)');
    const select = 'select no, kind, body from journals where journal = ? and no > ?';
    this.#read = database.prepare(`${select} order by no limit ?`);
    this.#readKinds = database.prepare(
      `${select} and kind in (select value from json_each(?)) order by no limit ?`,
    );
  }

  append(journal: string, after: number, entries: readonly JournalDraft[]): boolean {
    const end = this.#end.get(journal);
    if (end === undefined || integer(end, 'no') !== after) return false;
    entries.forEach(({ kind, body }, index) => this.#add.run(journal, after + index + 1, kind, body));
    return true;
  }

  async read(
    journal: string,
    after: number,
    limit: number,
    kinds?: readonly string[],
  ): Promise<readonly JournalEntry[]> {
    const rows =
      kinds === undefined
        ? this.#read.all(journal, after, limit)
        : this.#readKinds.all(journal, after, JSON.stringify(kinds), limit);
    await this.#turns.after(rows.length);
    return rows.map((row) => ({ no: integer(row, 'no'), kind: text(row, 'kind'), body: text(row, 'body') }));
  }
}
