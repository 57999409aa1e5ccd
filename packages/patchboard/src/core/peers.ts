import type { Call } from './call/call.ts';
import type { Store } from './ports.ts';

/**
 * Other nodes that share the store. An open call belongs to one node at a time: the one that made its last move. The store
 * is the truth; a notification that is lost only delays what the next compare-and-set finds out.
 */
export interface Peers {
  /** True: no other node moves calls. A call that is not live in this process has ended. */
  readonly isSingle: boolean;
  /**
   * Calls `take` with the open calls that fall to this node, oldest first: at the start, and whenever another node is gone.
   * Resolves when those of the start have been taken.
   */
  onOrphaned(take: (calls: AsyncIterable<Call>) => Promise<void>): Promise<void>;
  /** This node has moved a call that another node held before. Called after the commit. */
  moved(call: Call): void;
  /** Calls `look` when another node has moved the call to `version`. */
  onMoved(look: (callId: string, version: number) => void): void;
  /** False: other nodes may take this node for gone, so it begins no work. */
  hasLease(): boolean;
  /** Calls `listener` once, if another process has taken over the store: no write of this node succeeds any more. */
  onFenced(listener: (problem: string) => void): void;
}

/** One node: at its start all open calls of the store are its own. */
export function singleNode(store: Pick<Store, 'openCalls' | 'onFenced'>): Peers {
  return {
    isSingle: true,
    onOrphaned: (take) => take(store.openCalls()),
    moved: () => {},
    onMoved: () => {},
    hasLease: () => true,
    onFenced: (listener) => store.onFenced?.(listener),
  };
}
