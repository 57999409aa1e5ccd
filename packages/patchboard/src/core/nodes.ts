/** `free`: no node holds the writer. */
export const NODE_STATES = ['running', 'leaving', 'free'] as const;

/** A server that shares the store. */
export interface NodeStatus {
  readonly writer: number;
  readonly epoch: number;
  readonly isSelf: boolean;
  readonly state: (typeof NODE_STATES)[number];
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

/** What this node has counted since it joined the others, and measures now. */
export interface NodeMeasures {
  /** Dead nodes that it has taken over. */
  readonly takeovers: number;
  /** Open calls of these nodes. */
  readonly callsTakenOver: number;
  /** How often other nodes have fenced this process. */
  readonly fenced: number;
  readonly isBusConnected: boolean;
  /** Notifications to other nodes, by kind. */
  readonly sent: ReadonlyMap<string, number>;
  /** Notifications of other nodes, by kind. */
  readonly received: ReadonlyMap<string, number>;
  /** The clock of the database minus that of this machine. */
  readonly clockOffsetMs: number;
}

/** The servers that share the store, for operators. */
export interface Nodes {
  /** In order of the writers. Rejects with `StorageUnavailable` if they cannot be read. */
  readonly list: () => Promise<readonly NodeStatus[]>;
  /** Absent: only one node can use the store. */
  readonly measures?: () => NodeMeasures;
}

/** Whether the nodes were started with the same configuration, packs and hooks, as far as they have loaded them. */
export function haveSameConfig(nodes: readonly NodeStatus[]): boolean {
  const known = nodes.flatMap(({ state, fingerprint }) =>
    state === 'free' || fingerprint === null ? [] : [fingerprint],
  );
  return new Set(known).size <= 1;
}
