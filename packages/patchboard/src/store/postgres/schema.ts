/** The names of the tables, qualified with the schema. */
export type Tables = { readonly [Name in (typeof NAMES)[number]]: string };

const NAMES = [
  'meta',
  'writers',
  'segments',
  'ledger',
  'ledger_order',
  'ledger_head',
  'totals',
  'calls',
  'open_calls',
  'ended_calls',
  'idempotency',
  'runs',
  'documents',
  'tools',
  'journals',
  'revisions',
  'removals',
  'tool_offers',
  'tokens',
  'devices',
  'index_state',
  'indexed_calls',
  'indexed_refusals',
  'indexed_names',
  'call_metrics',
] as const;

export const DEFAULT_SCHEMA = 'patchboard';

/** Letters, digits and underscores only, so that the name needs no escaping in SQL. */
export const SCHEMA_PATTERN: RegExp = /^[a-z_][a-z0-9_]{0,62}$/;

export function tablesIn(schema: string): Tables {
  if (!SCHEMA_PATTERN.test(schema))
    throw new Error(`the schema name ${schema} must match ${SCHEMA_PATTERN.source}`);
  return Object.fromEntries(NAMES.map((name) => [name, `"${schema}".${name}`])) as Tables;
}

/**
 * Version 1. Ids have the collation C, so that they sort by bytes. JSON is stored as text: `jsonb` refuses the character 0
 * and rewrites numbers. Open and ended calls have tables of their own, so that only the small one is updated and vacuumed.
 */
export function firstSchema(schema: string): string {
  const t = tablesIn(schema);
  return `
create table ${t.meta} (
  one int primary key check (one = 1), version int not null, min_reader int not null, store_id text not null);

create table ${t.writers} (
  writer int primary key, state text not null check (state in ('free', 'held')), holder text,
  epoch bigint not null, beat bigint not null, sequenced_no bigint not null);
create table ${t.segments} (
  writer int not null, no bigint not null, epoch bigint not null, period int not null,
  first bigint not null, last bigint not null, hash bytea not null, ended text,
  lsn pg_lsn not null default pg_current_wal_insert_lsn(), primary key (writer, no));

create table ${t.ledger} (
  period int not null, writer int not null, no bigint not null, at bigint not null, tenant text not null,
  kind text not null, call_id text collate "C", trace_id text collate "C", body text not null, hash bytea not null,
  primary key (period, writer, no)) partition by range (period);
create index ledger_by_call on ${t.ledger} (call_id) where call_id is not null;
create index ledger_by_trace on ${t.ledger} (trace_id) where trace_id is not null;
create table ${t.ledger}_default partition of ${t.ledger} default;
create function "${schema}".refuse_change() returns trigger language plpgsql as
  $$ begin raise exception 'rows of the ledger are never changed' using errcode = 'restrict_violation'; end $$;
create trigger ledger_is_append_only before update or delete on ${t.ledger}
  for each row execute function "${schema}".refuse_change();

create table ${t.ledger_order} (
  seq_to bigint primary key, seq_from bigint not null, writer int not null, period int not null,
  first bigint not null, last bigint not null, hash bytea not null);
create index ledger_order_by_writer on ${t.ledger_order} (writer, last);
create table ${t.ledger_head} (one int primary key check (one = 1), seq bigint not null, hash bytea not null);
insert into ${t.ledger_head} values (1, 0, decode(repeat('00', 32), 'hex'));
create table ${t.totals} (
  tenant text collate "C" not null, state smallint not null, calls bigint not null, primary key (tenant, state));

create table ${t.calls} (
  id text collate "C" primary key, created_at bigint not null, tenant text collate "C" not null,
  run_id text collate "C" not null, agent_id text not null, tool_name text not null, tool_version text not null,
  source text not null, timeout_ms bigint not null, decision text not null, client_id text, target text,
  trace_id text, span_id text, origin text, replay_of text, parent_call_id text, fence text,
  args text not null) partition by range (id);
create index calls_by_run on ${t.calls} (tenant, run_id, id);
create index calls_by_tenant on ${t.calls} (tenant, id);
create table ${t.calls}_default partition of ${t.calls} default;
create table ${t.open_calls} (
  id text collate "C" primary key, version int not null, state smallint not null, owner int not null, tail text not null)
  with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create table ${t.ended_calls} (
  id text collate "C" primary key, version int not null, state smallint not null, ended_at bigint not null,
  tail text not null, result text) partition by range (id);
create index ended_calls_by_state on ${t.ended_calls} (state, id) where state <> 4;
create table ${t.ended_calls}_default partition of ${t.ended_calls} default;

create table ${t.idempotency} (
  scope text collate "C" primary key, call_id text collate "C" not null, body_hash text not null,
  claimed_at bigint not null, expires_at bigint not null);
create index idempotency_by_call on ${t.idempotency} (call_id);
create table ${t.runs} (
  no bigint generated always as identity, tenant text collate "C" not null, id text collate "C" not null,
  agent_id text not null, created_at bigint not null, cancelled_at bigint, primary key (tenant, id));
create index runs_by_tenant on ${t.runs} (tenant, no);

create table ${t.documents} (
  kind text collate "C" not null, id text collate "C" not null, body text not null, primary key (kind, id));
create table ${t.tools} (
  tenant text collate "C" not null, name text collate "C" not null, client_id text not null, wire_name text not null,
  spec text not null, registered_at bigint not null, primary key (tenant, name));
create table ${t.journals} (
  journal text collate "C" not null, no bigint not null, kind text not null, body text not null,
  primary key (journal, no));
`;
}
