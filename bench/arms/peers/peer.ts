/** A package that users would pick instead, opened in this process to run one echo at a time or many. */
export interface Peer {
  /** Submits one call of the echo and resolves when its end is stored. */
  runOnce(): Promise<void>;
  close(): Promise<void>;
}

export interface PeerSettings {
  /** Calls at a time. */
  readonly concurrency: number;
  /** PostgreSQL database, or socket of Redis. */
  readonly address: string;
}

/** Connections to PostgreSQL of a peer that uses a pool. */
export const POOL_SIZE = 20;
