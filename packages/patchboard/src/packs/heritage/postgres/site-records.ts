import type { Queryable, Statement } from '../../../postgres/connection.ts';
import type {
  NpcProfile,
  NpcPrompt,
  PointOfInterest,
  PromptType,
  SiteRoute,
  SiteScope,
  UserEvent,
} from '../records.ts';
import type { SiteMap } from '../storage.ts';
import type { HeritageTables } from './schema.ts';
import { storable } from './storable.ts';

interface Site {
  readonly no: number;
  readonly name: string;
}

interface VersionedDoc {
  readonly doc: string;
  readonly active: boolean;
}

/** Sites with their characters, points of interest, routes and visitor events. Each method is one statement unless it says otherwise. */
export class SiteRecords {
  readonly #tables: HeritageTables;

  constructor(tables: HeritageTables) {
    this.#tables = tables;
  }

  async find(database: Queryable, { tenant, site }: SiteScope): Promise<Site | undefined> {
    const text = `select no, name from ${this.#tables.sites} where tenant = $1 and id = $2`;
    const { rows } = await database.query<Site>({ name: 'heritage_site', text }, [
      storable(tenant),
      storable(site),
    ]);
    return rows[0];
  }

  /** Creates a missing site; without a name, its id is the name. Several statements, each of which may be repeated. */
  async ensure(database: Queryable, scope: SiteScope, name: string | null): Promise<number> {
    const { sites } = this.#tables;
    const found = await this.find(database, scope);
    if (found !== undefined && (name === null || name === found.name)) return found.no;
    const change = name === null ? 'do nothing' : 'do update set name = excluded.name';
    await database.query(
      {
        name: name === null ? 'heritage_add_site' : 'heritage_name_site',
        text: `insert into ${sites} (tenant, id, name) values ($1, $2, $3) on conflict (tenant, id) ${change}`,
      },
      [storable(scope.tenant), storable(scope.site), storable(name ?? scope.site)],
    );
    const site = await this.find(database, scope);
    if (site === undefined) throw new Error(`site ${scope.site} of tenant ${scope.tenant} was not stored`);
    return site.no;
  }

  async map(database: Queryable, { tenant, site }: SiteScope): Promise<SiteMap | undefined> {
    const { sites, pois, routes } = this.#tables;
    const docs = (table: string): string =>
      `(select coalesce(json_agg(doc order by no), '[]') from ${table} where site = place.no)`;
    const text = `select name, ${docs(pois)} as pois, ${docs(routes)} as routes
      from ${sites} as place where tenant = $1 and id = $2`;
    const { rows } = await database.query<{ name: string; pois: string[]; routes: string[] }>(
      { name: 'heritage_map', text },
      [storable(tenant), storable(site)],
    );
    const [row] = rows;
    if (row === undefined) return undefined;
    return {
      name: row.name,
      pois: row.pois.map((doc) => JSON.parse(doc) as PointOfInterest),
      routes: row.routes.map((doc) => JSON.parse(doc) as SiteRoute),
    };
  }

  async profile(
    database: Queryable,
    { tenant, site }: SiteScope,
    npcId: string,
    version: number | null,
  ): Promise<NpcProfile | undefined> {
    const { npcs, sites } = this.#tables;
    const text = `select doc, active from ${npcs}
      where site = (select no from ${sites} where tenant = $1 and id = $2) and npc_id = $3
        and case when $4::numeric is null then active else version = $4 end`;
    const { rows } = await database.query<VersionedDoc>({ name: 'heritage_npc', text }, [
      ...[tenant, site, npcId].map(storable),
      version,
    ]);
    return rows.map(profileOf)[0];
  }

  async profiles(database: Queryable, site: number): Promise<NpcProfile[]> {
    const text = `select doc, active from ${this.#tables.npcs} where site = $1 order by npc_id, version`;
    return (await database.query<VersionedDoc>({ name: 'heritage_npcs', text }, [site])).rows.map(profileOf);
  }

