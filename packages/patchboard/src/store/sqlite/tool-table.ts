import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StoredTool } from '../../core/tools/registered-tool.ts';
import { integer, text, type Row } from './rows.ts';

/** The tools that clients registered over HTTP. */
export class ToolTable {
  readonly #save: StatementSync;
  readonly #remove: StatementSync;
  readonly #all: StatementSync;
  readonly #holder: StatementSync;

  constructor(database: DatabaseSync) {
    this.#save = database.prepare(
      `insert or replace into tools (tenant, name, client_id, wire_name, spec, registered_at)
       values (?, ?, ?, ?, ?, ?)`,
    );
    this.#remove = database.prepare('delete from tools where tenant = ? and name = ?');
    this.#all = database.prepare('select * from tools');
    this.#holder = database.prepare('select client_id from tools where tenant = ? and name = ?');
  }

  save({ tenant, spec, clientId, wireName, registeredAt }: StoredTool): void {
    this.#save.run(tenant, spec.name, clientId, wireName, JSON.stringify(spec), registeredAt);
  }

  /** Whether another client of the tenant has registered the name. */
  isHeldByOther({ tenant, spec, clientId }: StoredTool): boolean {
    const holder = this.#holder.get(tenant, spec.name);
    return holder !== undefined && text(holder, 'client_id') !== clientId;
  }

  remove({ tenant, name }: { readonly tenant: string; readonly name: string }): void {
    this.#remove.run(tenant, name);
  }

  all(): StoredTool[] {
    return this.#all.all().map(toTool);
  }
}

function toTool(row: Row): StoredTool {
  return {
    tenant: text(row, 'tenant'),
    clientId: text(row, 'client_id'),
    wireName: text(row, 'wire_name'),
    spec: JSON.parse(text(row, 'spec')) as StoredTool['spec'],
    registeredAt: integer(row, 'registered_at'),
  };
}
