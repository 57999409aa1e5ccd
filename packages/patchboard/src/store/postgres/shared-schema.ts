import { tablesIn } from './schema.ts';

/** The deadline of an open call in its JSON text, whose first member is the state. */
export const DEADLINE_IN_TAIL = `substring(tail from '"deadlineAt":(\\d+)')::bigint`;

/**
 * Version 2: what several nodes that share the store need. `moved_by` is the writer of a call's last move; null if another
 * node has taken the call since. It differs from the owner after a move that kept the holder.
 */
export function sharedSchema(schema: string): string {
  const t = tablesIn(schema);
  return `
alter table ${t.writers} drop constraint writers_state_check;
alter table ${t.writers}
  add constraint writers_state_check check (state in ('free', 'held', 'leaving')),
  add column is_shared boolean not null default false,
  add column started_at bigint, add column url text, add column version text, add column fingerprint text,
  add column room int not null default 0, add column calls bigint not null default 0,
  add column revision bigint not null default 0, add column follows text[] not null default '{}',
  add column took_over text;

alter table ${t.open_calls}
  add column deadline_at bigint, add column moved_by int, add column offered boolean not null default false,
  add column client_id text collate "C";
update ${t.open_calls} o set deadline_at = ${DEADLINE_IN_TAIL}, moved_by = owner, client_id = c.client_id
  from ${t.calls} c where c.id = o.id;
create index open_calls_by_deadline on ${t.open_calls} (deadline_at);
create index open_calls_moved_by_others on ${t.open_calls} (owner) where moved_by <> owner;
create index open_calls_taken on ${t.open_calls} (owner, id) where moved_by is null;
create index open_calls_offered on ${t.open_calls} (id) where offered;
create index open_calls_by_client on ${t.open_calls} (client_id, id) where client_id is not null;

alter table ${t.ended_calls} add column owner int;
alter table ${t.runs} add column home int;
`;
}
