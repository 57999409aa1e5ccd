import { tablesIn } from './schema.ts';

/** Version 5: the devices that are connected to each node. They count as long as the holder of the writer at that epoch. */
export function deviceSchema(schema: string): string {
  const { devices } = tablesIn(schema);
  return `
create table ${devices} (
  session text collate "C" primary key, writer int not null, epoch bigint not null, first_session text not null,
  tenant text collate "C" not null, client_id text collate "C" not null, name text collate "C" not null,
  is_online boolean not null, connected_at bigint not null, tools text[] not null);
create index devices_by_tenant on ${devices} (tenant, session);
create index devices_by_name on ${devices} (tenant, name);
create index devices_by_client on ${devices} (tenant, client_id);
`;
}
