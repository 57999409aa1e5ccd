import { lockSchema } from '../../../postgres/advisory-locks.ts';
import type { Transaction } from '../../../postgres/connection.ts';

const NAMES = ['meta', 'sites', 'contents', 'npcs', 'prompts', 'pois', 'routes', 'events'] as const;

/** The names of the tables, qualified with the schema. */
export type HeritageTables = { readonly [Name in (typeof NAMES)[number]]: string };

/** `schema`: a name that needs no quotes in SQL. */
export function heritageTables(schema: string): HeritageTables {
  return Object.fromEntries(NAMES.map((name) => [name, `"${schema}".heritage_${name}`])) as HeritageTables;
}

/**
 * Forward migrations, one per version. A released migration is never changed. Records are JSON in `doc`, because text in JSON may
 * contain a zero byte (escaped), which PostgreSQL has in no text; the columns are what statements compare.
 */
const MIGRATIONS: readonly ((tables: HeritageTables) => string)[] = [
  (tables) => `
  create table ${tables.sites} (
    no bigint generated always as identity primary key,
    tenant text collate "C" not null,
    id text collate "C" not null,
    name text not null,
    unique (tenant, id)
  );

  create table ${tables.contents} (
    no bigint generated always as identity primary key,
    site bigint not null references ${tables.sites} (no),
    id text collate "C" not null,
    content_type text collate "C" not null,
    status text collate "C" not null,
    tags text[] collate "C" not null,
    credibility_score float8,
    term_count integer not null,
    terms text collate "C" not null,
    doc text not null,
    unique (site, id)
  );
  -- Every search reads the terms of a site: uncompressed is faster.
  alter table ${tables.contents} alter column terms set storage external;

  create table ${tables.npcs} (
    site bigint not null references ${tables.sites} (no),
    npc_id text collate "C" not null,
    version bigint not null,
    active boolean not null,
    doc text not null,
    primary key (site, npc_id, version)
  );
  create unique index heritage_npcs_active on ${tables.npcs} (site, npc_id) where active;

  create table ${tables.prompts} (
    site bigint not null references ${tables.sites} (no),
    npc_id text collate "C" not null,
    prompt_type text collate "C" not null,
    version bigint not null,
    active boolean not null,
    doc text not null,
    primary key (site, npc_id, prompt_type, version)
  );
  create unique index heritage_prompts_active on ${tables.prompts} (site, npc_id, prompt_type) where active;

  ${[tables.pois, tables.routes, tables.events]
    .map(
      (table) => `
  create table ${table} (
    no bigint generated always as identity primary key,
    site bigint not null references ${tables.sites} (no),
    id text collate "C" not null,
    doc text not null,
    unique (site, id)
  );`,
    )
    .join('')}
  `,
];

/** Must be called in a transaction. Several processes may do so at once, also with the migration of the store. */
export async function migrateHeritage(transaction: Transaction, schema: string): Promise<void> {
  const tables = heritageTables(schema);
  await lockSchema(transaction, schema);
  const found = await transaction.query<{ schema: boolean; meta: boolean }>(
    {
      name: 'heritage_find',
      text: `select to_regnamespace($1) is not null as schema, to_regclass($2) is not null as meta`,
    },
    [`"${schema}"`, tables.meta],
  );
  if (found.rows[0]?.schema !== true) await transaction.run(`create schema "${schema}"`);
  if (found.rows[0]?.meta !== true) {
    await transaction.run(
      `create table ${tables.meta} ("only" integer primary key check ("only" = 1), version integer not null)`,
    );
    await transaction.run(`insert into ${tables.meta} values (1, 0)`);
  }
  const { rows } = await transaction.query<{ version: number }>({
    name: 'heritage_version',
    text: `select version from ${tables.meta}`,
  });
  const version = rows[0]?.version ?? 0;
  if (version > MIGRATIONS.length)
    throw new Error(
      `the heritage data in schema ${schema} was written by a newer Patchboard (version ${version}): start that one`,
    );
  for (const migration of MIGRATIONS.slice(version)) await transaction.run(migration(tables));
  if (version < MIGRATIONS.length)
    await transaction.run(`update ${tables.meta} set version = ${MIGRATIONS.length}`);
}
