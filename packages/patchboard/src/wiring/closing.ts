import type { ClusterPeers } from '../cluster/cluster-peers.ts';
import type { Engine } from '../core/engine.ts';
import { messageOf } from '../core/failures.ts';
import type { Log } from '../core/ports.ts';

export type Close = () => void | Promise<void> | undefined;

/** A failed start waits no longer for the calls it has resumed: the operator waits for its error, and quick tools still end. */
const FAILED_START_DRAIN_MS = 1000;

/** Closes in order, each even if one before it fails. Rejects with the first error. */
export async function closeAll(closes: readonly Close[]): Promise<void> {
  const errors: unknown[] = [];
  await attemptAll(closes, (error) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

/** What a start has opened before it failed. */
export interface HalfStarted {
  /** Null: not created yet. It may have resumed calls and connected upstreams. */
  readonly engine: Engine | null;
  readonly cluster: ClusterPeers | null;
  /** Closed last, in this order. */
  readonly closes: readonly Close[];
  readonly log: Log;
}

/** Stops the engine, then closes the rest. Errors are only logged, because the caller gets that of the start. */
export async function closeHalfStarted({ engine, cluster, closes, log }: HalfStarted): Promise<void> {
  const stopEngine: Close = async () => {
    // Other nodes pass no calls to this one from now on.
    cluster?.leave();
    await engine?.drain(Math.min(engine.limits.drainMs, FAILED_START_DRAIN_MS));
  };
  await attemptAll([stopEngine, () => cluster?.close(), ...closes], (error) =>
    log.error('task.failed', { task: 'close', error: messageOf(error) }),
  );
}

async function attemptAll(closes: readonly Close[], failed: (error: unknown) => void): Promise<void> {
  for (const close of closes) {
    try {
      await close();
    } catch (error) {
      failed(error);
    }
  }
}
