import { rfc3339, statusOf, type CallStateName, type EventType } from '@patchboard/wire';
import type { Call } from '../call/call.ts';
import type { Guard } from '../access/guard.ts';
import type { Peers, TransientEvent } from '../peers.ts';
import type { Clock, Store } from '../ports.ts';
import type { Principal } from '../access/principal.ts';
import type { TenantDirectory } from '../access/tenant-directory.ts';
import { YieldingQueue } from '../yielding-queue.ts';
import { CatchUp } from './catch-up.ts';
import type { CallNames, EventRow } from './event-slice.ts';
import { eventAsSeen, eventRowFilter } from './event-visibility.ts';

/** An event for subscribers. `seq` is that of its ledger row; null for progress, which is not replayed. */
export interface BoardEvent<Named extends CallNames = CallNames> {
  readonly seq: number | null;
  readonly type: EventType;
  /** Null: of no single tenant; `view` decides who sees it. */
  readonly tenant: string | null;
  readonly callId: string | null;
  readonly data: unknown;
  readonly call: Named | null;
  /** Returns the data that the principal may see; null: it does not see the event. */
  readonly view?: (principal: Principal) => unknown;
}

/**
 * Sent to listeners in this process only, not to streams. Emitted once the new policy is in force, after its ledger row
 * was written, so that a tool list built by the listener is current.
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
  /** Receives events of its tenant, and of the calls that it may see. */
  readonly principal: Principal;
  readonly callId: string | null;
}

/** Live events contain the whole call as committed, for waiters in this process. */
type Listener = (event: BoardEvent<Call> | PolicyChange) => void;
type CallListener = (event: BoardEvent<Call>) => void;
type TransientListener = (event: TransientEvent) => void;

export interface EventFeedParts {
  readonly store: Store;
  readonly peers: Pick<Peers, 'isSingle' | 'transient' | 'onTransient'>;
  readonly guard: Pick<Guard, 'listsName' | 'onChanged'>;
  readonly tenants: Pick<TenantDirectory, 'offers'>;
  readonly clock: Pick<Clock, 'turn'>;
}

/** A reader that follows the ledger from some sequence on. */
export interface EventReader {
  next(event: BoardEvent): void;
  /** Back-pressure for old events: resolves when the reader accepts more; null: it does now. */
  ready(): Promise<void> | null;
  /** Called once after the last old event, before the first live one. */
  caughtUp?(): void;
  /** Called if old events could not be read. No event follows. */
  failed(error: unknown): void;
}

/** The live feed of the ledger. Every subscriber receives each event it may see once, in order of sequence. */
export class EventFeed {
  readonly #parts: EventFeedParts;
  readonly #listeners: Set<Listener> = new Set();
  /** By call id, so that an event is passed to the listeners of its call only. */
  readonly #callListeners: Map<string, Set<CallListener>> = new Map();
  /** Calls that may run at other nodes, whose events of there are wanted here. */
  readonly #elsewhere: Map<string, { readonly tenant: string; readonly listeners: Set<TransientListener> }> =
    new Map();
  /** What all followers read, by their end functions. */
  readonly #followers: Map<() => void, { readonly filter: EventFilter; readonly reader: EventReader }> =
    new Map();
  /** Bounds the blocking of the event loop to one slice, however many readers catch up. */
  readonly #catchingUp: YieldingQueue;
  #unwatch: readonly (() => void)[] = [];

  constructor(parts: EventFeedParts) {
    this.#parts = parts;
    this.#catchingUp = new YieldingQueue(parts.clock);
    parts.peers.onTransient(
      (event) => this.#publish(event),
      () => this.#followedTenants(),
    );
  }

  /** The number of listeners, those of single calls included. */
  get listenerCount(): number {
    let count = this.#listeners.size;
    for (const listeners of this.#callListeners.values()) count += listeners.size;
    return count;
  }

  /** Receives live events only. The store is watched only while there are listeners. */
  listen(listener: Listener): () => void {
    this.#watch();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      this.#stopIfUnused();
    };
  }

