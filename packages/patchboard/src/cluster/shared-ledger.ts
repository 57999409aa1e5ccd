/** The ledger of a store that several nodes write. */
export interface SharedLedger {
  /** Calls `listener` after each commit of this node. */
  onCommitted(listener: () => void): void;
  /** Another node has committed rows: reads them, if there are listeners. */
  grown(): void;
}
