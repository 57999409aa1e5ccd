import type { CallStateName } from '@patchboard/wire';
import type { StateCounts } from '../../core/ports.ts';
import { textArray } from '../../postgres/arrays.ts';
import type { Queryable, Statement } from '../../postgres/connection.ts';
import { stateNameOf } from '../state-codes.ts';
import type { Tables } from './schema.ts';
import type { Sequencer } from './sequencer.ts';

export interface CallCountsParts {
  readonly reader: Queryable;
  /** For statements that read many rows. */
  readonly scanner: Queryable;
  readonly tables: Tables;
  readonly sequencer: Pick<Sequencer, 'sequence'>;
}

interface CountRow {
  readonly state: number;
  readonly calls: number;
}

/** Counts calls without a scan of the ended ones: the sequencer maintains their number. */
export class CallCounts {
  readonly #parts: CallCountsParts;
  readonly #ofAll: Statement;
  readonly #endedOf: Statement;
  readonly #openOf: Statement;
  readonly #openOfRuns: Statement;

  constructor(parts: CallCountsParts) {
    this.#parts = parts;
    const { open_calls: open, totals } = parts.tables;
    this.#ofAll = {
      name: 'count_calls',
      text: `select state, count(*) as calls from ${open} group by state
        union all select state, sum(calls)::int8 from ${totals} group by state`,
    };
    this.#endedOf = {
      name: 'count_ended',
      text: `select state, calls from ${totals} where tenant = $1`,
    };
    this.#openOf = {
      name: 'count_open',
      text: `select o.state, count(*) as calls from ${open} o
        cross join lateral (select tenant from ${parts.tables.calls} where id = o.id limit 1) c
        where c.tenant = $1 group by o.state`,
    };
    this.#openOfRuns = {
      name: 'count_open_of_runs',
      text: `select c.run_id, o.state, count(*) as calls from ${open} o
        cross join lateral (select tenant, run_id from ${parts.tables.calls} where id = o.id limit 1) c
        where c.tenant = $1 and ($2::text[] is null or c.run_id = any($2::text[])) group by c.run_id, o.state`,
    };
  }

  async countByState(): Promise<StateCounts> {
    return await this.#count(this.#ofAll, []);
  }

  async countEnded(tenant: string): Promise<StateCounts> {
    return await this.#count(this.#endedOf, [tenant]);
  }

  /** Reads each open call once. */
  async countOpen(tenant: string): Promise<StateCounts> {
    return await this.#read(this.#parts.scanner, this.#openOf, [tenant]);
  }

  /** Reads each open call once. */
  async countOpenOfRuns(
    tenant: string,
    runIds: readonly string[] | null,
  ): Promise<ReadonlyMap<string, StateCounts>> {
    const { rows } = await this.#parts.scanner.query<CountRow & { readonly run_id: string }>(
      this.#openOfRuns,
      [tenant, runIds === null ? null : textArray(runIds)],
    );
    const byRun = new Map<string, Partial<Record<CallStateName, number>>>();
    for (const { run_id: runId, state, calls } of rows) {
      const counts = byRun.get(runId) ?? {};
      counts[stateNameOf(state)] = calls;
      byRun.set(runId, counts);
    }
    return byRun;
  }

  async #count(statement: Statement, values: readonly unknown[]): Promise<StateCounts> {
    const { reader, sequencer } = this.#parts;
    await sequencer.sequence();
    return await this.#read(reader, statement, values);
  }

  async #read(reader: Queryable, statement: Statement, values: readonly unknown[]): Promise<StateCounts> {
    const { rows } = await reader.query<CountRow>(statement, values);
    const counts: Partial<Record<CallStateName, number>> = {};
    for (const { state, calls } of rows) if (calls > 0) counts[stateNameOf(state)] = calls;
    return counts;
  }
}
