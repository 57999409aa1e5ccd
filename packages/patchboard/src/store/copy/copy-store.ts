import { isTerminal, type CallStateName } from '@patchboard/wire';
import { GENESIS } from '../../core/ledger/ledger.ts';
import type { Digest } from '../../core/ports.ts';
import { ensurePartitions, monthOf, nextMonth, startOf } from '../postgres/partitions.ts';
import type { SchemaParts } from '../postgres/migrations.ts';
import { tablesIn } from '../postgres/schema.ts';
import type { EndedCount } from '../postgres/totals.ts';
import { STATE_CODES, stateNameOf } from '../state-codes.ts';
import { ChainReader, type ChainEnd } from './chain-reader.ts';
import { COPIED_TABLES, type CopiedRow, type CopiedTable } from './copied-tables.ts';
import { releaseSchema, reserveSchema } from './empty-schema.ts';
import { isSameOrder, LedgerMonths, type CopiedSpan } from './ledger-copy.ts';
import { PostgresTarget, type TargetLedgerRow, type TargetSpan } from './postgres-target.ts';
import { RowDigest, type TableDigest } from './row-digest.ts';
import { SqliteSource } from './sqlite-source.ts';

export interface CopyOptions {
  /** The database file of a data folder that no server uses. */
  readonly file: string;
  readonly target: SchemaParts;
  readonly digest: Digest;
  readonly firstIdAt: (ms: number) => string;
  readonly progress: (progress: CopyProgress) => void;
  /** Copies what belongs to the store and is in other tables. Resolves to false if that differs. */
  readonly beforeRelease?: () => Promise<boolean>;
}

export interface CopyProgress {
  readonly step: 'copy' | 'verify';
  readonly table: string;
  readonly rows: number;
  readonly total: number;
}

/** The same measure on both sides. */
export interface Compared<Value> {
  readonly name: string;
  readonly source: Value;
  readonly target: Value;
}

export interface CopyReport {
  /** Whether both sides are the same. If not, the schema stays unusable. */
  readonly ok: boolean;
  readonly tables: readonly Compared<TableDigest>[];
  readonly states: readonly Compared<number>[];
  /** The chain, with the number of its last valid row and that row's hash. */
  readonly ledger: Compared<ChainEnd>;
}

/** Batches in flight: the next one is read while PostgreSQL writes the last. */
const IN_FLIGHT = 2;

/**
 * Copies a whole store from SQLite to an empty schema in PostgreSQL, reads the copy again, and compares. A server refuses
 * the schema until the copy is complete and verified; a repeated copy begins anew.
 */
export async function copyStore(options: CopyOptions): Promise<CopyReport> {
  const source = new SqliteSource(options.file, options.digest);
  try {
    const version = await reserveSchema(options.target);
    const copy = new StoreCopying(options, source);
    const report = await copy.run();
    const ok = ((await options.beforeRelease?.()) ?? true) && report.ok;
    const { connection, schema } = options.target;
    if (ok) await releaseSchema(connection, tablesIn(schema), version);
    return { ...report, ok };
  } finally {
    source.close();
  }
}

class StoreCopying {
  readonly #options: CopyOptions;
  readonly #source: SqliteSource;
  readonly #target: PostgresTarget;
  readonly #states: Map<number, number> = new Map();
  readonly #totals: Map<string, Map<number, number>> = new Map();
  readonly #months = new LedgerMonths();

  constructor(options: CopyOptions, source: SqliteSource) {
    this.#options = options;
    this.#source = source;
    this.#target = new PostgresTarget(options.target.connection, tablesIn(options.target.schema));
  }

