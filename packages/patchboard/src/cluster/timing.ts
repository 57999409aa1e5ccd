/** How often a node writes its heartbeat and observes those of the others. */
export const BEAT_EVERY_MS = 500;
/** A node whose heartbeat stands still for this long is taken for dead. */
export const LEASE_MS = 3000;
/** Half the lease: a node begins no work if its last heartbeat is older. */
export const BEGIN_WITHIN_MS = 1500;
/** Longest time between two observations, and of one. After a longer one the failure detector starts again. */
export const OBSERVE_WITHIN_MS = 1500;
/** How many observations must have found the same heartbeat. */
export const MIN_OBSERVATIONS = 3;
/** A heartbeat that stands still for this long is silent: its node may be dead. */
export const SILENT_MS = 1200;

export const SWEEP_EVERY_MS = 250;
/** A call is overdue for other nodes this long after its deadline: its owner ends it before. */
export const OVERDUE_MS = 300;
/** A sweep begins this far before now: behind old snapshots the index is full of dead entries. */
export const SWEEP_WINDOW_MS = 30_000;
export const FULL_SWEEP_EVERY_MS = 60_000;
export const SWEEP_LIMIT = 500;

export const POLL_EVERY_MS = 1000;
/** How often a node compares the calls that it holds with the store, while the bus is connected. */
export const COMPARE_EVERY_MS = 10_000;

export const SPENT_EVERY_MS = 250;
/** The rows of the commits within this time share a notification. */
export const GROWN_WITHIN_MS = 5;
/** Larger transient events are not sent to other nodes. */
export const TRANSIENT_BYTES = 4096;
/** How long a change waits for the other nodes. */
export const ANNOUNCE_MS = 1000;
