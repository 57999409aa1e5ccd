/** A package that users would pick instead, opened in this process to run one echo at a time or many. */
export interface Peer {
  /** Submits one call of the echo and resolves when its end is stored. */
  runOnce(): Promise<void>;
  /** Address of the echo on the peer's own HTTP server; absent if it has none. */
  readonly url?: string;
  close(): Promise<void>;
}

export interface PeerSettings {
  /** Calls at a time. */
  readonly concurrency: number;
  /** PostgreSQL database, socket of Redis, or admin address of Restate. */
  readonly address: string;
  /** Second address, of a server that has two: the ingress of Restate. */
  readonly ingress?: string;
  /** Whether a peer that keeps no results stores them itself, in a table. Default: false. */
  readonly keepsResults?: boolean;
}

/** Connections to PostgreSQL of a peer that uses a pool. */
export const POOL_SIZE = 20;
