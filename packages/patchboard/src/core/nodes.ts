/** A server that shares the store. */
export interface NodeStatus {
  readonly writer: number;
  readonly epoch: number;
  readonly isSelf: boolean;
  /** `free`: no node holds the writer. */
  readonly state: 'running' | 'leaving' | 'free';
  /** Host and process; null if the writer is free. */
  readonly holder: string | null;
  /** The address at which clients reach it; null if that is not known. */
  readonly url: string | null;
  readonly version: string | null;
  /** Hash of configuration, packs and hooks; null for a single node. */
  readonly fingerprint: string | null;
  /** How many more calls it can run now. */
  readonly room: number;
  /** Open calls that it holds. */
  readonly calls: number;
  /** Milliseconds since this node saw its last heartbeat; null if it has none. */
  readonly lastBeatMs: number | null;
  /** Epoch milliseconds; null if the writer is free. */
  readonly startedAt: number | null;
  /** The last takeover that it made. */
  readonly tookOver: { readonly from: number; readonly at: number; readonly calls: number } | null;
}

/** The servers that share the store, for operators. */
export interface Nodes {
  /** In order of the writers. Rejects with `StorageUnavailable` if they cannot be read. */
  list(): Promise<readonly NodeStatus[]>;
}
