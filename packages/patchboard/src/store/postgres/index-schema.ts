import { tablesIn } from './schema.ts';

/**
 * Version 6: the index of ended calls and refused requests, written behind the commits and derived from the ledger and the calls. Rows
 * are never changed and have no key: the position in `index_state` is committed with them. Columns of fixed width come first, so
 * that a scan reads them at fixed offsets.
 */
export function indexSchema(schema: string): string {
  const t = tablesIn(schema);
  return `
create table ${t.index_state} (
  one int primary key check (one = 1), seq bigint not null, hash text not null, holder text,
  held_until timestamptz, forgotten bigint not null);

create table ${t.indexed_calls} (
  created_at bigint not null, ended_at bigint not null, waited_ms bigint not null, ran_ms bigint not null,
  state smallint not null, id text collate "C" not null, tenant text collate "C" not null,
  run_id text collate "C" not null, agent_id text collate "C" not null, tool_name text collate "C" not null,
  client_id text collate "C", code text collate "C", trace_id text collate "C", parent_call_id text collate "C",
  words tsvector not null) partition by range (created_at);
create index indexed_calls_by_time on ${t.indexed_calls} (tenant, created_at);
create index indexed_calls_by_run on ${t.indexed_calls} (tenant, run_id);
create index indexed_calls_by_trace on ${t.indexed_calls} (trace_id) where trace_id is not null;
create index indexed_calls_by_parent on ${t.indexed_calls} (parent_call_id) where parent_call_id is not null;
create index indexed_calls_by_word on ${t.indexed_calls} using gin (words);
create table ${t.indexed_calls}_default partition of ${t.indexed_calls} default;

create table ${t.indexed_refusals} (
  seq bigint not null, at bigint not null, tenant text collate "C" not null, agent_id text collate "C" not null,
  tool_name text collate "C" not null, code text collate "C" not null, trace_id text collate "C",
  unrecorded bigint not null, message text not null) partition by range (at);
create index indexed_refusals_by_seq on ${t.indexed_refusals} (tenant, seq);
create index indexed_refusals_by_trace on ${t.indexed_refusals} (trace_id) where trace_id is not null;
create table ${t.indexed_refusals}_default partition of ${t.indexed_refusals} default;

create table ${t.indexed_names} (
  tenant text collate "C" not null, kind smallint not null, name text collate "C" not null, seen_at bigint not null,
  primary key (tenant, kind, name));

create table ${t.call_metrics} (
  width_ms bigint not null, at bigint not null, tenant text collate "C" not null, tool_name text collate "C" not null,
  agent_id text collate "C" not null, outcome smallint not null, code text collate "C" not null,
  buckets smallint[] not null, counts int[] not null,
  primary key (width_ms, at, tenant, tool_name, agent_id, outcome, code)) with (fillfactor = 70);
`;
}
