import type { NodeKey } from '../../cluster/node-table.ts';
import type { StoredTool } from '../../core/tools/registered-tool.ts';
import { textArray } from '../../postgres/arrays.ts';
import type { Queryable } from '../../postgres/connection.ts';
import { removedTool, type Revisions } from './revisions.ts';
import type { Tables } from './schema.ts';

export interface ToolName {
  readonly tenant: string;
  readonly name: string;
}

/**
 * The tools of clients: those registered over HTTP, and the offers of devices, which last as long as the node that the
 * devices are connected to. A name belongs to one client of the tenant, whatever node it is registered at.
 */
export class ToolTables {
  readonly #tables: Tables;
  readonly #revisions: Revisions;

  constructor(tables: Tables, revisions: Revisions) {
    this.#tables = tables;
    this.#revisions = revisions;
  }

  /**
   * Inserts or replaces the tools, as offers of devices at `node` if it is given. Returns the names that another client
   * holds: then nothing was written. `revision` comes from `Revisions.next`, so no other node claims a name meanwhile.
   */
  async save(
    queryable: Queryable,
    tools: readonly StoredTool[],
    revision: number,
    node: NodeKey | null,
  ): Promise<readonly string[]> {
    const held = await this.#heldNames(queryable, tools);
    if (held.length > 0) return held;
    const { tools: kept, tool_offers: offers } = this.#tables;
    const columns = 'tenant, name, client_id, wire_name, spec, registered_at, revision';
    const replaced = `client_id = excluded.client_id, wire_name = excluded.wire_name, spec = excluded.spec,
      registered_at = excluded.registered_at, revision = excluded.revision`;
    const save = `insert into ${kept} (${columns}) values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (tenant, name) do update set ${replaced}`;
    const offer = `insert into ${offers} (${columns}, writer, epoch) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict (tenant, name, writer) do update set ${replaced}, epoch = excluded.epoch`;
    for (const { tenant, spec, clientId, wireName, registeredAt } of tools) {
      const values = [tenant, spec.name, clientId, wireName, JSON.stringify(spec), registeredAt, revision];
      if (node === null) await queryable.query({ name: 'save_tool', text: save }, values);
      else await queryable.query({ name: 'offer_tool', text: offer }, [...values, node.writer, node.epoch]);
      await this.#revisions.restored(queryable, removedTool({ tenant, name: spec.name }));
    }
    return [];
  }

  async #heldNames(queryable: Queryable, tools: readonly StoredTool[]): Promise<readonly string[]> {
    const { tools: kept, tool_offers: offers } = this.#tables;
    const text = `select distinct x.name from unnest($1::text[], $2::text[], $3::text[]) as x (tenant, name, client_id)
      join (select tenant, name, client_id from ${kept} union all select tenant, name, client_id from ${offers}) t
      on t.tenant = x.tenant and t.name = x.name and t.client_id <> x.client_id order by x.name`;
    const { rows } = await queryable.query<{ name: string }>({ name: 'held_names', text }, [
      textArray(tools.map(({ tenant }) => tenant)),
      textArray(tools.map(({ spec }) => spec.name)),
      textArray(tools.map(({ clientId }) => clientId)),
    ]);
    return rows.map(({ name }) => name);
  }

  /** Removes the tools; with `node` only what its devices offer. */
  async remove(
    queryable: Queryable,
    names: readonly ToolName[],
    revision: number,
    node: NodeKey | null,
  ): Promise<void> {
    const { tools, tool_offers: offers } = this.#tables;
    for (const { tenant, name } of names) {
      if (node === null)
        await queryable.query(
          { name: 'remove_tool', text: `delete from ${tools} where tenant = $1 and name = $2` },
          [tenant, name],
        );
      const withdraw = `delete from ${offers} where tenant = $1 and name = $2 and ($3::int is null or writer = $3)`;
      await queryable.query({ name: 'withdraw_tool', text: withdraw }, [tenant, name, node?.writer ?? null]);
      await this.#revisions.removed(queryable, removedTool({ tenant, name }), revision);
    }
  }

  /** Those registered over HTTP. */
  async kept(queryable: Queryable): Promise<readonly StoredTool[]> {
    const text = `select tenant, client_id, wire_name, spec, registered_at from ${this.#tables.tools}
      order by tenant, name`;
    return (await queryable.query<ToolRow>({ name: 'tools', text })).rows.map(storedTool);
  }

  /** Whether there are offers of nodes that are gone. */
  async hasOffersOfGoneNodes(queryable: Queryable): Promise<boolean> {
    const text = `select exists (select from ${this.#tables.tool_offers} o where ${this.#isGone}) as found`;
    const { rows } = await queryable.query<{ found: boolean }>({ name: 'gone_offers', text });
    return rows[0]?.found === true;
  }

  async removeOffersOfGoneNodes(queryable: Queryable, revision: number): Promise<void> {
    const text = `delete from ${this.#tables.tool_offers} o where ${this.#isGone} returning tenant, name`;
    const { rows } = await queryable.query<ToolName>({ name: 'remove_gone_offers', text });
    for (const name of rows) await this.#revisions.removed(queryable, removedTool(name), revision);
  }

  get #isGone(): string {
    return `not exists (select from ${this.#tables.writers} w
      where w.writer = o.writer and w.epoch = o.epoch and w.state <> 'free')`;
  }
}

export interface ToolRow {
  readonly tenant: string;
  readonly client_id: string;
  readonly wire_name: string;
  readonly spec: string;
  readonly registered_at: number;
}

export function storedTool(row: ToolRow): StoredTool {
  return {
    tenant: row.tenant,
    clientId: row.client_id,
    wireName: row.wire_name,
    spec: JSON.parse(row.spec) as StoredTool['spec'],
    registeredAt: row.registered_at,
  };
}
