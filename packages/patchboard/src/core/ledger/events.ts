import { rfc3339, statusOf, type CallStateName, type EventType } from '@patchboard/wire';
import type { Call } from '../call/call.ts';
import type { Guard } from '../access/guard.ts';
import type { Clock, Store } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import { maySeeCall, onlyAgent } from '../call/visibility.ts';
import { YieldingQueue } from '../yielding-queue.ts';
import { CatchUp } from './catch-up.ts';
import type { CallNames, EventRow, EventRowFilter } from './event-slice.ts';

/** What a subscriber sees. `seq` is the ledger's; progress has none and is not replayed. */
export interface BoardEvent<Named extends CallNames = CallNames> {
  readonly seq: number | null;
  readonly type: EventType;
  readonly tenant: string;
  readonly callId: string | null;
  readonly data: unknown;
  readonly call: Named | null;
}

/**
 * Listeners in this process only: no stream carries it. It comes once the new policy is in force, which is after its
 * ledger row: a list of tools that is made then is the new one.
 */
export interface PolicyChange {
  readonly type: 'policy.changed';
  readonly seq: null;
  /** Null: every tenant without a policy of its own. */
  readonly tenant: string | null;
  readonly callId: null;
  readonly call: null;
}

export interface EventFilter {
  /** Sees its tenant's events; of calls, only those it may see. */
  readonly principal: Principal;
  readonly callId: string | null;
}

/** Live events have the whole call as it was committed, for those who wait in this process. */
type Listener = (event: BoardEvent<Call> | PolicyChange) => void;

type FeedGuard = Pick<Guard, 'listsName' | 'onChanged'>;

/** One who reads from some point on. */
export interface EventReader {
  next(event: BoardEvent): void;
  /** Resolves when it can take more old events, null: it can now; live ones it takes as they come. */
  ready(): Promise<void> | null;
  /** It has had every old event; from here on there are only live ones. */
  caughtUp?(): void;
  /** The old events could not be read; nothing comes after that. */
  failed(error: unknown): void;
}

/** The tail of the ledger, live. Every subscriber sees every event it may see once, in order of sequence. */
export class EventFeed {
  readonly #store: Store;
  readonly #guard: FeedGuard;
  readonly #listeners: Set<Listener> = new Set();
  /** Ends each of those who follow. */
  readonly #followers: Set<() => void> = new Set();
  /** However many readers catch up: the event loop waits for one slice of one of them. */
  readonly #catchingUp: YieldingQueue;
  #unwatch: readonly (() => void)[] = [];

  constructor(store: Store, guard: FeedGuard, clock: Pick<Clock, 'turn'>) {
    this.#store = store;
    this.#guard = guard;
    this.#catchingUp = new YieldingQueue(clock);
  }

  /** Live events only. While nobody listens the store has nobody to tell. */
  listen(listener: Listener): () => void {
    if (this.#listeners.size === 0) this.#watch();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stopWatching();
    };
  }

  progress(call: Call, at: number, data: unknown): void {
    this.#tell('call.progress', call, at, { data });
  }

  /** What a tool emits under a name of its own; as fleeting as progress. */
  custom(call: Call, at: number, eventType: string, data: unknown): void {
    this.#tell('tool_custom_event', call, at, { event_type: eventType, data });
  }

