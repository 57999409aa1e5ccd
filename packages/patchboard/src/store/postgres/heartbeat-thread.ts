import { extname } from 'node:path';
import type { NodeReport } from '../../cluster/node-table.ts';
import { RequestThread } from '../request-thread.ts';
import type { WriterRow } from './beat.ts';
import type { BeatRequest, HeartbeatSettings } from './heartbeat-worker.ts';
import type { HeldWriter } from './writer-slot.ts';

// Runs from source and from the build, so the worker has the extension of this file.
const WORKER = new URL(`./heartbeat-worker${extname(import.meta.url)}`, import.meta.url);

/** The thread needs little memory; the limits of V8 would let it keep garbage for long. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 };

/**
 * Sends the heartbeats of a node from a thread with a connection of its own. While the event loop of this thread is blocked and
 * requests none, that thread continues them for some time: other nodes do not take over a node that only computes. What this
 * node may begin depends on the heartbeats that it has requested itself.
 */
export class HeartbeatThread {
  readonly #thread: RequestThread<BeatRequest>;

  constructor(workerData: HeartbeatSettings) {
    const name = 'the heartbeat thread';
    this.#thread = new RequestThread({ worker: WORKER, workerData, resourceLimits: RESOURCE_LIMITS, name });
  }

  /** The first heartbeat starts the thread. Returns the rows of `beatStatement`; rejects with `StorageUnavailable`. */
  async beat(held: HeldWriter, report: NodeReport): Promise<readonly WriterRow[]> {
    return (await this.#thread.send({ held, report })) as readonly WriterRow[];
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }

  /** Ends the thread and its connection now. */
  abandon(): void {
    this.#thread.abandon();
  }
}
