import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { NodeReport } from '../../cluster/node-table.ts';
import { messageOf, StorageUnavailable } from '../../core/failures.ts';
import type { WriterRow } from './beat.ts';
import type { BeatReply, BeatRequest, HeartbeatSettings } from './heartbeat-worker.ts';
import type { HeldWriter } from './writer-slot.ts';

interface PendingBeat {
  readonly resolve: (rows: readonly WriterRow[]) => void;
  readonly reject: (problem: Error) => void;
}

// Runs from source and from the build, so the worker has the extension of this file.
const WORKER = new URL(`./heartbeat-worker${extname(import.meta.url)}`, import.meta.url);

/** The thread needs little memory; the limits of V8 would let it keep garbage for long. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 };
const CLOSE_MS = 1000;

/**
 * Sends the heartbeats of a node from a thread with a connection of its own. While the event loop of this thread is blocked and
 * requests none, that thread continues them for some time: other nodes do not take over a node that only computes. What this
 * node may begin depends on the heartbeats that it has requested itself.
 */
export class HeartbeatThread {
  readonly #settings: HeartbeatSettings;
  readonly #pending: Map<number, PendingBeat> = new Map();
  #worker: Worker | null = null;
  #isClosed = false;
  #last = 0;

  constructor(settings: HeartbeatSettings) {
    this.#settings = settings;
  }

  /** The first heartbeat starts the thread. Returns the rows of `beatStatement`; rejects with `StorageUnavailable`. */
  async beat(held: HeldWriter, report: NodeReport): Promise<readonly WriterRow[]> {
    if (this.#isClosed) throw new StorageUnavailable('the store is closed');
    const worker = this.#worker ?? this.#start();
    this.#last += 1;
    const request: BeatRequest = { number: this.#last, held, report };
    return await new Promise((resolve, reject) => {
      this.#pending.set(request.number, { resolve, reject });
      // Only a pending heartbeat keeps the process alive.
      worker.ref();
      worker.postMessage(request);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    if (worker === null) return;
    const exited = new Promise<void>((resolve) => void worker.once('exit', () => resolve()));
    worker.ref();
    worker.postMessage('close');
    const stuck = setTimeout(() => void worker.terminate(), CLOSE_MS);
    await exited;
    clearTimeout(stuck);
  }

  /** Ends the thread and its connection now. */
  abandon(): void {
    this.#isClosed = true;
    this.#worker?.terminate().catch(() => {}); // It has ended already.
  }

  #start(): Worker {
    const worker = new Worker(WORKER, { workerData: this.#settings, resourceLimits: RESOURCE_LIMITS });
    this.#worker = worker;
    let problem = 'the store is closed';
    worker.on('message', (reply: BeatReply) => this.#settle(worker, reply));
    worker.on('error', (error) => (problem = `the heartbeat thread has failed: ${messageOf(error)}`));
    worker.on('exit', () => this.#exited(worker, problem));
    worker.unref();
    return worker;
  }

  #settle(worker: Worker, reply: BeatReply): void {
    const pending = this.#pending.get(reply.number);
    this.#pending.delete(reply.number);
    if (this.#pending.size === 0) worker.unref();
    if ('rows' in reply) pending?.resolve(reply.rows);
    else pending?.reject(new StorageUnavailable(reply.problem));
  }

  /** The next heartbeat starts another thread. */
  #exited(worker: Worker, problem: string): void {
    if (this.#worker === worker) this.#worker = null;
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of lost) reject(new StorageUnavailable(problem));
  }
}