  /**
   * Everything after `after`, then live events. While old rows are read, live events are not kept but only noted:
   * the rows behind them are read again, so memory stays flat however long the replay takes.
   * The answer ends it.
   */
  follow(filter: EventFilter, after: number, reader: EventReader): () => void {
    const old = new CatchUp(this.#store, eventRowFilter(filter), after);
    let isLive = false;
    let ended = false;
    /** The newest event that came while old ones were read. */
    let noted = after;
    const stop = this.listen((committed) => {
      const event = committed.type === 'policy.changed' ? null : this.#asSeen(filter, committed);
      if (event === null) return;
      if (isLive || event.seq === null) reader.next(event);
      else noted = event.seq;
    });
    const take = (row: EventRow): boolean => {
      const told = eventOf(row);
      const event = told === null ? null : this.#asSeen(filter, told);
      if (event !== null) reader.next(event);
      return !ended && reader.ready() === null;
    };
    const slice = async (): Promise<void> => {
      if (ended) return;
      await old.slice(take);
      isLive = old.hasAllUpTo(noted);
      if (isLive && !ended) reader.caughtUp?.();
    };
    const catchUp = async (): Promise<void> => {
      while (!ended && !isLive) {
        await this.#catchingUp.run(slice);
        const ready = reader.ready();
        if (ready !== null) await ready;
      }
    };
    catchUp().catch((error: unknown) => reader.failed(error));
    const end = (): void => {
      ended = true;
      this.#followers.delete(end);
      stop();
    };
    this.#followers.add(end);
    return end;
  }

  /** Nobody is told anything any more, and nothing is read for anybody. */
  close(): void {
    for (const end of this.#followers) end();
    this.#listeners.clear();
    this.#stopWatching();
  }

  #watch(): void {
    const unwatchStore = this.#store.watch((committed) => {
      const event = eventOf(committed);
      if (event !== null) this.#emit(event);
    });
    const unwatchGuard = this.#guard.onChanged?.((tenant) => {
      this.#emit({ type: 'policy.changed', seq: null, tenant, callId: null, call: null });
    });
    this.#unwatch = unwatchGuard === undefined ? [unwatchStore] : [unwatchStore, unwatchGuard];
  }

  #stopWatching(): void {
    for (const unwatch of this.#unwatch) unwatch();
    this.#unwatch = [];
  }

  /** What the reader may see of it; null: nothing. */
  #asSeen(filter: EventFilter, event: BoardEvent): BoardEvent | null {
    if (!maySeeEvent(filter, event)) return null;
    if (event.type !== 'registry.changed') return event;
    return onlyListed(event, filter.principal, this.#guard);
  }

  #tell(type: EventType, call: Call, at: number, body: Readonly<Record<string, unknown>>): void {
    if (this.#listeners.size === 0) return;
    const data = { tool_call_id: call.id, at: rfc3339(at), ...body };
    this.#emit({ seq: null, type, tenant: call.tenant, callId: call.id, data, call });
  }

  #emit(event: BoardEvent<Call> | PolicyChange): void {
    for (const listener of this.#listeners) listener(event);
  }
}

function eventRowFilter({ principal, callId }: EventFilter): EventRowFilter {
  const { tenant, kind, agentId, clientId } = principal;
  if (callId !== null) return { tenant, callId };
  if (onlyAgent(principal) === null) return { tenant };
  return { tenant, askedOrRunBy: { agentId, clientId: kind === 'client' ? clientId : null } };
}

function maySeeEvent({ principal, callId }: EventFilter, event: BoardEvent): boolean {
  if (event.tenant !== principal.tenant || (callId !== null && event.callId !== callId)) return false;
  if (event.callId === null) return true;
  // Of a call that is no longer stored nobody knows whose it was.
  return event.call === null ? onlyAgent(principal) === null : maySeeCall(principal, event.call);
}

/** Without the names of tools that the reader may never call; null when none is left. */
function onlyListed(
  event: BoardEvent,
  principal: Principal,
  guard: Pick<Guard, 'listsName'>,
): BoardEvent | null {
  const data = event.data as Readonly<Record<string, unknown>>;
  if (principal.kind === 'operator' || isLender(principal, data['client_id'])) return event;
  const shown: Record<string, unknown> = {};
  let names = 0;
  for (const [key, value] of Object.entries(data)) {
    // Every list in such a row is one of tool names.
    const listed = Array.isArray(value)
      ? value.filter((name) => guard.listsName(principal, String(name)))
      : null;
    if (listed === null) shown[key] = value;
    else if (listed.length > 0) shown[key] = listed;
    names += listed?.length ?? 0;
  }
  return names === 0 ? null : { ...event, data: shown };
}

function isLender({ clientId, scopes }: Principal, lender: unknown): boolean {
  return clientId !== null && clientId === lender && scopes.has('tools:serve');
}

/** Null for rows that are no event, such as refusals. */
function eventOf<Named extends CallNames>({ row, call }: EventRow<Named>): BoardEvent<Named> | null {
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
    case 'device.changed':
      return { ...event, type: 'device.changed', data: { ...body, at } };
    case 'registry.changed':
      return { ...event, type: 'registry.changed', data: { ...body, at } };
    default:
      return null;
  }
}

function namesOf(callId: string | null, call: CallNames | null): Record<string, unknown> {
  if (call === null) return { tool_call_id: callId };
  return { tool_call_id: call.id, run_id: call.runId, tool_name: call.toolName, agent_id: call.agentId };
}