  async run(): Promise<CopyReport> {
    await this.#makePartitions();
    const digests: [CopiedTable, TableDigest][] = [];
    for (const table of COPIED_TABLES) digests.push([table, await this.#copyTable(table)]);
    const ledger = await this.#copyLedger();
    const spans = this.#months.spans(this.#options.digest);
    await this.#target.finish(spans, this.#endedCalls());
    await this.#target.analyze();
    const tables: Compared<TableDigest>[] = [];
    for (const [table, source] of digests)
      tables.push({ name: table.name, source, target: await this.#readTable(table, source.rows) });
    const copied = await this.#readLedger(spans, ledger.rows);
    return this.#report(tables, await this.#target.states(), {
      name: 'ledger',
      source: ledger,
      target: copied,
    });
  }

  async #makePartitions(): Promise<void> {
    const { target, firstIdAt } = this.#options;
    const { connection, schema } = target;
    const months = this.#source.months();
    if (months === null) return;
    for (let month = monthOf(months.from); month <= monthOf(months.to); month = nextMonth(month)) {
      const now = startOf(month);
      const problem = await ensurePartitions({
        connection,
        schema,
        tables: tablesIn(schema),
        now,
        firstIdAt,
      });
      if (problem !== null) throw new Error(problem);
    }
  }

  async #copyTable(table: CopiedTable): Promise<TableDigest> {
    const digest = new RowDigest(table.columns);
    const count = this.#counter('copy', table.name, this.#source.count(table.name));
    await inFlight(this.#source.rows(table), async (rows) => {
      for (const row of rows) {
        digest.take(row);
        if (table.name === 'calls') this.#countCall(row);
      }
      await this.#target.insert(table, rows);
      count(rows.length);
    });
    return digest.end();
  }

  async #copyLedger(): Promise<ChainEnd> {
    const chain = new ChainReader(this.#options.digest);
    const count = this.#counter('copy', 'ledger', this.#source.count('ledger'));
    await inFlight(this.#source.ledger(), async (rows) => {
      const periods = rows.map((row) => {
        chain.take(row);
        return this.#months.add(row);
      });
      await this.#target.insertLedger(rows, periods);
      count(rows.length);
    });
    const end = chain.end();
    const { seq, hash } = this.#source.head;
    if (end.problem !== null || (end.rows === seq && end.hash === (seq === 0 ? GENESIS : hash))) return end;
    return { ...end, problem: `the ledger should end at row ${seq}` };
  }

  async #readTable(table: CopiedTable, total: number): Promise<TableDigest> {
    const reader = await this.#target.read(table, () => {
      const digest = new RowDigest(table.columns);
      const count = this.#counter('verify', table.name, total);
      return {
        digest,
        take: (row: CopiedRow) => {
          digest.take(row);
          count(1);
        },
      };
    });
    return reader.digest.end();
  }

  async #readLedger(spans: readonly CopiedSpan[], total: number): Promise<ChainEnd> {
    const { chain } = await this.#target.readLedger(() => {
      const reader = new ChainReader(this.#options.digest);
      const count = this.#counter('verify', 'ledger', total);
      const take = (row: TargetLedgerRow): void => {
        reader.take(row);
        count(1);
      };
      return { chain: reader, take };
    });
    const { found } = await this.#target.readOrder(() => {
      const rows: TargetSpan[] = [];
      return { found: rows, take: (row: TargetSpan) => void rows.push(row) };
    });
    const end = chain.end();
    if (end.problem !== null || isSameOrder(found, spans)) return end;
    return { ...end, problem: 'the order of the rows differs' };
  }

  #counter(step: CopyProgress['step'], table: string, total: number): (rows: number) => void {
    let done = 0;
    return (rows) => {
      done += rows;
      this.#options.progress({ step, table, rows: done, total });
    };
  }

  #countCall({ tenant, state: code }: CopiedRow): void {
    const state = Number(code);
    this.#states.set(state, (this.#states.get(state) ?? 0) + 1);
    if (!isTerminal(stateNameOf(state))) return;
    const ended = this.#totals.get(String(tenant)) ?? new Map<number, number>();
    ended.set(state, (ended.get(state) ?? 0) + 1);
    this.#totals.set(String(tenant), ended);
  }

  #endedCalls(): EndedCount[] {
    return [...this.#totals].flatMap(([tenant, states]) =>
      [...states].map(([state, calls]) => ({ tenant, state, calls })),
    );
  }

  #report(
    tables: readonly Compared<TableDigest>[],
    copied: ReadonlyMap<number, number>,
    ledger: Compared<ChainEnd>,
  ): CopyReport {
    const states = (Object.keys(STATE_CODES) as CallStateName[]).flatMap((name) => {
      const code = STATE_CODES[name];
      const [source, target] = [this.#states.get(code) ?? 0, copied.get(code) ?? 0];
      return source + target === 0 ? [] : [{ name, source, target }];
    });
    const ok =
      tables.every(({ source, target }) => source.rows === target.rows && source.sha256 === target.sha256) &&
      states.every(({ source, target }) => source === target) &&
      ledger.source.problem === null &&
      ledger.target.problem === null &&
      ledger.source.rows === ledger.target.rows &&
      ledger.source.hash === ledger.target.hash;
    return { ok, tables, states, ledger };
  }
}

/** Calls `work` with each batch; several run at once, and begin in order. */
async function inFlight<T>(batches: Iterable<T>, work: (batch: T) => Promise<void>): Promise<void> {
  const running: Promise<void>[] = [];
  try {
    for (const batch of batches) {
      running.push(work(batch));
      if (running.length >= IN_FLIGHT) await running.shift();
    }
  } finally {
    await Promise.allSettled(running);
  }
  await Promise.all(running);
}
