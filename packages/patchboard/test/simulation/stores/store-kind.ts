import type { Store } from '../../../src/core/ports.ts';

/** The durable store of one simulation, behind the simulated delays and faults. */
export interface DurableStore {
  /** The open store. Its methods may take turns of the real event loop, but use no timers. */
  readonly store: Store;
  /** Called when the only process that uses the store was killed: what a real process would find when it opens it again. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

export interface StoreKind {
  readonly name: string;
  /** Whether several nodes may share it. */
  readonly isShared: boolean;
  /** Whether it returns synchronously, so that the profile `immediate` is possible. */
  readonly isSynchronous: boolean;
  open(): Promise<DurableStore>;
}
