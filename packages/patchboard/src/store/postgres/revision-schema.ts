import { tablesIn } from './schema.ts';

/**
 * Version 3: revisions of documents and tools, offers of connected devices, and tokens. What is deleted leaves a row in `removals`, so
 * that other nodes find out; what was stored before this version has revision 0.
 */
export function revisionSchema(schema: string): string {
  const t = tablesIn(schema);
  return `
create table ${t.revisions} (one int primary key check (one = 1), revision bigint not null);
alter table ${t.documents} add column revision bigint not null default 0;
create index documents_by_revision on ${t.documents} (revision);
alter table ${t.tools} add column revision bigint not null default 0;
create index tools_by_revision on ${t.tools} (revision);
create table ${t.removals} (
  kind text collate "C" not null, tenant text collate "C" not null, id text collate "C" not null,
  revision bigint not null, removed_at bigint not null, primary key (kind, tenant, id));
create index removals_by_revision on ${t.removals} (revision);

create table ${t.tool_offers} (
  tenant text collate "C" not null, name text collate "C" not null, writer int not null, epoch bigint not null,
  client_id text not null, wire_name text not null, spec text not null, registered_at bigint not null,
  revision bigint not null, primary key (tenant, name, writer));
create index tool_offers_by_revision on ${t.tool_offers} (revision);

create table ${t.tokens} (
  kind text collate "C" not null, sha256 text collate "C" not null, value text not null, expires_at bigint not null,
  primary key (kind, sha256));
create index tokens_by_expiry on ${t.tokens} (kind, expires_at);
`;
}