  /** Receives the live events of one call only, progress included. */
  listenToCall(callId: string, listener: CallListener): () => void {
    this.#watch();
    const listeners = this.#callListeners.get(callId) ?? new Set();
    this.#callListeners.set(callId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#callListeners.get(callId) === listeners)
        this.#callListeners.delete(callId);
      this.#stopIfUnused();
    };
  }

  /** Receives progress and custom events of the call that other nodes send, not those of this node. */
  listenElsewhere({ id, tenant }: Pick<Call, 'id' | 'tenant'>, listener: TransientListener): () => void {
    const wanted = this.#elsewhere.get(id) ?? { tenant, listeners: new Set() };
    this.#elsewhere.set(id, wanted);
    wanted.listeners.add(listener);
    return () => {
      wanted.listeners.delete(listener);
      if (wanted.listeners.size === 0 && this.#elsewhere.get(id) === wanted) this.#elsewhere.delete(id);
    };
  }

  #followedTenants(): Set<string> {
    const tenants = new Set([...this.#followers.values()].map(({ filter }) => filter.principal.tenant));
    for (const { tenant } of this.#elsewhere.values()) tenants.add(tenant);
    return tenants;
  }

  /** The event as the principal may see it; null if it may not. */
  seenBy(principal: Principal, event: BoardEvent): BoardEvent | null {
    return eventAsSeen({ principal, callId: null }, event, this.#parts);
  }

  progress(call: Call, at: number, data: unknown): void {
    this.#emitTransient('call.progress', call, at, { data });
  }

  /** Emits an event of a tool's own type; like progress, it is not stored. */
  custom(call: Call, at: number, eventType: string, data: unknown): void {
    this.#emitTransient('tool_custom_event', call, at, { event_type: eventType, data });
  }

  /** Publishes a change that concerns several tenants. It is not stored, so it is not replayed. */
  changed(type: EventType, view: (principal: Principal) => unknown): void {
    if (!this.#isWatched) return;
    this.#emit({ seq: null, type, tenant: null, callId: null, data: null, call: null, view });
  }

  /**
   * Passes on every event after `after`, then live events. While old rows are read, live events are not buffered: their
   * rows are read from the store, so memory stays bounded however long the replay takes. Returns a function that ends it.
   */
  follow(filter: EventFilter, after: number, reader: EventReader): () => void {
    const old = new CatchUp(this.#parts.store, eventRowFilter(filter), after);
    let isLive = false;
    let ended = false;
    /** The sequence of the newest live event that arrived while old rows were read. */
    let noted = after;
    const stop = this.listen((committed) => {
      const event = committed.type === 'policy.changed' ? null : eventAsSeen(filter, committed, this.#parts);
      if (event === null) return;
      // A row may be read from the store before the store calls its watchers.
      if (event.seq === null || (isLive && event.seq > old.reached)) reader.next(event);
      else noted = event.seq;
    });
    const take = (row: EventRow): boolean => {
      const decoded = eventOf(row);
      const event = decoded === null ? null : eventAsSeen(filter, decoded, this.#parts);
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
    this.#followers.set(end, { filter, reader });
    return end;
  }

  /** Ends all followers and removes all listeners. */
  close(): void {
    for (const end of this.#followers.keys()) end();
    this.#listeners.clear();
    this.#callListeners.clear();
    this.#stopIfUnused();
  }

  get #isWatched(): boolean {
    return this.#listeners.size > 0 || this.#callListeners.size > 0;
  }

  #watch(): void {
    if (this.#isWatched) return;
    const { store, guard } = this.#parts;
    const unwatchStore = store.watch((committed) => {
      const event = eventOf(committed);
      if (event !== null) this.#emit(event);
    });
    const unwatchGuard = guard.onChanged?.((tenant) => {
      this.#emit({ type: 'policy.changed', seq: null, tenant, callId: null, call: null });
    });
    this.#unwatch = unwatchGuard === undefined ? [unwatchStore] : [unwatchStore, unwatchGuard];
  }

  #stopIfUnused(): void {
    if (this.#isWatched) return;
    for (const unwatch of this.#unwatch) unwatch();
    this.#unwatch = [];
  }

  /** An event of a call that runs at another node. */
  #publish(transient: TransientEvent): void {
    const { type, call, data } = transient;
    for (const listener of this.#elsewhere.get(call.id)?.listeners ?? []) listener(transient);
    const event: BoardEvent = { seq: null, type, tenant: call.tenant, callId: call.id, data, call };
    for (const { filter, reader } of this.#followers.values()) {
      const seen = eventAsSeen(filter, event, this.#parts);
      if (seen !== null) reader.next(seen);
    }
  }

  #emitTransient(
    type: TransientEvent['type'],
    call: Call,
    at: number,
    body: Readonly<Record<string, unknown>>,
  ): void {
    const { peers } = this.#parts;
    if (!this.#isWatched && peers.isSingle) return;
    const data = { tool_call_id: call.id, at: rfc3339(at), ...body };
    if (!peers.isSingle) peers.transient({ type, call: callNames(call), data });
    this.#emit({ seq: null, type, tenant: call.tenant, callId: call.id, data, call });
  }

  #emit(event: BoardEvent<Call> | PolicyChange): void {
    for (const listener of this.#listeners) listener(event);
    if (event.type === 'policy.changed' || event.callId === null) return;
    for (const listener of this.#callListeners.get(event.callId) ?? []) listener(event);
  }
}

/** Returns null for rows that are not events, such as refusals. */
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
    case 'input_required':
    case 'input_given':
      return { ...event, type: row.kind, data: { ...namesOf(row.callId, call), ...body, at } };
    case 'device.changed':
      return { ...event, type: 'device.changed', data: { ...body, at } };
    case 'registry.changed':
      return { ...event, type: 'registry.changed', data: { ...body, at } };
    default:
      return null;
  }
}

function callNames({ id, tenant, runId, toolName, agentId, clientId }: CallNames): CallNames {
  return { id, tenant, runId, toolName, agentId, clientId };
}

function namesOf(callId: string | null, call: CallNames | null): Record<string, unknown> {
  if (call === null) return { tool_call_id: callId };
  return { tool_call_id: call.id, run_id: call.runId, tool_name: call.toolName, agent_id: call.agentId };
}
