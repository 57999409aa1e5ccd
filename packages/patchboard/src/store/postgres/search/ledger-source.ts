import { CALL_STATES, isTerminal } from '@patchboard/wire';
import type { LedgerRow } from '../../../core/ledger/ledger.ts';
import type { CommittedRow } from '../../../core/ports.ts';
import type { IndexBatch, IndexedCall, IndexedRefusal } from '../../../core/search/call-search.ts';
import type { IndexSource } from '../../../core/search/index-source.ts';
import { endedBy, indexedRefusal } from '../../../core/search/indexed-rows.ts';
import { INDEXED_CHARACTERS } from '../../../core/search/words.ts';
import type { Queryable, Statement } from '../../../postgres/connection.ts';
import { callOf, type CallRow } from '../call-row.ts';
import { rowsInWindow } from '../ledger-rows.ts';
import type { Tables } from '../schema.ts';

/** Sequence numbers that one batch covers. A call has about three rows. */
const WINDOW = 1500;
/** A batch ends early when the stored states of its calls are this large: they contain what callers gave as input. */
export const BATCH_BYTES: number = 8 * 1024 * 1024;

/** Matches the bodies of rows that end a call, and perhaps others. */
const END_PATTERN = `"state":"(${CALL_STATES.filter(isTerminal).join('|')})"`;

/** Members of a call that the index has nothing of, so that they are not read. */
const UNREAD = {
  tool_version: '',
  source: 'server',
  timeout_ms: 0,
  decision: '{}',
  target: null,
  span_id: null,
  origin: null,
  replay_of: null,
  fence: null,
  version: 0,
  result: null,
  owner: null,
} as const;

/** The others, besides the arguments. */
const CALL_COLUMNS = [
  ...(['id', 'created_at', 'tenant', 'run_id', 'agent_id'] as const),
  ...(['tool_name', 'client_id', 'trace_id', 'parent_call_id'] as const),
] as const;

/** A ledger row with the read columns of the call that it ended. */
interface SourceRow
  extends
    Pick<CallRow, (typeof CALL_COLUMNS)[number] | 'args' | 'tail'>,
    Pick<LedgerRow, 'seq' | 'at' | 'kind' | 'body'> {
  readonly row_tenant: string;
  readonly row_trace_id: string | null;
  readonly call_id: string | null;
  readonly hash: Buffer;
  /** Null: the call is open, or no longer stored; so are the other columns of the call. */
  readonly state: number | null;
  /** Bytes of the states of the rows up to this one. */
  readonly bytes: number;
}

/**
 * Reads the ended calls and refused requests of a range of the ledger with one statement, without their results and without the
 * rows of states before the end.
 */
export class PostgresIndexSource implements IndexSource {
  readonly #queryable: Queryable;
  readonly #head: Statement;
  readonly #row: Statement;
  readonly #window: Statement;

  constructor(queryable: Queryable, tables: Tables) {
    this.#queryable = queryable;
    // Each node gives sequence numbers to committed rows every second.
    this.#head = { name: 'index_head', text: `select seq from ${tables.ledger_head}` };
    this.#row = { name: 'index_row', text: `select r.hash from ${rowsInWindow(tables)}` };
    const columns = CALL_COLUMNS.map((name) => `c.${name}`).join(', ');
    this.#window = {
      name: 'index_window',
      // The length of a large value is known without reading it.
      text: `select * from (
        select r.seq, r.at, r.tenant as row_tenant, r.kind, r.call_id, r.trace_id as row_trace_id, r.body, r.hash,
          ${columns}, left(c.args, ${INDEXED_CHARACTERS}) as args, e.state, e.tail,
          coalesce(sum(octet_length(e.tail)) over (order by r.seq), 0) as bytes
        from ${rowsInWindow(tables)}
        left join lateral (select * from ${tables.ended_calls} where id = r.call_id limit 1) e on r.kind = 'call.state'
        left join lateral (select * from ${tables.calls} where id = e.id limit 1) c on true
        where r.seq = $2 or r.kind = 'call.refused' or (r.kind = 'call.state' and r.body ~ '${END_PATTERN}')
        ) x where bytes - coalesce(octet_length(tail), 0) < ${BATCH_BYTES} order by seq`,
    };
  }

  async head(): Promise<number> {
    const { rows } = await this.#queryable.query<{ seq: number }>(this.#head);
    return rows[0]?.seq ?? 0;
  }

  async hashAt(seq: number): Promise<string | null> {
    const { rows } = await this.#queryable.query<{ hash: Buffer }>(this.#row, [seq - 1, seq]);
    return rows[0]?.hash.toString('hex') ?? null;
  }

  async read(after: number): Promise<IndexBatch | null> {
    const head = await this.head();
    if (head <= after) return null;
    const end = Math.min(after + WINDOW, head);
    const { rows } = await this.#queryable.query<SourceRow>(this.#window, [after, end]);
    const calls: IndexedCall[] = [];
    const refusals: IndexedRefusal[] = [];
    for (const row of rows) {
      const committed = committedRow(row);
      const call = endedBy(committed);
      const refusal = indexedRefusal(committed.row);
      if (call !== null) calls.push(call);
      if (refusal !== null) refusals.push(refusal);
    }
    const last = rows.at(-1);
    if (last === undefined || (last.seq !== end && last.bytes < BATCH_BYTES))
      throw new Error(`the ledger has no row ${end}`);
    const to = { seq: last.seq, hash: last.hash.toString('hex') };
    return { from: after, to, calls, refusals, hasMore: to.seq < head };
  }
}

function committedRow(row: SourceRow): CommittedRow {
  const { seq, at, kind, body, call_id: callId, state } = row;
  return {
    row: { seq, at, kind, body, callId, tenant: row.row_tenant, traceId: row.row_trace_id, hash: '' },
    call: state === null ? null : callOf({ ...UNREAD, ...row, state }),
  };
}
