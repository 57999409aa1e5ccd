import type { Call } from './call/call.ts';
import type { CallNames } from './ledger/event-slice.ts';
import type { MaybePromise } from './maybe-promise.ts';
import type { Store } from './ports.ts';
import type { RunScope } from './workspaces.ts';

/** A call that this node reads again when another node has moved it. */
export interface WatchedCall {
  readonly id: string;
  /** The newest version that this node knows. */
  readonly version: number;
}

export interface WatchedCalls {
  /** The open calls that this node holds. */
  readonly held: Iterable<WatchedCall>;
  /** The calls that requests to this node wait for. Other nodes may hold them. */
  readonly awaited: Iterable<WatchedCall>;
}

/** A call that waits for its client, and that its node cannot deliver. */
export interface WaitingCall {
  readonly id: string;
  readonly tenant: string;
  readonly clientId: string;
  /** As which it was offered: if it has another version now, a node has taken it. */
  readonly version: number;
}

/** A progress report, or an event of a tool's own type. It is not stored. A JSON value. */
export interface TransientEvent {
  readonly type: 'call.progress' | 'tool_custom_event';
  readonly call: CallNames;
  readonly data: unknown;
}

/** The node that has the files and background jobs of a run. */
export type WorkspaceHome =
  /** `isNew`: another node was the home before and is gone, with the files that calls of the run wrote there. */
  | { readonly isHere: true; readonly isNew: boolean }
  /** `hasSameFiles`: that node and this one use the same volume. */
  | { readonly isHere: false; readonly node: number; readonly hasSameFiles: boolean };

/**
 * Other nodes that share the store. An open call belongs to one node at a time: the one that made its last move. The store
 * is the truth; a notification that is lost only delays what the next compare-and-set or the next poll finds out.
 */
export interface Peers {
  /** True: no other node moves calls. A call that is not live in this process has ended. */
  readonly isSingle: boolean;
  /** True: this node shuts down. It still serves requests, while other nodes may become the homes of its workspaces. */
  readonly isLeaving: boolean;
  /**
   * Calls `take` with the open calls that fall to this node, oldest first: at the start, and whenever another node is gone,
   * hands its calls over, does not end an overdue one, or offers one that this node takes. Resolves when those of the start
   * have been taken.
   */
  onOrphaned(take: (calls: AsyncIterable<Call>) => Promise<void>): Promise<void>;

  /** After the commit: this node has moved a call that other nodes may hold or await. */
  moved(call: Call): void;
  /** After the commit of an end state: nodes with requests that wait for the call read it. */
  ended(call: Call): void;
  /**
   * Calls `refresh` when another node has moved the call to `version`. `watched`: the calls to compare with the store when
   * notifications may have been lost; `refresh` is then called with the stored version, or with Infinity for a call that has
   * ended. It may be called for a call that does not need it.
   */
  onMoved(refresh: (callId: string, version: number) => void, watched: () => WatchedCalls): void;

  /**
   * No connection of this node can deliver the call to its client: a node that has one may take it. The mark on the row
   * lasts until the next move of the call.
   */
  wakeClient(call: Call): void;
  /** Calls `wake` with each call of a client attached here that another node holds and cannot deliver. */
  onWakeClient(wake: (call: WaitingCall) => void): void;
  /** This node has a connection of the client from now on; the returned function ends that. */
  clientAttached(tenant: string, clientId: string): () => void;
  /** The session of a device continues on this node: the node that had it closes its connection. */
  sessionTaken(session: string): void;
  onSessionTaken(close: (session: string) => void): void;

  /** Calls of this node that have waited too long for a slot: a node with room may take them, as they are at this version. */
  offer(calls: readonly Call[]): void;
  /**
   * `room`: how many more calls of the tenant, or with null of all tenants, this node can run now. `hasTool`: whether it has the
   * tool in that version.
   */
  onOffered(
    room: (tenant: string | null) => number,
    hasTool: (tenant: string, toolName: string, toolVersion: string) => boolean,
  ): void;
  /**
   * Makes this node the home of the run's workspace, unless a node that lives is it already. `place`: names the files that
   * this node sees, see `Workspaces.place`.
   */
  claimHome(run: RunScope, place: string): MaybePromise<WorkspaceHome>;
  /**
   * Passes an open call of this node, as it is at this version, to a node that starts it. Resolves to false, without a
   * change, if that node is gone or the call was moved.
   */
  give(call: Call, node: number): Promise<boolean>;
  /** This node stops and moves none of its calls any more: passes those that are still open to other nodes, if there are any. */
  handOver(): Promise<void>;

  /** After the commit: nodes with a workspace of the run end its background jobs. */
  runCancelled(tenant: string, runId: string): void;
  onRunCancelled(end: (tenant: string, runId: string) => void): void;
  /** This node has taken tokens from a shared rate limit. The adapter collects them and sends their sums. */
  spent(bucket: string, tokens: number): void;
  onSpent(take: (bucket: string, tokens: number) => void): void;
  /** Sends the event to the nodes where a reader follows its tenant. Events that are too large are dropped. */
  transient(event: TransientEvent): void;
  /** `followed`: the tenants whose events readers of this node follow. */
  onTransient(publish: (event: TransientEvent) => void, followed: () => Iterable<string>): void;

  /** Sends a small JSON value to the other nodes. It may be lost. */
  signal(topic: string, body: unknown): void;
  onSignal(take: (topic: string, body: unknown) => void): void;

  /**
   * After the commit: this node has changed documents or tools, and has applied that revision. Resolves when every live node
   * has applied it, or after a second.
   */
  announce(revision: number): Promise<void>;
  /**
   * Calls `catchUp` when another node has announced a revision, and once a second. It resolves to the revision that this
   * node has applied then.
   */
  onAnnounced(catchUp: () => Promise<number>): void;

  /** False: other nodes may take this node for gone, so it begins no work. */
  hasLease(): boolean;
  /** Calls `listener` once, if another process has taken over the store: no write of this node succeeds any more. */
  onFenced(listener: (problem: string) => void): void;
}

function ignore(): void {
  // No other node sends or receives anything.
}

/** One node: at its start all open calls of the store are its own. */
export function singleNode(store: Pick<Store, 'openCalls' | 'onFenced'>): Peers {
  return {
    isSingle: true,
    isLeaving: false,
    onOrphaned: (take) => take(store.openCalls()),
    moved: ignore,
    ended: ignore,
    onMoved: ignore,
    wakeClient: ignore,
    onWakeClient: ignore,
    clientAttached: () => ignore,
    sessionTaken: ignore,
    onSessionTaken: ignore,
    offer: ignore,
    claimHome: () => ({ isHere: true, isNew: false }),
    give: () => Promise.resolve(false),
    onOffered: ignore,
    handOver: () => Promise.resolve(),
    runCancelled: ignore,
    onRunCancelled: ignore,
    spent: ignore,
    onSpent: ignore,
    transient: ignore,
    onTransient: ignore,
    signal: ignore,
    onSignal: ignore,
    announce: () => Promise.resolve(),
    onAnnounced: ignore,
    hasLease: () => true,
    onFenced: (listener) => store.onFenced?.(listener),
  };
}
