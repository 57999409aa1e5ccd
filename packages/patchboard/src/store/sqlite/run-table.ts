import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BoundedMap } from '../../core/bounded-map.ts';
import { pairKey } from '../../core/pair-key.ts';
import type { Page, Run, RunFilter } from '../../core/ports.ts';
import { runCursor } from '../cursors.ts';
import { integer, toRun } from './rows.ts';

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
    this.#list = database.prepare(
      `select * from runs where no < :before and no >= :floor and tenant = :tenant
       and (:agent is null or agent_id = :agent)
       and created_at >= :since and created_at < :until order by no desc limit :wanted`,
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

  /** Returns runs newest first. Runs are never removed, so a window of numbers is a window of rows. */
  async list(filter: RunFilter, cursor: string | null, limit: number): Promise<Page<Run>> {
    const { tenant, agentId: agent = null, since = 0, until = Number.MAX_SAFE_INTEGER } = filter;
    const newest = this.#newest.get()?.['no'];
    let before = cursor === null ? Number(newest ?? 0) + 1 : runCursor(cursor);
    const found: { readonly run: Run; readonly no: number }[] = [];
    while (before > 1 && found.length <= limit) {
      const floor = before - WINDOW;
      const wanted = limit + 1 - found.length;
      for (const row of this.#list.all({ before, floor, tenant, agent, since, until, wanted })) {
        found.push({ run: toRun(row), no: integer(row, 'no') });
      }
      // Runs with smaller numbers were created earlier.
      const created = since === 0 ? undefined : this.#createdAt.get(floor);
      if (created !== undefined && integer(created, 'created_at') < since - CLOCK_STEP_MS) break;
      before = floor;
      if (before > 1 && found.length <= limit) await nextTurn();
    }
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page.map(({ run }) => run),
      nextCursor: found.length > limit && last !== undefined ? String(last.no) : null,
    };
  }

  /** Must be called after a rollback: the cache may contain runs that do not exist. */
  forget(): void {
    this.#known.clear();
  }
}
