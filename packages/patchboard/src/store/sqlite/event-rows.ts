import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { EVENT_KINDS } from '../../core/ledger/event-kinds.ts';
import type { CallNames, EventRow, EventRowFilter, EventSlice } from '../../core/ledger/event-slice.ts';
import type { LedgerKind } from '../../core/ledger/ledger.ts';
import { BLOCK_ROWS, BlockPostings, scopesOf, type EventPostings } from './event-postings.ts';
import { integer, text, textOrNull, type Row } from './rows.ts';

/** Ledger rows scanned for one slice beyond the index. */
const WINDOW = 512;

const COLUMNS = `
  ledger.seq, ledger.at, ledger.tenant, ledger.kind, ledger.call_id, ledger.body,
  calls.tenant as call_tenant, calls.run_id, calls.tool_name, calls.agent_id, calls.client_id`;

const WITH_CALLS = 'left join calls on calls.id = ledger.call_id';

const IS_EVENT = `ledger.kind in (${EVENT_KINDS.map((kind) => `'${kind}'`).join(', ')})`;

const MATCHES = `
  ${IS_EVENT} and ledger.tenant = :tenant
  and (:agent is null or ledger.call_id is null or calls.agent_id = :agent or calls.client_id = :client)`;

/** Reads slices of events: through the index as far as it reaches, and by scanning the ledger beyond it. */
export class EventRows {
  readonly #postings: EventPostings;
  readonly #head: () => number;
  readonly #listed: StatementSync;
  readonly #inWindow: StatementSync;
  readonly #ofCall: StatementSync;
  readonly #ofBlock: StatementSync;

  /** `head` returns the newest durable row; later rows are not returned. */
  constructor(database: DatabaseSync, postings: EventPostings, head: () => number) {
    this.#postings = postings;
    this.#head = head;
    this.#listed = prepareRead(
      database,
      `json_each(:seqs) as listed cross join ledger on ledger.seq = listed.value ${WITH_CALLS}
       where ${MATCHES} order by ledger.seq`,
    );
    this.#inWindow = prepareRead(
      database,
      `ledger ${WITH_CALLS} where ledger.seq > :after and ledger.seq <= :end and ${MATCHES}
       order by ledger.seq limit :limit`,
    );
    this.#ofCall = prepareRead(
      database,
      `ledger ${WITH_CALLS} where ledger.call_id = :call and ledger.seq > :after and ledger.seq <= :end and ${MATCHES}
       order by ledger.seq limit :limit`,
    );
    this.#ofBlock = database.prepare(
      `select ledger.seq, ledger.tenant, ledger.call_id, calls.agent_id, calls.client_id
       from ledger ${WITH_CALLS} where ledger.seq > ? and ledger.seq <= ? and ${IS_EVENT} order by ledger.seq`,
    );
  }

  read(filter: EventRowFilter, after: number, limit: number): EventSlice {
    const head = this.#head();
    const { rows, reached } = this.#slice(filter, { after, limit, head });
    return { rows, reached, isEnd: reached >= head };
  }

  /** Builds the posting lists of one block from the stored rows. */
  postingsOf(block: number): BlockPostings {
    const postings = new BlockPostings(block);
    for (const row of this.#ofBlock.all(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS)) {
      postings.add({
        seq: integer(row, 'seq'),
        tenant: text(row, 'tenant'),
        callId: textOrNull(row, 'call_id'),
        agentId: textOrNull(row, 'agent_id'),
        clientId: textOrNull(row, 'client_id'),
      });
    }
    return postings;
  }

  #slice(filter: EventRowFilter, given: Given): { rows: readonly EventRow[]; reached: number } {
    const { after, limit, head } = given;
    const parameters = parametersOf(filter);
    if (filter.callId !== undefined) {
      const rows = this.#ofCall
        .all({ ...parameters, call: filter.callId, after, end: head, limit })
        .map(toEventRow);
      return { rows, reached: lastOf(rows, limit) ?? Math.max(after, head) };
    }
    if (after < this.#postings.blocks * BLOCK_ROWS) {
      const { seqs, reached } = this.#postings.find(filter.tenant, scopesOf(filter), after, limit);
      return {
        rows: this.#listed.all({ ...parameters, seqs: JSON.stringify(seqs) }).map(toEventRow),
        reached,
      };
    }
    const end = Math.max(after, Math.min(after + WINDOW, head));
    const rows = this.#inWindow.all({ ...parameters, after, end, limit }).map(toEventRow);
    return { rows, reached: lastOf(rows, limit) ?? end };
  }
}

interface Given {
  readonly after: number;
  readonly limit: number;
  readonly head: number;
}

function prepareRead(database: DatabaseSync, from: string): StatementSync {
  return database.prepare(`select ${COLUMNS} from ${from}`);
}

function parametersOf({ tenant, askedOrRunBy }: EventRowFilter): Record<string, string | null> {
  return { tenant, agent: askedOrRunBy?.agentId ?? null, client: askedOrRunBy?.clientId ?? null };
}

/** Returns the last sequence of a full slice; undefined if the slice is not full. */
function lastOf(rows: readonly EventRow[], limit: number): number | undefined {
  return rows.length < limit ? undefined : rows.at(-1)?.row.seq;
}

function toEventRow(row: Row): EventRow {
  const callId = textOrNull(row, 'call_id');
  return {
    row: {
      seq: integer(row, 'seq'),
      at: integer(row, 'at'),
      tenant: text(row, 'tenant'),
      kind: text(row, 'kind') as LedgerKind,
      callId,
      body: text(row, 'body'),
    },
    call: callId === null || row['run_id'] === null ? null : namesOf(callId, row),
  };
}

function namesOf(id: string, row: Row): CallNames {
  return {
    id,
    tenant: text(row, 'call_tenant'),
    runId: text(row, 'run_id'),
    toolName: text(row, 'tool_name'),
    agentId: text(row, 'agent_id'),
    clientId: textOrNull(row, 'client_id'),
  };
}
