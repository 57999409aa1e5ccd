import type { DocumentChange, DocumentKind } from '../../core/documents.ts';
import type { JournalDraft, JournalEntry } from '../../core/journals.ts';
import { textArray } from '../../postgres/arrays.ts';
import type { Queryable } from '../../postgres/connection.ts';
import { hasRevision, type Revisions } from './revisions.ts';
import type { Tables } from './schema.ts';

/** Small records beside the calls: documents and journals. */
export class DocumentTables {
  readonly #tables: Tables;
  readonly #revisions: Revisions;

  constructor(tables: Tables, revisions: Revisions) {
    this.#tables = tables;
    this.#revisions = revisions;
  }

  /** `revision`: from `Revisions.next`; null if no change has one. */
  async change(
    queryable: Queryable,
    changes: readonly DocumentChange[],
    revision: number | null,
  ): Promise<void> {
    const { documents } = this.#tables;
    const put = `insert into ${documents} (kind, id, body, revision) values ($1, $2, $3, $4)
      on conflict (kind, id) do update set body = excluded.body, revision = excluded.revision`;
    const remove = `delete from ${documents} where kind = $1 and id = $2`;
    for (const { kind, id, body } of changes) {
      const own = hasRevision({ kind }) ? revision : null;
      if (body === null) await queryable.query({ name: 'delete_document', text: remove }, [kind, id]);
      else await queryable.query({ name: 'put_document', text: put }, [kind, id, body, own ?? 0]);
      if (own === null) continue;
      const removed = { kind, tenant: '', id };
      if (body === null) await this.#revisions.removed(queryable, removed, own);
      else await this.#revisions.restored(queryable, removed);
    }
  }

  /** Returns false if there is a document with that id. */
  async add(
    queryable: Queryable,
    { kind, id, body }: { readonly kind: DocumentKind; readonly id: string; readonly body: string },
    revision: number | null,
  ): Promise<boolean> {
    const text = `insert into ${this.#tables.documents} (kind, id, body, revision) values ($1, $2, $3, $4)
      on conflict do nothing`;
    const { count } = await queryable.query({ name: 'add_document', text }, [kind, id, body, revision ?? 0]);
    if (count === 1 && revision !== null) await this.#revisions.restored(queryable, { kind, tenant: '', id });
    return count === 1;
  }

  async one(queryable: Queryable, kind: DocumentKind, id: string): Promise<string | undefined> {
    const text = `select body from ${this.#tables.documents} where kind = $1 and id = $2`;
    const { rows } = await queryable.query<{ body: string }>({ name: 'document', text }, [kind, id]);
    return rows[0]?.body;
  }

  async all(
    queryable: Queryable,
    kind: DocumentKind,
  ): Promise<readonly { readonly id: string; readonly body: string }[]> {
    const text = `select id, body from ${this.#tables.documents} where kind = $1 order by id`;
    return (await queryable.query<{ id: string; body: string }>({ name: 'documents', text }, [kind])).rows;
  }

  /** Appends all entries after number `after`, or none: returns false if the journal does not end there. */
  async appendJournal(
    queryable: Queryable,
    journal: string,
    after: number,
    entries: readonly JournalDraft[],
  ): Promise<boolean> {
    const { journals } = this.#tables;
    const text = `with ending as (
        select coalesce(max(no), 0) = $2::int8 as matches from ${journals} where journal = $1),
      added as (
        insert into ${journals} (journal, no, kind, body)
        select $1, $2::int8 + x.n, x.kind, x.body
        from ending, unnest($3::text[], $4::text[]) with ordinality as x (kind, body, n)
        where ending.matches on conflict do nothing returning 1)
      select matches and (select count(*) from added) = cardinality($3::text[]) as appended from ending`;
    const { rows } = await queryable.query<{ appended: boolean }>({ name: 'append_journal', text }, [
      journal,
      after,
      textArray(entries.map(({ kind }) => kind)),
      textArray(entries.map(({ body }) => body)),
    ]);
    return rows[0]?.appended === true;
  }

  async readJournal(
    queryable: Queryable,
    journal: string,
    after: number,
    limit: number,
    kinds: readonly string[] | undefined,
  ): Promise<readonly JournalEntry[]> {
    const text = `select no, kind, body from ${this.#tables.journals}
      where journal = $1 and no > $2 and ($4::text[] is null or kind = any($4)) order by no limit $3`;
    const values = [journal, after, limit, kinds === undefined ? null : textArray(kinds)];
    return (await queryable.query<JournalEntry>({ name: 'read_journal', text }, values)).rows;
  }
}
