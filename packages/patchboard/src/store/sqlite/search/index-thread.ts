import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { messageOf, StorageUnavailable } from '../../../core/failures.ts';
import type { IndexMethods, IndexRequest } from './index-methods.ts';
import type { IndexReply, IndexWorkerSettings, NumberedRequest } from './index-worker.ts';

interface PendingRequest {
  readonly resolve: (value: unknown) => void;
  readonly reject: (problem: Error) => void;
}

// Runs from source and from the build, so the worker has the extension of this file.
const WORKER = new URL(`./index-worker${extname(import.meta.url)}`, import.meta.url);

/** An upper bound, so that a search cannot exhaust the memory of the process. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };
const CLOSE_MS = 1000;

/**
 * The thread that owns the index file, so that neither writing the index nor a search blocks the event loop. The first
 * request starts it; after a failure the next one starts another.
 */
export class IndexThread {
  readonly #settings: IndexWorkerSettings;
  readonly #pending: Map<number, PendingRequest> = new Map();
  #worker: Worker | null = null;
  #isClosed = false;
  #last = 0;

  constructor(settings: IndexWorkerSettings) {
    this.#settings = settings;
  }

  get isStarted(): boolean {
    return this.#worker !== null;
  }

  /** Rejects with `StorageUnavailable`. */
  async send<Method extends keyof IndexMethods>(
    method: Method,
    ...args: Parameters<IndexMethods[Method]>
  ): Promise<ReturnType<IndexMethods[Method]>> {
    if (this.#isClosed) throw new StorageUnavailable('the store is closed');
    const worker = this.#worker ?? this.#start();
    this.#last += 1;
    const number = this.#last;
    return await new Promise((resolve, reject) => {
      this.#pending.set(number, { resolve: resolve as PendingRequest['resolve'], reject });
      // Only a pending request keeps the process alive.
      worker.ref();
      const message: NumberedRequest = { number, request: { method, args } as unknown as IndexRequest };
      worker.postMessage(message);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    if (worker === null) return;
    const exited = new Promise<void>((resolve) => void worker.once('exit', () => resolve()));
    worker.ref();
    worker.postMessage('close');
    // A batch that is interrupted is rolled back when the file is opened again.
    const stuck = setTimeout(() => void worker.terminate(), CLOSE_MS);
    await exited;
    clearTimeout(stuck);
  }

  #start(): Worker {
    const worker = new Worker(WORKER, { workerData: this.#settings, resourceLimits: RESOURCE_LIMITS });
    this.#worker = worker;
    let problem = 'the store is closed';
    worker.on('message', (reply: IndexReply) => this.#settle(worker, reply));
    worker.on('error', (error) => (problem = `the thread of the index has failed: ${messageOf(error)}`));
    worker.on('exit', () => this.#exited(worker, problem));
    worker.unref();
    return worker;
  }

  #settle(worker: Worker, reply: IndexReply): void {
    const pending = this.#pending.get(reply.number);
    this.#pending.delete(reply.number);
    if (this.#pending.size === 0) worker.unref();
    if ('value' in reply) pending?.resolve(reply.value);
    else pending?.reject(new StorageUnavailable(reply.problem));
  }

  #exited(worker: Worker, problem: string): void {
    if (this.#worker === worker) this.#worker = null;
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of lost) reject(new StorageUnavailable(problem));
  }
}
