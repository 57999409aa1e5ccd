import { EVENT_KINDS } from '../../core/ledger/event-kinds.ts';
import type { EventRow, EventRowFilter, EventSlice } from '../../core/ledger/event-slice.ts';
import type { Queryable, Statement } from '../../postgres/connection.ts';
import { rowsByKey, rowsInWindow, type SequencedRow } from './ledger-rows.ts';
import type { Tables } from './schema.ts';
import type { Sequencer } from './sequencer.ts';

export interface EventReaderParts {
  readonly reader: Queryable;
  readonly tables: Tables;
  readonly sequencer: Pick<Sequencer, 'sequence'>;
}

/** Sequence numbers of the first window of a slice, and of the second one, which is read if the first has no match. */
const WINDOWS = [512, 8192];

const KINDS = EVENT_KINDS.map((kind) => `'${kind}'`).join(', ');

interface NamedRow extends Pick<SequencedRow, 'seq' | 'at' | 'tenant' | 'kind' | 'call_id' | 'body'> {
  readonly call_tenant: string | null;
  readonly run_id: string;
  readonly tool_name: string;
  readonly agent_id: string;
  readonly client_id: string | null;
}

/** Reads slices of events: each from a bounded number of ledger rows, or from the rows of one call. */
export class EventReader {
  readonly #parts: EventReaderParts;
  readonly #inWindow: Statement;
  readonly #ofCall: Statement;

  constructor(parts: EventReaderParts) {
    this.#parts = parts;
    const { tables } = parts;
    // `limit` keeps the subquery a lookup by key.
    const select = (from: string): string => `
      select r.seq, r.at, r.tenant, r.kind, r.call_id, r.body,
        c.tenant as call_tenant, c.run_id, c.tool_name, c.agent_id, c.client_id
      from ${from} left join lateral (
        select tenant, run_id, tool_name, agent_id, client_id from ${tables.calls} where id = r.call_id limit 1
      ) c on true
      where r.kind in (${KINDS}) and r.tenant = $4 and ($3::text is null or r.call_id = $3)
        and ($5::text is null or r.call_id is null or c.agent_id = $5 or c.client_id = $6::text)
      order by r.seq limit $7`;
    this.#inWindow = { name: 'events_window', text: select(rowsInWindow(tables)) };
    this.#ofCall = { name: 'events_of_call', text: select(rowsByKey(tables, 'call_id', '$3')) };
  }

  async read(filter: EventRowFilter, after: number, limit: number): Promise<EventSlice> {
    const { seq: head } = await this.#parts.sequencer.sequence();
    if (filter.callId !== undefined) {
      const rows = await this.#rows(this.#ofCall, filter, [after, head], limit);
      return sliceOf(rows, limit, Math.max(after, head), head);
    }
    let rows: readonly EventRow[] = [];
    let reached = after;
    for (const window of WINDOWS) {
      if (rows.length > 0 || reached >= head) break;
      const end = Math.min(reached + window, head);
      rows = await this.#rows(this.#inWindow, filter, [reached, end], limit);
      reached = end;
    }
    return sliceOf(rows, limit, reached, head);
  }

  async #rows(
    statement: Statement,
    { callId, tenant, askedOrRunBy }: EventRowFilter,
    range: readonly [after: number, end: number],
    limit: number,
  ): Promise<readonly EventRow[]> {
    const { agentId = null, clientId = null } = askedOrRunBy ?? {};
    const values = [...range, callId ?? null, tenant, agentId, clientId, limit];
    return (await this.#parts.reader.query<NamedRow>(statement, values)).rows.map(toEventRow);
  }
}

/** A full slice ends at its last row, because later rows up to `end` may match. */
function sliceOf(rows: readonly EventRow[], limit: number, end: number, head: number): EventSlice {
  const reached = rows.length < limit ? end : (rows.at(-1)?.row.seq ?? end);
  return { rows, reached, isEnd: reached >= head };
}

function toEventRow(row: NamedRow): EventRow {
  const { seq, at, tenant, kind, call_id: callId, body, call_tenant: callTenant } = row;
  return {
    row: { seq, at, tenant, kind, callId, body },
    call:
      callId === null || callTenant === null
        ? null
        : {
            id: callId,
            tenant: callTenant,
            runId: row.run_id,
            toolName: row.tool_name,
            agentId: row.agent_id,
            clientId: row.client_id,
          },
  };
}
