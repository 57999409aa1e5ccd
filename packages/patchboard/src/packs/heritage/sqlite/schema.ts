import type { DatabaseSync } from 'node:sqlite';

/** Identifies the file as a heritage database: "Pbhr". */
const APPLICATION_ID = 0x50626872;

/** Forward migrations, one per version. A released migration is never changed. */
const MIGRATIONS: readonly string[] = [
  `
  create table sites (
    no integer primary key,
    tenant text not null,
    id text not null,
    name text not null,
    unique (tenant, id)
  ) strict;

  create table contents (
    no integer primary key,
    site integer not null references sites (no),
    id text not null,
    content_type text not null,
    title text not null,
    body text not null,
    summary text,
    tags text not null,
    domains text not null,
    source text,
    credibility_score real,
    verified integer not null,
    status text not null,
    created_at text not null,
    unique (site, id)
  ) strict;

  create table npcs (
    site integer not null references sites (no),
    npc_id text not null,
    version integer not null,
    active integer not null,
    name text not null,
    persona text not null,
    knowledge_domains text not null,
    greeting_templates text not null,
    max_response_length integer not null,
    must_cite_sources integer not null,
    primary key (site, npc_id, version)
  ) strict, without rowid;
  create unique index npcs_active on npcs (site, npc_id) where active = 1;

  create table prompts (
    site integer not null references sites (no),
    npc_id text not null,
    prompt_type text not null,
    version integer not null,
    active integer not null,
    prompt_text text not null,
    primary key (site, npc_id, prompt_type, version)
  ) strict, without rowid;
  create unique index prompts_active on prompts (site, npc_id, prompt_type) where active = 1;

  create table pois (
    no integer primary key,
    site integer not null references sites (no),
    id text not null,
    name text not null,
    type text not null,
    description text,
    latitude real,
    longitude real,
    unique (site, id)
  ) strict;

  create table routes (
    no integer primary key,
    site integer not null references sites (no),
    id text not null,
    name text not null,
    description text,
    duration_minutes integer,
    poi_ids text not null,
    unique (site, id)
  ) strict;

  create table events (
    no integer primary key,
    site integer not null references sites (no),
    id text not null,
    event_type text not null,
    event_data text not null,
    user_id text,
    session_id text,
    logged_at text not null,
    unique (site, id)
  ) strict;
  `,
];

/** Migrates the database. Unlike the store of calls it is not locked exclusively: the CLI may import data while the server runs. */
export function prepareDatabase(database: DatabaseSync, file: string): void {
  const version = pragma(database, 'user_version');
  const application = pragma(database, 'application_id');
  if (application !== APPLICATION_ID && (application !== 0 || version !== 0))
    throw new Error(`${file} is a database of another program: move it away`);
  if (version > MIGRATIONS.length)
    throw new Error(`${file} was written by a newer Patchboard (version ${version}): start that one`);
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on');
  if (version === MIGRATIONS.length) return;
  database.exec('begin immediate');
  try {
    // Reads the version again: another process may have migrated meanwhile.
    for (const sql of MIGRATIONS.slice(pragma(database, 'user_version'))) database.exec(sql);
    database.exec(
      `pragma application_id = ${APPLICATION_ID}; pragma user_version = ${MIGRATIONS.length}; commit`,
    );
  } catch (error) {
    database.exec('rollback');
    throw error;
  }
}

function pragma(database: DatabaseSync, name: 'user_version' | 'application_id'): number {
  return Number(database.prepare(`pragma ${name}`).get()?.[name]);
}
