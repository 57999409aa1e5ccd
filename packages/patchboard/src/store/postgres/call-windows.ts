import type { CallStateName } from '@patchboard/wire';
import type { CallFilter } from '../../core/ports.ts';
import { int4Array } from '../../postgres/arrays.ts';
import type { Statement } from '../../postgres/connection.ts';
import { STATE_CODES } from '../state-codes.ts';
import type { Tables } from './schema.ts';

/**
 * Statements that read the next window of calls, newest first. They return the ids of matches, and of the last row of the
 * window if it is full. Parameters: before, rows of the window, matches, and those of `windowValues`.
 */
export interface CallWindows {
  readonly ofTenant: Statement;
  readonly ofRun: Statement;
  readonly open: Statement;
  /** Ended calls in this state, which must not be COMPLETED: these are not indexed. */
  readonly ended: (state: CallStateName) => Statement;
}

const COLUMNS = 'created_at, tenant, run_id, tool_name, agent_id, client_id';

const MATCHES = `
  w.tenant = $4 and ($5::text is null or w.run_id = $5) and ($6::text is null or w.tool_name = $6)
  and ($7::text is null or w.agent_id = $7)
  and ($8::text is null or w.agent_id = $8 or w.client_id = $9::text)
  and ($10::int8 is null or w.created_at >= $10) and ($11::int8 is null or w.created_at < $11)`;

/** Each subquery with `limit` or `offset` stays a lookup by key or a range of an index, whatever the planner expects. */
export function callWindows({ calls, open_calls: open, ended_calls: ended }: Tables): CallWindows {
  const byCall = (name: string, range: string): Statement =>
    windowStatement(
      name,
      `select id, ${COLUMNS} from ${calls} where ${range} and id < $1 order by id desc limit $2`,
      `left join lateral (
        (select state from ${open} where id = w.id and $12::int4[] is not null limit 1) union all
        (select state from ${ended} where id = w.id and $12::int4[] is not null limit 1) limit 1) s on true`,
    );
  const byState = (name: string, table: string, range: string): Statement =>
    windowStatement(
      name,
      `select s.id, s.state, ${COLUMNS} from
        (select id, state from ${table} where ${range} and id < $1 order by id desc limit $2) s
        left join lateral (select ${COLUMNS} from ${calls} where id = s.id limit 1) c on true`,
      'cross join lateral (select w.state) s',
    );
  return {
    ofTenant: byCall('list_calls', 'tenant = $4'),
    ofRun: byCall('list_calls_of_run', 'tenant = $4 and run_id = $5'),
    open: byState('list_open_calls', open, 'true'),
    ended: (state) => {
      const code = STATE_CODES[state];
      // Both conditions: the second is that of the index.
      return byState(`list_ended_${code}`, ended, `state = ${code} and state <> ${STATE_CODES.COMPLETED}`);
    },
  };
}

function windowStatement(name: string, rows: string, joinState: string): Statement {
  return {
    name,
    text: `with w as materialized (${rows})
      (select w.id, w.created_at, true as matches from w ${joinState}
       where ${MATCHES} and ($12::int4[] is null or s.state = any($12)) order by w.id desc limit $3)
      union all
      (select id, created_at, false from w where (select count(*) from w) = $2 order by id limit 1)`,
  };
}

/** The parameters from `$4` on. */
export function windowValues(filter: CallFilter): unknown[] {
  const { tenant, runId, toolName, agentId, askedOrRunBy, since, until, states } = filter;
  return [
    tenant,
    runId ?? null,
    toolName ?? null,
    agentId ?? null,
    askedOrRunBy?.agentId ?? null,
    askedOrRunBy?.clientId ?? null,
    since ?? null,
    until ?? null,
    states === undefined ? null : int4Array(states.map((state) => STATE_CODES[state])),
  ];
}
