import type { DocumentChange, DocumentKind } from '../../core/documents.ts';
import type { StoreChanges, ToolChange } from '../../core/store-changes.ts';
import type { Queryable } from '../../postgres/connection.ts';
import type { Tables } from './schema.ts';
import { storedTool, type ToolRow } from './tool-tables.ts';

/** Each node reads these from the store where it needs them, so that a change of one concerns no other node. */
const WITHOUT_REVISION: readonly DocumentKind[] = ['todo', 'key_use'];
/** The kind of removed tools in `removals`; every other one is a kind of documents. */
const TOOL = 'tool';

export function hasRevision({ kind }: Pick<DocumentChange, 'kind'>): boolean {
  return !WITHOUT_REVISION.includes(kind);
}

/** What was removed; `tenant` is empty for a document. */
export interface Removed {
  readonly kind: DocumentKind | typeof TOOL;
  readonly tenant: string;
  readonly id: string;
}

export function removedTool({ tenant, name }: { readonly tenant: string; readonly name: string }): Removed {
  return { kind: TOOL, tenant, id: name };
}

/**
 * The revisions of documents and tools: one counter, whose row is locked until the commit of the change. So changes become
 * visible in the order of their revisions, and a node that has read up to one misses none before it.
 */
export class Revisions {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  /** Must be the first statement of a change, before it reads or locks other rows: changes wait for each other here. */
  async next(queryable: Queryable): Promise<number> {
    const text = `insert into ${this.#tables.revisions} as r (one, revision) values (1, 1)
      on conflict (one) do update set revision = r.revision + 1 returning revision`;
    const { rows } = await queryable.query<{ revision: number }>({ name: 'next_revision', text });
    const [row] = rows;
    if (row === undefined) throw new Error('the counter of revisions returned no row');
    return row.revision;
  }

  async removed(queryable: Queryable, { kind, tenant, id }: Removed, revision: number): Promise<void> {
    const text = `insert into ${this.#tables.removals} (kind, tenant, id, revision, removed_at)
      values ($1, $2, $3, $4, ${NOW_MS}) on conflict (kind, tenant, id)
      do update set revision = excluded.revision, removed_at = excluded.removed_at`;
    await queryable.query({ name: 'add_removal', text }, [kind, tenant, id, revision]);
  }

  /** The document or tool is stored again. */
  async restored(queryable: Queryable, { kind, tenant, id }: Removed): Promise<void> {
    const text = `delete from ${this.#tables.removals} where kind = $1 and tenant = $2 and id = $3`;
    await queryable.query({ name: 'drop_removal', text }, [kind, tenant, id]);
  }

  /** `writer`: the one of this node, whose devices are not elsewhere. */
  async changes(queryable: Queryable, after: number, writer: number): Promise<StoreChanges> {
    const { revisions, documents, tools, removals, tool_offers: offers } = this.#tables;
    // One statement, so that all of it is of one snapshot.
    const text = `with d as (
        select kind, id, body from ${documents} where revision > $1
        union all select kind, id, null from ${removals} where revision > $1 and kind <> '${TOOL}'),
      n as (
        select tenant, name from ${tools} where revision > $1
        union select tenant, name from ${offers} where revision > $1
        union select tenant, id from ${removals} where revision > $1 and kind = '${TOOL}'),
      t as (
        select n.tenant, n.name, coalesce(k.client_id, o.client_id) as client_id,
          coalesce(k.wire_name, o.wire_name) as wire_name, coalesce(k.spec, o.spec) as spec,
          coalesce(k.registered_at, o.registered_at) as registered_at, k.name is not null as kept,
          exists (select from ${offers} e where e.tenant = n.tenant and e.name = n.name and e.writer <> $2) as elsewhere
        from n left join ${tools} k on k.tenant = n.tenant and k.name = n.name
        left join lateral (select * from ${offers} x where x.tenant = n.tenant and x.name = n.name
          order by x.writer limit 1) o on true)
      select coalesce((select revision from ${revisions}), 0) as revision,
        (select json_agg(d) from d)::text as documents, (select json_agg(t) from t)::text as tools`;
    const { rows } = await queryable.query<ChangesRow>({ name: 'changes', text }, [after, writer]);
    const [row] = rows;
    if (row === undefined) throw new Error('the changes returned no row');
    return {
      revision: row.revision,
      documents: parsed<DocumentChange>(row.documents),
      tools: parsed<ChangedToolRow>(row.tools).map(toolChange),
    };
  }

  /** Removals are needed only until every node has read them. */
  async clean(queryable: Queryable, olderThanMs: number): Promise<void> {
    const text = `delete from ${this.#tables.removals} where removed_at < ${NOW_MS} - $1::int8`;
    await queryable.query({ name: 'clean_removals', text }, [olderThanMs]);
  }
}

/** By the clock of the database: those of two nodes may differ. */
export const NOW_MS = `(extract(epoch from clock_timestamp()) * 1000)::int8`;

interface ChangesRow {
  readonly revision: number;
  readonly documents: string | null;
  readonly tools: string | null;
}

type ChangedToolRow = {
  readonly [Column in keyof ToolRow]: ToolRow[Column] | null;
} & { readonly tenant: string; readonly name: string; readonly kept: boolean; readonly elsewhere: boolean };

function parsed<Row>(json: string | null): readonly Row[] {
  return json === null ? [] : (JSON.parse(json) as readonly Row[]);
}

function toolChange({ kept, elsewhere, name, ...row }: ChangedToolRow): ToolChange {
  const tool = row.spec === null ? null : storedTool(row as ToolRow);
  return { tenant: row.tenant, name, tool, isKept: kept, isOnlineElsewhere: elsewhere };
}
