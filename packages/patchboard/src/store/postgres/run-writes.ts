import type { Run } from '../../core/ports.ts';
import type { Queryable } from '../../postgres/connection.ts';
import type { Tables } from './schema.ts';

interface RunRow {
  readonly agent_id: string;
  readonly created_at: number;
  readonly cancelled_at: number | null;
}

/** Creates the run, or returns the existing one. */
export async function ensureRun(
  queryable: Queryable,
  { runs }: Tables,
  run: Run,
): Promise<{ readonly run: Run; readonly isNew: boolean }> {
  const { tenant, id, agentId, createdAt, cancelledAt } = run;
  const insert = `insert into ${runs} (tenant, id, agent_id, created_at, cancelled_at) values ($1, $2, $3, $4, $5)
    on conflict do nothing`;
  const values = [tenant, id, agentId, createdAt, cancelledAt];
  const { count } = await queryable.query({ name: 'create_run', text: insert }, values);
  if (count === 1) return { run, isNew: true };
  const select = `select agent_id, created_at, cancelled_at from ${runs} where tenant = $1 and id = $2`;
  const { rows } = await queryable.query<RunRow>({ name: 'existing_run', text: select }, [tenant, id]);
  const [row] = rows;
  if (row === undefined) throw new Error(`run ${id} could not be created`);
  const { agent_id, created_at, cancelled_at } = row;
  return {
    run: { id, tenant, agentId: agent_id, createdAt: created_at, cancelledAt: cancelled_at },
    isNew: false,
  };
}

/** Returns false if there is no such run, or it was cancelled before. */
export async function cancelRun(
  queryable: Queryable,
  { runs }: Tables,
  { tenant, id, at }: { readonly tenant: string; readonly id: string; readonly at: number },
): Promise<boolean> {
  const text = `update ${runs} set cancelled_at = $3 where tenant = $1 and id = $2 and cancelled_at is null`;
  return (await queryable.query({ name: 'cancel_run', text }, [tenant, id, at])).count === 1;
}
