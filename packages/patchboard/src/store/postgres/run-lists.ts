import type { ListedRun, Page, Run, RunFilter } from '../../core/ports.ts';
import { textArray } from '../../postgres/arrays.ts';
import type { Queryable, Statement } from '../../postgres/connection.ts';
import { runCursor } from '../cursors.ts';
import type { Tables } from './schema.ts';

export interface RunListsParts {
  readonly reader: Queryable;
  readonly tables: Tables;
}

/** Runs that one statement scans at most. */
const WINDOW = 4096;
/** A search by time is complete if the wall clock never stepped back by more than this. */
const CLOCK_STEP_MS = 3_600_000;

interface RunRow {
  readonly no: number;
  readonly id: string;
  readonly tenant: string;
  readonly agent_id: string;
  readonly created_at: number;
  readonly cancelled_at: number | null;
  /** False: the last row of a full window, where the next one begins. */
  readonly matches: boolean;
}

/** Finds runs, and lists them newest first. */
export class RunLists {
  readonly #reader: Queryable;
  readonly #byId: Statement;
  readonly #window: Statement;
  readonly #ofIds: Statement;

  constructor({ reader, tables }: RunListsParts) {
    this.#reader = reader;
    const columns = 'no, id, tenant, agent_id, created_at, cancelled_at';
    this.#byId = {
      name: 'run_by_id',
      text: `select ${columns}, true as matches from ${tables.runs} where tenant = $1 and id = $2`,
    };
    const matches = `($3::text is null or agent_id = $3) and created_at >= $5 and created_at < $6
      and (not $7::boolean or cancelled_at is not null)`;
    this.#window = {
      name: 'list_runs',
      text: `with w as materialized (
          select ${columns} from ${tables.runs} where tenant = $1 and no < $2 order by no desc limit ${WINDOW})
        (select w.*, true as matches from w where ${matches} order by no desc limit $4)
        union all
        (select w.*, false from w where (select count(*) from w) = ${WINDOW} order by no limit 1)`,
    };
    this.#ofIds = {
      name: 'list_runs_of_ids',
      text: `select ${columns}, true as matches from ${tables.runs}
        where tenant = $1 and id = any($8::text[]) and no < $2 and ${matches} order by no desc limit $4`,
    };
  }

  async findRun(tenant: string, id: string): Promise<Run | undefined> {
    const { rows } = await this.#reader.query<RunRow>(this.#byId, [tenant, id]);
    return rows[0] === undefined ? undefined : toRun(rows[0]);
  }

  async listRuns(filter: RunFilter, cursor: string | null, limit: number): Promise<Page<ListedRun>> {
    const before = cursor === null ? Number.MAX_SAFE_INTEGER : runCursor(cursor);
    const found = await this.#find(filter, before, limit + 1);
    const items = found.slice(0, limit).map((row) => ({ ...toRun(row), cursor: String(row.no) }));
    return { items, nextCursor: found.length > limit ? (items.at(-1)?.cursor ?? null) : null };
  }

  async #find(filter: RunFilter, first: number, wanted: number): Promise<readonly RunRow[]> {
    const { tenant, agentId = null, ids, isCancelled = false } = filter;
    const { since = 0, until = Number.MAX_SAFE_INTEGER } = filter;
    const range = [since, until, isCancelled];
    if (ids !== undefined) {
      const values = [tenant, first, agentId, wanted, ...range, textArray(ids)];
      return (await this.#reader.query<RunRow>(this.#ofIds, values)).rows;
    }
    const found: RunRow[] = [];
    for (let before = first; found.length < wanted;) {
      const values = [tenant, before, agentId, wanted - found.length, ...range];
      const { rows } = await this.#reader.query<RunRow>(this.#window, values);
      found.push(...rows.filter(({ matches }) => matches));
      const end = rows.find(({ matches }) => !matches);
      // Runs with smaller numbers were created earlier.
      if (end === undefined || end.created_at < since - CLOCK_STEP_MS) break;
      before = end.no;
    }
    return found;
  }
}

function toRun({ id, tenant, agent_id, created_at, cancelled_at }: RunRow): Run {
  return { id, tenant, agentId: agent_id, createdAt: created_at, cancelledAt: cancelled_at };
}
