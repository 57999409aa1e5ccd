/** `free`: no node holds the writer; its last one has stopped or was taken over. */
export type NodeStateName = 'running' | 'leaving' | 'free';

/** A server that shares the store, as `GET /v1/nodes` shows it. */
export interface NodeView {
  /** Number of its writer, which a later node may take after it. */
  readonly writer: number;
  /** Grows with each node that takes the writer. */
  readonly epoch: number;
  /** The node that responds. */
  readonly is_self: boolean;
  readonly state: NodeStateName;
  /** Host and process; null if the writer is free. */
  readonly holder: string | null;
  readonly url: string | null;
  readonly version: string | null;
  /** Hash of configuration, packs and hooks; null if the store has one node only. */
  readonly fingerprint: string | null;
  /** How many more calls it can run now. */
  readonly room: number;
  /** Open calls that it holds. */
  readonly calls: number;
  /** Milliseconds since the responding node saw its last heartbeat; null if it has none. */
  readonly last_beat_ms: number | null;
  readonly started_at: string | null;
  /** The last node whose calls it took over. */
  readonly took_over: TakeoverView | null;
}

export interface TakeoverView {
  readonly writer: number;
  readonly at: string;
  readonly calls: number;
}

export interface NodesView {
  /** In order of the writers. */
  readonly nodes: readonly NodeView[];
  /** False: the fingerprints of the running nodes differ, so that they may decide differently about the same call. */
  readonly same_config: boolean;
}

/** `cluster` of `GET /v1/stats`: all nodes of the store. */
export interface ClusterStatsView {
  /** The node that responds. */
  readonly node: number;
  readonly nodes: Readonly<Record<NodeStateName, number>>;
  /** Calls of all nodes that have not ended. */
  readonly open: number;
  /** Calls of all nodes that execute, also those of clients. */
  readonly executing: number;
  /** Calls of all nodes that wait for an operator. */
  readonly approvals: number;
  readonly same_config: boolean;
}
