import type { CallStateName } from '@patchboard/wire';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type {
  CallCriteria,
  CallSort,
  FoundCall,
  IndexBatch,
  IndexedRefusal,
  IndexPosition,
  LargestSeries,
  MetricsCriteria,
  RefusalCriteria,
  RunTotals,
} from '../../../core/search/call-search.ts';
import { seriesOf } from '../../../core/search/metric-series.ts';
import type { RemovedCall } from '../call-table.ts';
import { integer, text } from '../rows.ts';
import { CallEntries } from './call-entries.ts';
import { CallFinder } from './call-finder.ts';
import { MetricEntries } from './metric-entries.ts';
import { NO_TENANT, NameTable } from './name-table.ts';
import { RefusalEntries } from './refusal-entries.ts';

/** The index of calls in one database, which it owns. */
export class CallIndex {
  readonly #database: DatabaseSync;
  readonly #now: () => number;
  readonly #names: NameTable;
  readonly #calls: CallEntries;
  readonly #finder: CallFinder;
  readonly #refusals: RefusalEntries;
  readonly #metrics: MetricEntries;
  readonly #position: StatementSync;
  readonly #setPosition: StatementSync;
  readonly #runTotals: StatementSync;
  readonly #runsWithCalls: StatementSync;

  constructor(database: DatabaseSync, now: () => number) {
    this.#database = database;
    this.#now = now;
    this.#names = new NameTable(database);
    this.#calls = new CallEntries(database, this.#names);
    this.#finder = new CallFinder(database, this.#names);
    this.#refusals = new RefusalEntries(database);
    this.#metrics = new MetricEntries(database);
    this.#position = database.prepare('select seq, hash from position');
    this.#setPosition = database.prepare('update position set seq = ?, hash = ?');
    this.#runTotals = database.prepare(
      `select c.run, s.name as state, count(*) as calls, max(c.ended) as ended
       from json_each(?) as wanted
       cross join calls as c indexed by calls_run on c.run = wanted.value and c.tenant = ?
       cross join names as s on s.id = c.state
       group by c.run, c.state`,
    );
    this.#runsWithCalls = database.prepare(
      `select distinct c.run from json_each(?) as wanted
       cross join calls as c indexed by calls_state on c.state = wanted.value`,
    );
  }

  position(): IndexPosition {
    const row = this.#position.get();
    return row === undefined ? { seq: 0, hash: '' } : { seq: integer(row, 'seq'), hash: text(row, 'hash') };
  }

  find(criteria: CallCriteria, sort: CallSort, after: FoundCall | null, limit: number): readonly FoundCall[] {
    return this.#finder.find(criteria, sort, after, limit);
  }

  refusals(criteria: RefusalCriteria, before: number | null, limit: number): readonly IndexedRefusal[] {
    return this.#refusals.find(criteria, before, limit);
  }

  metrics(criteria: MetricsCriteria, limit: number): LargestSeries {
    return seriesOf(this.#metrics.find(criteria), limit);
  }

  runTotals(tenant: string, runIds: readonly string[]): ReadonlyMap<string, RunTotals> {
    const totals = new Map<
      string,
      { byState: Partial<Record<CallStateName, number>>; lastEndedAt: number }
    >();
    const [own] = this.#names.find(NO_TENANT, 'tenant', tenant).ids;
    if (own === undefined) return totals;
    for (const row of this.#runTotals.iterate(JSON.stringify([...new Set(runIds)]), own)) {
      const run = text(row, 'run');
      const { byState, lastEndedAt } = totals.get(run) ?? { byState: {}, lastEndedAt: 0 };
      byState[text(row, 'state') as CallStateName] = integer(row, 'calls');
      totals.set(run, { byState, lastEndedAt: Math.max(lastEndedAt, integer(row, 'ended')) });
    }
    return totals;
  }

  runsWithCalls(tenant: string, states: readonly CallStateName[], limit: number): readonly string[] | null {
    const [own] = this.#names.find(NO_TENANT, 'tenant', tenant).ids;
    if (own === undefined) return [];
    const { ids, calls } = this.#names.match(own, 'state', { any: states, none: [] });
    if (calls > limit) return null;
    return this.#runsWithCalls.all(JSON.stringify(ids)).map((row) => text(row, 'run'));
  }

  apply(batch: IndexBatch): boolean {
    if (this.position().seq !== batch.from) return false;
    this.#transaction(() => {
      this.#calls.add(batch.calls);
      this.#refusals.add(batch.refusals);
      this.#metrics.add(batch);
      this.#setPosition.run(batch.to.seq, batch.to.hash);
    });
    return true;
  }

  /** Removes some of what is old, so that searches do not wait for all of it. Returns whether there is more. */
  forget(before: number): boolean {
    let isMore = false;
    this.#transaction(() => {
      isMore = this.#calls.removeEndedBefore(before);
      if (isMore) return;
      this.#refusals.removeBefore(before);
      this.#metrics.removeOld(this.#now());
    });
    if (!isMore) this.#emptyLog();
    return isMore;
  }

  remove(calls: readonly RemovedCall[]): void {
    this.#transaction(() => this.#calls.removeCalls(calls));
    this.#emptyLog();
  }

  close(): void {
    this.#database.close();
  }

  /** What was removed is also in earlier pages of the write-ahead log. */
  #emptyLog(): void {
    this.#database.exec('pragma wal_checkpoint(truncate)');
  }

  #transaction(change: () => void): void {
    this.#database.exec('begin immediate');
    try {
      change();
      this.#database.exec('commit');
    } catch (error) {
      this.#names.reset();
      // Some errors have ended the transaction already.
      if (this.#database.isTransaction) this.#database.exec('rollback');
      throw error;
    }
  }
}
