import type { Statement } from '../../../postgres/connection.ts';
import type { Tables } from '../schema.ts';

/** The statements of the writer of the index. */
export interface IndexStatements {
  readonly acquireLease: Statement;
  readonly release: Statement;
  readonly move: Statement;
  readonly state: Statement;
  readonly insertCalls: Statement;
  readonly insertRefusals: Statement;
  readonly seeNames: Statement;
  readonly addMetrics: Statement;
}

/** `$n` is a number of milliseconds. */
const leaseEnd = (parameter: `$${number}`): string =>
  `clock_timestamp() + ${parameter}::int8 * interval '1 millisecond'`;

export function indexStatements(tables: Tables): IndexStatements {
  const { index_state: state, indexed_refusals: refusals, indexed_names: names } = tables;
  return {
    acquireLease: {
      name: 'claim_index',
      text: `insert into ${state} as s (one, seq, hash, holder, held_until, forgotten)
        values (1, 0, $3, $1, ${leaseEnd('$2')}, 0)
        on conflict (one) do update set holder = excluded.holder, held_until = excluded.held_until
          where s.holder is null or s.holder = excluded.holder or s.held_until < clock_timestamp()
        returning seq, hash`,
    },
    release: {
      name: 'release_index',
      text: `update ${state} set holder = null, held_until = null where one = 1 and holder = $1`,
    },
    // The lock on the row lets a second writer wait for the first, and see its position then.
    move: {
      name: 'move_index',
      text: `update ${state} set seq = $2, hash = $3, held_until = ${leaseEnd('$5')}
        where one = 1 and seq = $1 and holder = $4`,
    },
    state: { name: 'index_state', text: `select seq, hash, holder from ${state} where one = 1` },
    insertCalls: { name: 'index_calls', text: insertCallsText(tables) },
    insertRefusals: {
      name: 'index_refusals',
      text: `insert into ${refusals} (seq, at, tenant, agent_id, tool_name, code, trace_id, unrecorded, message)
        select * from unnest($1::int8[], $2::int8[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
          $8::int8[], $9::text[])`,
    },
    seeNames: {
      name: 'index_names',
      text: `insert into ${names} as n (tenant, kind, name, seen_at)
        select tenant, kind, name, seen_at from unnest($1::text[], $2::int4[], $3::text[], $4::int8[])
          as x (tenant, kind, name, seen_at)
        on conflict (tenant, kind, name) do update set seen_at = greatest(n.seen_at, excluded.seen_at)`,
    },
    addMetrics: { name: 'add_metrics', text: addMetricsText(tables) },
  };
}

function insertCallsText({ indexed_calls: calls }: Tables): string {
  const columns = `created_at, ended_at, waited_ms, ran_ms, state, id, tenant, run_id, agent_id, tool_name, client_id, code,
    trace_id, parent_call_id`;
  return `insert into ${calls} (${columns}, words)
    select ${columns}, words::tsvector
    from unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::int4[], $6::text[], $7::text[], $8::text[], $9::text[],
      $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[]) as x (${columns}, words)`;
}

function addMetricsText({ call_metrics: metrics }: Tables): string {
  const names = 'width_ms, at, tenant, tool_name, agent_id, outcome, code';
  return `insert into ${metrics} as m (${names}, buckets, counts)
    select ${names}, buckets::int2[], counts::int4[]
    from unnest($1::int8[], $2::int8[], $3::text[], $4::text[], $5::text[], $6::int4[], $7::text[], $8::text[], $9::text[])
      as x (${names}, buckets, counts)
    on conflict (${names}) do update set (buckets, counts) = (
      select array_agg(bucket), array_agg(count) from (
        select bucket, sum(count)::int4 as count from (
          select * from unnest(m.buckets, m.counts) as a (bucket, count)
          union all select * from unnest(excluded.buckets, excluded.counts)) added
        group by bucket) s)`;
}
