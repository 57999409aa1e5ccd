import { rfc3339, statusOf, type CallStateName, type EventType } from '@patchboard/wire';
import type { Call } from './call.ts';
import type { CommittedRow, Store } from './ports.ts';

/** What a subscriber sees. `seq` is the ledger's; progress has none and is not replayed. */
export interface BoardEvent {
  readonly seq: number | null;
  readonly type: EventType;
  readonly tenant: string;
  readonly callId: string | null;
  readonly data: unknown;
  /** The call as it was committed, for those who wait in this process. */
  readonly call: Call | null;
}

export interface EventFilter {
  readonly tenant: string;
  readonly callId: string | null;
}

type Listener = (event: BoardEvent) => void;

const REPLAY_PAGE = 200;

/** The tail of the ledger, live. Every subscriber sees every event it may see once, in order of sequence. */
export class EventFeed {
  readonly #store: Store;
  readonly #listeners: Set<Listener> = new Set();
  readonly #unwatch: () => void;

  constructor(store: Store) {
    this.#store = store;
    this.#unwatch = store.watch((committed) => {
      if (this.#listeners.size === 0) return;
      const event = eventOf(committed);
      if (event !== null) this.#emit(event);
    });
  }

  /** Live events only. */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  progress(call: Call, at: number, data: unknown): void {
    this.#emit({
      seq: null,
      type: 'call.progress',
      tenant: call.tenant,
      callId: call.id,
      data: { tool_call_id: call.id, at: rfc3339(at), data },
      call: null,
    });
  }

  /**
   * Everything after `after`, then live events. While old rows are read, live events are not kept but only noted:
   * the rows behind them are read again, so memory stays flat however long the replay takes.
   * The answer ends it; a replay that fails calls `failed`.
   */
  follow(
    filter: EventFilter,
    after: number | null,
    listener: Listener,
    failed: (error: unknown) => void,
  ): () => void {
    const matches = (event: BoardEvent): boolean =>
      event.tenant === filter.tenant && (filter.callId === null || event.callId === filter.callId);
    if (after === null) return this.listen((event) => matches(event) && listener(event));
    let live = false;
    let missed = false;
    let ended = false;
    const stop = this.listen((event) => {
      if (!matches(event)) return;
      if (live || event.seq === null) listener(event);
      else missed = true;
    });
    const replay = async (): Promise<void> => {
      let last = after;
      for (;;) {
        missed = false;
        const rows = await this.#store.readLedger(ledgerFilter(filter), last, REPLAY_PAGE);
        if (ended) return;
        for (const committed of rows) {
          last = committed.row.seq;
          const event = eventOf(committed);
          if (event !== null) listener(event);
        }
        if (rows.length === 0 && !missed) break;
      }
      live = true;
    };
    replay().catch(failed);
    return () => {
      ended = true;
      stop();
    };
  }

  close(): void {
    this.#unwatch();
    this.#listeners.clear();
  }

  #emit(event: BoardEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

function ledgerFilter(filter: EventFilter): { tenant: string; callId?: string } {
  return filter.callId === null
    ? { tenant: filter.tenant }
    : { tenant: filter.tenant, callId: filter.callId };
}

/** Null for rows that are no event, such as refusals. */
export function eventOf({ row, call }: CommittedRow): BoardEvent | null {
  const at = rfc3339(row.at);
  const body = JSON.parse(row.body) as Record<string, unknown>;
  const event = { seq: row.seq, tenant: row.tenant, callId: row.callId, call };
  switch (row.kind) {
    case 'call.state': {
      const state = body['state'] as CallStateName;
      return {
        ...event,
        type: 'call.state',
        data: { ...namesOf(row.callId, call), ...body, status: statusOf(state), at },
      };
    }
    case 'permission_required':
    case 'permission_decided':
      return { ...event, type: row.kind, data: { ...namesOf(row.callId, call), ...body, at } };
    case 'registry.changed':
      return { ...event, type: 'registry.changed', data: { ...body, at } };
    default:
      return null;
  }
}

function namesOf(callId: string | null, call: Call | null): Record<string, unknown> {
  if (call === null) return { tool_call_id: callId };
  return { tool_call_id: call.id, run_id: call.runId, tool_name: call.toolName, agent_id: call.agentId };
}
