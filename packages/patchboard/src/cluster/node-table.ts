import type { Call } from '../core/call/call.ts';
import type { WaitingCall } from '../core/peers.ts';

/** `held`: a node writes with it. `leaving`: that node shuts down. `free`: the next node that starts may take it. */
type NodeState = 'held' | 'leaving' | 'free';

/** What a node records about itself with each heartbeat. */
export interface NodeReport {
  readonly state: 'held' | 'leaving';
  /** The address at which clients reach the node; null if it is not known yet. */
  readonly url: string | null;
  readonly version: string;
  /** Hash of configuration, packs and hooks: equal on all nodes that behave the same. Null until the packs are loaded. */
  readonly fingerprint: string | null;
  /** How many more calls the node can run now. */
  readonly room: number;
  /** How many open calls the node holds. */
  readonly calls: number;
  /** The newest revision of documents and tools that the node has applied. */
  readonly revision: number;
  /** The tenants whose transient events are followed at this node. */
  readonly follows: readonly string[];
}

/** One holder of a writer. `epoch` grows with each holder, `beat` with each heartbeat. */
export interface NodeKey {
  readonly writer: number;
  readonly epoch: number;
}

/** A writer and the node that holds it. */
export interface NodeRow extends NodeKey {
  readonly beat: number;
  readonly state: NodeState;
  /** Host and process; null if the writer is free. */
  readonly holder: string | null;
  readonly url: string | null;
  readonly version: string | null;
  readonly fingerprint: string | null;
  readonly room: number;
  readonly calls: number;
  readonly revision: number;
  readonly follows: readonly string[];
  /** When the holder took the writer, epoch milliseconds; null if the writer is free. */
  readonly startedAt: number | null;
  /** The last takeover that the holder made. */
  readonly tookOver: {
    readonly from: number;
    /** Epoch milliseconds. */
    readonly at: number;
    readonly calls: number;
  } | null;
}

export interface Beat {
  /** All writers, the one of this node included, in order of their numbers. */
  readonly nodes: readonly NodeRow[];
  /** The clock of the database, epoch milliseconds. */
  readonly now: number;
}

/** Where a call is stored. */
export interface CallPlace {
  readonly id: string;
  readonly version: number;
  /** The writer that holds it, or ended it; null if that is not known. */
  readonly owner: number | null;
  readonly isOpen: boolean;
}

export interface OfferedCall {
  readonly id: string;
  readonly tenant: string;
  readonly toolName: string;
  readonly toolVersion: string;
}

export interface ClientName {
  readonly tenant: string;
  readonly clientId: string;
}

/** The home of a run's workspace. */
export interface HomePlace {
  readonly writer: number;
  /** Identifies the volume with the files, see `Workspaces.place`. */
  readonly place: string;
  /** The home before; null if there was none, or it was the same. */
  readonly before: { readonly place: string } | null;
}

export interface HandedOver {
  /** The writer that has the calls now; null if there is no other node. */
  readonly to: number | null;
  readonly calls: number;
}

/** Another node has taken this node for dead, or the database was restored: no write of this node succeeds any more. */
export class NodeFenced extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'NodeFenced';
  }
}

/**
 * The nodes of a store, and the writes that pass calls between them. Each write first makes sure that this node still holds
 * its writer, in the same transaction, and otherwise rejects with `NodeFenced`. All reject with `StorageUnavailable` while
 * the database cannot be reached; whether a rejected write was made is not known then, and `takenCalls` shows it.
 *
 * A call that a node takes without a move of its own (from a dead node, overdue, offered, handed over) is marked as taken
 * until its next move.
 */
export interface NodeTable {
  readonly self: NodeKey;

  /** Adds one to the heartbeat of this node, records the report, and reads all nodes and the clock. */
  beat(report: NodeReport): Promise<Beat>;
  /**
   * Takes a dead node's writer: fences the node, makes its open calls those of this node, and frees the writer, in one
   * transaction. Returns the ids of the calls, oldest first; null, without a change, if the heartbeat went on or another
   * node does the same.
   */
  takeOver(node: NodeKey & { readonly beat: number }): Promise<readonly string[] | null>;
  /** The open calls of this node that are marked as taken, oldest first. */
  takenCalls(): Promise<readonly Pick<Call, 'id' | 'version'>[]>;
  /** Reads the calls that are still open, and that this node holds, in the order of the ids. */
  calls(ids: readonly string[]): AsyncIterable<Call>;

  /**
   * Takes at most `limit` calls of other nodes whose deadline is in `from` (inclusive) to `before` (exclusive), the oldest
   * deadline first. Their version grows by one, so that no move of the former owner succeeds. `owners`: only calls of these
   * writers.
   */
  claimOverdue(
    from: number,
    before: number,
    limit: number,
    owners: readonly number[] | null,
  ): Promise<readonly CallPlace[]>;

  /** The open calls of this node whose last move another node made, such as a response to a held input request. */
  movedByOthers(): Promise<readonly CallPlace[]>;
  /** Where these calls are. A call that is not stored any more is absent. */
  places(ids: readonly string[]): Promise<readonly CallPlace[]>;

  /** Offered calls of these clients that other nodes hold and no client has begun, oldest first. */
  waitingFor(clients: readonly ClientName[]): Promise<readonly WaitingCall[]>;

  /** Marks calls of this node that still have these versions as offered, until their next move. */
  offer(calls: readonly Pick<Call, 'id' | 'version'>[]): Promise<void>;
  /** Calls of server tools that other nodes offer, oldest first: those whose ids come after `after`. */
  offered(limit: number, after: string): Promise<readonly OfferedCall[]>;
  /** Takes those of the calls that are still offered; their version grows by one. */
  takeOffered(ids: readonly string[]): Promise<readonly CallPlace[]>;

  /** Makes this node the home of the run's workspace, unless the home is a node that lives and does not shut down. */
  claimHome(run: { readonly tenant: string; readonly runId: string }, place: string): Promise<HomePlace>;
  /**
   * Gives a call of this node, if it still has that version, to a node that lives; its version grows by one. Returns false,
   * without a change, otherwise.
   */
  give(call: Pick<Call, 'id' | 'version'>, to: number): Promise<boolean>;
  /**
   * Gives the open calls of this node to another one: to `preferred` if that node lives, otherwise to the one with most
   * room. Without other nodes they stay. This node must move none of them any more.
   */
  handOver(preferred: number | null): Promise<HandedOver>;
  /** As `handOver`, and frees the writer of this node in the same transaction. Its store must have stopped writing. */
  leave(): Promise<HandedOver>;
}
