import type { DocumentChange, DocumentKind } from '../../core/documents.ts';
import type { JournalDraft, JournalEntry } from '../../core/journals.ts';
import type { StoredTool } from '../../core/tools/registered-tool.ts';
import { textArray } from '../../postgres/arrays.ts';
import type { Queryable } from '../../postgres/connection.ts';
import type { Tables } from './schema.ts';

/** Small records beside the calls: documents, client tools and journals. */
export class DocumentTables {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  async change(queryable: Queryable, changes: readonly DocumentChange[]): Promise<void> {
    const { documents } = this.#tables;
    const put = `insert into ${documents} (kind, id, body) values ($1, $2, $3)
      on conflict (kind, id) do update set body = excluded.body`;
    const remove = `delete from ${documents} where kind = $1 and id = $2`;
    for (const { kind, id, body } of changes) {
      if (body === null) await queryable.query({ name: 'delete_document', text: remove }, [kind, id]);
      else await queryable.query({ name: 'put_document', text: put }, [kind, id, body]);
    }
  }

  /** Returns false if there is a document with that id. */
  async add(queryable: Queryable, kind: DocumentKind, id: string, body: string): Promise<boolean> {
    const text = `insert into ${this.#tables.documents} (kind, id, body) values ($1, $2, $3) on conflict do nothing`;
    const { count } = await queryable.query({ name: 'add_document', text }, [kind, id, body]);
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

  /** Inserts or replaces the tools. Returns the names that another client holds: then nothing was written. */
  async saveTools(queryable: Queryable, tools: readonly StoredTool[]): Promise<readonly string[]> {
    const { tools: table } = this.#tables;
    // Another node must not give a name to another client between the check and the insert.
    await queryable.query({ name: 'lock_tools', text: `lock table ${table} in share row exclusive mode` });
    const parameters = [
      textArray(tools.map(({ tenant }) => tenant)),
      textArray(tools.map(({ spec }) => spec.name)),
      textArray(tools.map(({ clientId }) => clientId)),
    ];
    const text = `select name from ${table} join unnest($1::text[], $2::text[], $3::text[]) as x (tenant, name, client_id)
      using (tenant, name) where ${table}.client_id <> x.client_id order by name`;
    const held = await queryable.query<{ name: string }>({ name: 'held_names', text }, parameters);
    if (held.rows.length > 0) return held.rows.map(({ name }) => name);
    const save = `insert into ${table} (tenant, name, client_id, wire_name, spec, registered_at)
      values ($1, $2, $3, $4, $5, $6) on conflict (tenant, name) do update set client_id = excluded.client_id,
      wire_name = excluded.wire_name, spec = excluded.spec, registered_at = excluded.registered_at`;
    for (const { tenant, spec, clientId, wireName, registeredAt } of tools) {
      const values = [tenant, spec.name, clientId, wireName, JSON.stringify(spec), registeredAt];
      await queryable.query({ name: 'save_tool', text: save }, values);
    }
    return [];
  }

  async removeTools(
    queryable: Queryable,
    keys: readonly { readonly tenant: string; readonly name: string }[],
  ): Promise<void> {
    const text = `delete from ${this.#tables.tools} where tenant = $1 and name = $2`;
    for (const { tenant, name } of keys) await queryable.query({ name: 'remove_tool', text }, [tenant, name]);
  }

  async tools(queryable: Queryable): Promise<readonly StoredTool[]> {
    const text = `select tenant, client_id, wire_name, spec, registered_at from ${this.#tables.tools}
      order by tenant, name`;
    const { rows } = await queryable.query<ToolRow>({ name: 'tools', text });
    return rows.map((row) => ({
      tenant: row.tenant,
      clientId: row.client_id,
      wireName: row.wire_name,
      spec: JSON.parse(row.spec) as StoredTool['spec'],
      registeredAt: row.registered_at,
    }));
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

interface ToolRow {
  readonly tenant: string;
  readonly client_id: string;
  readonly wire_name: string;
  readonly spec: string;
  readonly registered_at: number;
}
