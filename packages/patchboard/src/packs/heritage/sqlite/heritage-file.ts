import { DatabaseSync } from 'node:sqlite';
import type { SiteScope, UserEvent } from '../records.ts';

/** What the file holds beside `HeritageStorage`, which accesses one site: the list of all sites, and the visitor events. */
export class HeritageFile {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file, { readOnly: true });
  }

  sites(): SiteScope[] {
    const rows = this.#database.prepare('select tenant, id from sites order by tenant, id').all();
    return rows.map(({ tenant, id }) => ({ tenant: String(tenant), site: String(id) }));
  }

  /** Oldest first. */
  *events({ tenant, site }: SiteScope): Generator<UserEvent> {
    const rows = this.#database
      .prepare(
        `select e.id, event_type, event_data, user_id, session_id, logged_at from events e
          join sites s on s.no = e.site where s.tenant = ? and s.id = ? order by e.no`,
      )
      .iterate(tenant, site) as Iterable<Omit<UserEvent, 'event_data'> & { readonly event_data: string }>;
    for (const row of rows)
      yield { ...row, event_data: JSON.parse(row.event_data) as UserEvent['event_data'] };
  }

  close(): void {
    this.#database.close();
  }
}
