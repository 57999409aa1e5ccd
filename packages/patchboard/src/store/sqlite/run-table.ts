import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BoundedMap } from '../../core/bounded-map.ts';
import { pairKey } from '../../core/pair-key.ts';
import type { ListedRun, Page, Run, RunFilter } from '../../core/ports.ts';
import { runCursor } from '../cursors.ts';
import { integer, toRun, type Row } from './rows.ts';

const WINDOW = 4_000;
const REMEMBERED = 4_096;
/** A search by time is complete if the wall clock never stepped back by more than this. */
const CLOCK_STEP_MS = 3_600_000;

export class RunTable {
  readonly #insert: StatementSync;
  readonly #byId: StatementSync;
  readonly #cancel: StatementSync;
  readonly #newest: StatementSync;
  readonly #list: StatementSync;
  readonly #ofIds: StatementSync;
  readonly #createdAt: StatementSync;
  /** LRU cache of runs that are not cancelled: most new calls belong to one of these. */
  readonly #known: BoundedMap<string, Run> = new BoundedMap(REMEMBERED);

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(
      `insert into runs (id, tenant, agent_id, created_at, cancelled_at) values (?, ?, ?, ?, ?)
       on conflict do nothing`,
    );
    this.#byId = database.prepare('select * from runs where id = ? and tenant = ?');
    this.#cancel = database.prepare(
      'update runs set cancelled_at = ? where id = ? and tenant = ? and cancelled_at is null',
    );
    this.#newest = database.prepare('select max(no) as no from runs');
    const matches = `tenant = :tenant and (:agent is null or agent_id = :agent)
      and (:isCancelled = 0 or cancelled_at is not null) and created_at >= :since and created_at < :until`;
    this.#list = database.prepare(
      `select * from runs where no < :before and no >= :floor and ${matches} order by no desc limit :wanted`,
    );
    this.#ofIds = database.prepare(
      `select runs.* from json_each(:ids) as wanted cross join runs on runs.id = wanted.value
       where no < :before and ${matches} order by no desc limit :wanted`,
    );
    this.#createdAt = database.prepare('select created_at from runs where no >= ? order by no limit 1');
  }

  /** Creates the run, or returns the existing one. */
  ensure(run: Run): { readonly run: Run; readonly isNew: boolean } {
    const key = pairKey(run.tenant, run.id);
    const known = this.#known.get(key);
    if (known !== undefined) return { run: known, isNew: false };
    const { changes } = this.#insert.run(run.id, run.tenant, run.agentId, run.createdAt, run.cancelledAt);
    const stored = changes === 0 ? this.find(run.tenant, run.id) : run;
    if (stored === undefined) throw new Error(`run ${run.id} could not be created`);
    if (stored.cancelledAt === null) this.#known.set(key, stored);
    return { run: stored, isNew: changes !== 0 };
  }

  find(tenant: string, id: string): Run | undefined {
    const row = this.#byId.get(id, tenant);
    return row === undefined ? undefined : toRun(row);
  }

  cancel(tenant: string, id: string, at: number): boolean {
    this.#known.delete(pairKey(tenant, id));
    return this.#cancel.run(at, id, tenant).changes !== 0;
  }

  /** Returns runs newest first. */
  async list(filter: RunFilter, cursor: string | null, limit: number): Promise<Page<ListedRun>> {
    const newest = this.#newest.get()?.['no'];
    const before = cursor === null ? Number(newest ?? 0) + 1 : runCursor(cursor);
    const found = await this.#find(filter, before, limit + 1);
    const items = found.slice(0, limit);
    return { items, nextCursor: found.length > limit ? (items.at(-1)?.cursor ?? null) : null };
  }

  /** Runs are never removed, so a window of numbers is a window of rows. */
  async #find(filter: RunFilter, first: number, count: number): Promise<readonly ListedRun[]> {
    const { tenant, agentId: agent = null, ids, since = 0, until = Number.MAX_SAFE_INTEGER } = filter;
    const matching = { tenant, agent, isCancelled: Number(filter.isCancelled ?? false), since, until };
    if (ids !== undefined) {
      const wanted = { ...matching, ids: JSON.stringify([...new Set(ids)]), before: first, wanted: count };
      return this.#ofIds.all(wanted).map(toListedRun);
    }
    const found: ListedRun[] = [];
    for (let before = first; before > 1 && found.length < count;) {
      const floor = before - WINDOW;
      const rows = this.#list.all({ ...matching, before, floor, wanted: count - found.length });
      found.push(...rows.map(toListedRun));
      // Runs with smaller numbers were created earlier.
      const created = since === 0 ? undefined : this.#createdAt.get(floor);
      if (created !== undefined && integer(created, 'created_at') < since - CLOCK_STEP_MS) break;
      before = floor;
      if (before > 1 && found.length < count) await nextTurn();
    }
    return found;
  }

  /** Must be called after a rollback: the cache may contain runs that do not exist. */
  forget(): void {
    this.#known.clear();
  }
}

function toListedRun(row: Row): ListedRun {
  return { ...toRun(row), cursor: String(integer(row, 'no')) };
}
