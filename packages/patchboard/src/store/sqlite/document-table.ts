import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { DocumentChange, DocumentKind } from '../../core/documents.ts';
import { text } from './rows.ts';

export class DocumentTable {
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #one: StatementSync;
  readonly #all: StatementSync;

  constructor(database: DatabaseSync) {
    this.#put = database.prepare('insert or replace into documents (kind, id, body) values (?, ?, ?)');
    this.#remove = database.prepare('delete from documents where kind = ? and id = ?');
    this.#one = database.prepare('select body from documents where kind = ? and id = ?');
    this.#all = database.prepare('select id, body from documents where kind = ? order by id');
  }

  put(kind: DocumentKind, id: string, body: string): void {
    this.#put.run(kind, id, body);
  }

  remove(kind: DocumentKind, id: string): void {
    this.#remove.run(kind, id);
  }

  change(documents: readonly DocumentChange[]): void {
    for (const { kind, id, body } of documents) {
      if (body === null) this.remove(kind, id);
      else this.put(kind, id, body);
    }
  }

  one(kind: DocumentKind, id: string): string | undefined {
    const row = this.#one.get(kind, id);
    return row === undefined ? undefined : text(row, 'body');
  }

  all(kind: DocumentKind): { readonly id: string; readonly body: string }[] {
    return this.#all.all(kind).map((row) => ({ id: text(row, 'id'), body: text(row, 'body') }));
  }
}