  /** An active profile deactivates the other versions. Must be called in a transaction. */
  async putProfile(database: Queryable, site: number, profile: NpcProfile): Promise<void> {
    const { npcs } = this.#tables;
    const key = [site, storable(profile.npc_id)];
    if (profile.active)
      await database.query(
        {
          name: 'heritage_retire_npc',
          text: `update ${npcs} set active = false where site = $1 and npc_id = $2 and active`,
        },
        key,
      );
    await database.query(
      {
        name: 'heritage_put_npc',
        text: `insert into ${npcs} (site, npc_id, version, active, doc) values ($1, $2, $3, $4, $5)
          on conflict (site, npc_id, version) do update set active = excluded.active, doc = excluded.doc`,
      },
      [...key, profile.version, profile.active, JSON.stringify(profile)],
    );
  }

  async activePrompt(
    database: Queryable,
    { tenant, site }: SiteScope,
    npcId: string,
    type: PromptType,
  ): Promise<NpcPrompt | undefined> {
    const { prompts, sites } = this.#tables;
    const text = `select doc, active from ${prompts}
      where site = (select no from ${sites} where tenant = $1 and id = $2)
        and npc_id = $3 and prompt_type = $4 and active`;
    const { rows } = await database.query<VersionedDoc>(
      { name: 'heritage_prompt', text },
      [tenant, site, npcId, type].map(storable),
    );
    return rows.map(promptOf)[0];
  }

  async prompts(database: Queryable, site: number): Promise<NpcPrompt[]> {
    const text = `select doc, active from ${this.#tables.prompts} where site = $1
      order by npc_id, prompt_type, version`;
    return (await database.query<VersionedDoc>({ name: 'heritage_prompts', text }, [site])).rows.map(
      promptOf,
    );
  }

  /** Must be called in a transaction. */
  async putPrompt(database: Queryable, site: number, prompt: NpcPrompt): Promise<void> {
    const { prompts } = this.#tables;
    const key = [site, storable(prompt.npc_id), storable(prompt.prompt_type)];
    if (prompt.active)
      await database.query(
        {
          name: 'heritage_retire_prompt',
          text: `update ${prompts} set active = false
            where site = $1 and npc_id = $2 and prompt_type = $3 and active`,
        },
        key,
      );
    await database.query(
      {
        name: 'heritage_put_prompt',
        text: `insert into ${prompts} (site, npc_id, prompt_type, version, active, doc) values ($1, $2, $3, $4, $5, $6)
          on conflict (site, npc_id, prompt_type, version) do update set active = excluded.active, doc = excluded.doc`,
      },
      [...key, prompt.version, prompt.active, JSON.stringify(prompt)],
    );
  }

  /** Keeps the place of a record in the order when it replaces it. */
  async put(
    database: Queryable,
    table: 'pois' | 'routes',
    site: number,
    record: PointOfInterest | SiteRoute,
  ): Promise<void> {
    const text = `insert into ${this.#tables[table]} (site, id, doc) values ($1, $2, $3)
      on conflict (site, id) do update set doc = excluded.doc`;
    await database.query({ name: `heritage_put_${table}`, text }, [
      site,
      storable(record.id),
      JSON.stringify(record),
    ]);
  }

  /** Adds an event unless its id exists, and resolves to the stored event. Two statements, which may be repeated. */
  async addEvent(database: Queryable, site: number, event: UserEvent): Promise<UserEvent> {
    const { events } = this.#tables;
    const add: Statement = {
      name: 'heritage_add_event',
      text: `insert into ${events} (site, id, doc) values ($1, $2, $3) on conflict (site, id) do nothing`,
    };
    const read = {
      name: 'heritage_event',
      text: `select doc from ${events} where site = $1 and id = $2`,
    };
    await database.query(add, [site, storable(event.id), JSON.stringify(event)]);
    const { rows } = await database.query<{ doc: string }>(read, [site, storable(event.id)]);
    return rows[0] === undefined ? event : (JSON.parse(rows[0].doc) as UserEvent);
  }
}

function profileOf({ doc, active }: VersionedDoc): NpcProfile {
  return { ...(JSON.parse(doc) as NpcProfile), active };
}

function promptOf({ doc, active }: VersionedDoc): NpcPrompt {
  return { ...(JSON.parse(doc) as NpcPrompt), active };
}
