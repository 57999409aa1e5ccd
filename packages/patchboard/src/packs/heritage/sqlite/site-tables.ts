import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PointOfInterest, SiteRoute, SiteScope, UserEvent } from '../records.ts';

const POI = 'id, name, type, description, latitude, longitude';
const ROUTE = 'id, name, description, duration_minutes, poi_ids';
const EVENT = 'id, event_type, event_data, user_id, session_id, logged_at';

/** Sites with their points of interest, routes and visitor events. */
export class SiteTables {
  readonly #find: StatementSync;
  readonly #add: StatementSync;
  readonly #name: StatementSync;
  readonly #pois: StatementSync;
  readonly #putPoi: StatementSync;
  readonly #routes: StatementSync;
  readonly #putRoute: StatementSync;
  readonly #addEvent: StatementSync;
  readonly #event: StatementSync;

  constructor(database: DatabaseSync) {
    this.#find = database.prepare('select no, name from sites where tenant = ? and id = ?');
    this.#add = database.prepare('insert into sites (tenant, id, name) values (?, ?, ?) returning no');
    this.#name = database.prepare('update sites set name = ? where no = ?');
    this.#pois = database.prepare(`select ${POI} from pois where site = ? order by no`);
    this.#putPoi = database.prepare(putSql('pois', POI));
    this.#routes = database.prepare(`select ${ROUTE} from routes where site = ? order by no`);
    this.#putRoute = database.prepare(putSql('routes', ROUTE));
    this.#addEvent = database.prepare(
      `insert into events (site, ${EVENT}) values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
    );
    this.#event = database.prepare(`select ${EVENT} from events where site = ? and id = ?`);
  }

  find({ tenant, site }: SiteScope): { readonly no: number; readonly name: string } | undefined {
    const row = this.#find.get(tenant, site);
    return row === undefined ? undefined : { no: row['no'] as number, name: row['name'] as string };
  }

  /** Creates a missing site; without a name, its id is the name. */
  ensure(scope: SiteScope, name: string | null): number {
    const found = this.find(scope);
    if (found === undefined)
      return this.#add.get(scope.tenant, scope.site, name ?? scope.site)?.['no'] as number;
    if (name !== null) this.#name.run(name, found.no);
    return found.no;
  }

  pois(site: number): PointOfInterest[] {
    return this.#pois.all(site) as unknown as PointOfInterest[];
  }

  putPoi(site: number, { id, name, type, description, latitude, longitude }: PointOfInterest): void {
    this.#putPoi.run(site, id, name, type, description, latitude, longitude);
  }

  routes(site: number): SiteRoute[] {
    return this.#routes.all(site).map((row) => ({
      ...(row as unknown as SiteRoute),
      poi_ids: JSON.parse(String(row['poi_ids'])) as string[],
    }));
  }

  putRoute(
    site: number,
    { id, name, description, duration_minutes: minutes, poi_ids: ids }: SiteRoute,
  ): void {
    this.#putRoute.run(site, id, name, description, minutes, JSON.stringify(ids));
  }

  /** Adds an event unless its id exists, and returns the stored event. */
  addEvent(site: number, event: UserEvent): UserEvent {
    const {
      id,
      event_type: type,
      event_data: data,
      user_id: user,
      session_id: session,
      logged_at: at,
    } = event;
    this.#addEvent.run(site, id, type, JSON.stringify(data), user, session, at);
    const row = this.#event.get(site, id);
    return {
      ...(row as unknown as UserEvent),
      event_data: JSON.parse(String(row?.['event_data'])) as UserEvent['event_data'],
    };
  }
}

/** An upsert that keeps the row number, and so the order. */
function putSql(table: string, columns: string): string {
  const names = columns.split(', ');
  const changes = names.slice(1).map((name) => `${name} = excluded.${name}`);
  return `insert into ${table} (site, ${columns}) values (?, ${names.map(() => '?').join(', ')})
    on conflict (site, id) do update set ${changes.join(', ')}`;
}
