import type { Statement } from '../../postgres/connection.ts';
import {
  AFTER_INSERTED,
  AFTER_REPLACED,
  CALL_COLUMN_NAMES,
  INSERTED_ROWS,
  REPLACED_ROWS,
} from './call-row.ts';
import type { Tables } from './schema.ts';

/** The statements that a batch of calls consists of. */
export interface CallStatements {
  /** Claims idempotency keys: inserts new ones, and takes over expired ones. A used key stays as it is. */
  readonly claim: Statement;
  /** Removes the claims of calls that were not inserted after all. */
  readonly unclaim: Statement;
  /** Creates the runs that do not exist, except for calls whose key is used. */
  readonly runs: Statement;
  /** Inserts the calls whose run and key allow it. Returns the others, with the reason. */
  readonly insert: Statement;
  /** As `insert`, for calls without keys. */
  readonly insertUnkeyed: Statement;
  /** Compare-and-set by version. Returns the ids that were not replaced. */
  readonly replace: Statement;
  readonly rewriteArgs: Statement;
}

export function callStatements(tables: Tables): CallStatements {
  const { idempotency, runs, calls, open_calls: open, ended_calls: ended } = tables;
  return {
    claim: {
      name: 'claim_keys',
      // In order of the keys, so that two batches never wait for each other.
      text: `insert into ${idempotency} as i (scope, call_id, body_hash, claimed_at, expires_at)
        select * from unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::int8[])
          as t (scope, call_id, body_hash, claimed_at, expires_at) order by scope
        on conflict (scope) do update set call_id = excluded.call_id, body_hash = excluded.body_hash,
          claimed_at = excluded.claimed_at, expires_at = excluded.expires_at
        where i.expires_at <= excluded.claimed_at`,
    },
    unclaim: {
      name: 'unclaim_keys',
      text: `delete from ${idempotency} where call_id = any($1::text[])`,
    },
    runs: {
      name: 'create_runs',
      text: `insert into ${runs} (tenant, id, agent_id, created_at)
        select distinct on (tenant, id) tenant, id, agent_id, created_at
        from unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::text[], $6::text[])
          as x (tenant, id, agent_id, created_at, scope, call_id)
        where scope is null or exists (
          select 1 from ${idempotency} i where i.scope = x.scope and i.call_id = x.call_id)
        order by tenant, id
        on conflict do nothing`,
    },
    insert: { name: 'insert_keyed_calls', text: insertText(tables, true) },
    insertUnkeyed: { name: 'insert_calls', text: insertText(tables, false) },
    replace: {
      name: 'replace_calls',
      text: `with x as (${REPLACED_ROWS}),
        deleted as (delete from ${open} o using x
          where o.id = x.id and o.version = x.expected and x.ended_at is not null returning o.id),
        updated as (update ${open} o
          set version = x.version, state = x.state, tail = x.tail, deadline_at = x.deadline_at,
            owner = case x.keeps_holder when 1 then o.owner else $${AFTER_REPLACED}::int end,
            moved_by = case when x.keeps_holder = 1 and o.moved_by is null then null else $${AFTER_REPLACED}::int end, offered = false
          from x where o.id = x.id and o.version = x.expected and x.ended_at is null returning o.id),
        ended as (insert into ${ended} (id, version, state, ended_at, tail, result, owner)
          select x.id, version, state, ended_at, tail, result, $${AFTER_REPLACED}::int from x join deleted using (id)),
        replaced as (select id from deleted union all select id from updated)
        select x.id from x left join replaced using (id) where replaced.id is null`,
    },
    rewriteArgs: {
      name: 'rewrite_args',
      text: `update ${calls} c set args = x.args
        from unnest($1::text[], $2::text[]) as x (id, args) where c.id = x.id`,
    },
  };
}

/**
 * The share lock on the runs lets a cancel of the run in another process wait for this transaction, or makes this statement
 * see the cancelled run.
 */
function insertText(tables: Tables, isKeyed: boolean): string {
  const { idempotency, runs, calls, open_calls: open, ended_calls: ended } = tables;
  const ownsKey = `and (x.scope is null or exists (
    select 1 from ${idempotency} i where i.scope = x.scope and i.call_id = x.id))`;
  return `with x as (${INSERTED_ROWS}),
    wanted as (select distinct tenant, run_id from x),
    r as (select r.tenant, r.id, r.agent_id, r.created_at, r.cancelled_at
      from wanted join ${runs} r on r.tenant = wanted.tenant and r.id = wanted.run_id for share of r),
    allowed as materialized (select x.* from x join r on r.tenant = x.tenant and r.id = x.run_id
      where r.agent_id = x.agent_id and r.cancelled_at is null ${isKeyed ? ownsKey : ''}),
    described as (insert into ${calls} (${CALL_COLUMN_NAMES}) select ${CALL_COLUMN_NAMES} from allowed),
    opened as (insert into ${open} (id, version, state, owner, moved_by, deadline_at, client_id, tail)
      select id, version, state, $${AFTER_INSERTED}::int, $${AFTER_INSERTED}::int, deadline_at, client_id, tail
      from allowed where ended_at is null),
    ended as (insert into ${ended} (id, version, state, ended_at, tail, result, owner)
      select id, version, state, ended_at, tail, result, $${AFTER_INSERTED}::int
      from allowed where ended_at is not null)
    select x.n, ${isKeyed ? 'i.call_id as holder, i.body_hash' : 'null as holder, null as body_hash'},
      r.agent_id, r.created_at, r.cancelled_at
    from x left join allowed on allowed.n = x.n
      ${isKeyed ? `left join ${idempotency} i on i.scope = x.scope` : ''}
      left join r on r.tenant = x.tenant and r.id = x.run_id
    where allowed.n is null`;
}
