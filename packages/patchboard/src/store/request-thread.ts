import type { ReasonView } from '@patchboard/wire';
import { Worker, type ResourceLimits } from 'node:worker_threads';
import { messageOf, StorageUnavailable } from '../core/failures.ts';

/** What a thread gets. */
export type ThreadMessage<Request> = { readonly number: number; readonly request: Request } | 'close';

/** What a thread sends. */
export type ThreadReply =
  | { readonly number: number; readonly value: unknown }
  /** `why`: see `StorageUnavailable`. */
  | { readonly number: number; readonly problem: string; readonly why?: ReasonView };

export interface RequestThreadParts {
  /** Runs `handleRequests`. */
  readonly worker: URL;
  readonly workerData: unknown;
  readonly resourceLimits: ResourceLimits;
  /** For messages. */
  readonly name: string;
}

interface PendingRequest {
  readonly resolve: (value: unknown) => void;
  readonly reject: (problem: StorageUnavailable) => void;
}

const CLOSE_MS = 1000;

/** A thread that handles requests. The first one starts it; after a failure the next one starts another. */
export class RequestThread<Request> {
  readonly #parts: RequestThreadParts;
  readonly #pending: Map<number, PendingRequest> = new Map();
  #worker: Worker | null = null;
  #isClosed = false;
  #last = 0;

  constructor(parts: RequestThreadParts) {
    this.#parts = parts;
  }

  get isStarted(): boolean {
    return this.#worker !== null;
  }

  /** Rejects with `StorageUnavailable`. */
  async send(request: Request): Promise<unknown> {
    if (this.#isClosed) throw new StorageUnavailable('the store is closed');
    const worker = this.#worker ?? this.#start();
    this.#last += 1;
    const message: ThreadMessage<Request> = { number: this.#last, request };
    return await new Promise((resolve, reject) => {
      this.#pending.set(message.number, { resolve, reject });
      // Only a pending request keeps the process alive.
      worker.ref();
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
    const stuck = setTimeout(() => void worker.terminate(), CLOSE_MS);
    await exited;
    clearTimeout(stuck);
  }

  /** Ends the thread now. */
  abandon(): void {
    this.#isClosed = true;
    this.#worker?.terminate().catch(() => {}); // It has ended already.
  }

  #start(): Worker {
    const { worker: file, name, ...options } = this.#parts;
    const worker = new Worker(file, options);
    this.#worker = worker;
    let problem = 'the store is closed';
    worker.on('message', (reply: ThreadReply) => this.#settle(worker, reply));
    worker.on('error', (error) => (problem = `${name} has failed: ${messageOf(error)}`));
    worker.on('exit', () => this.#exited(worker, problem));
    worker.unref();
    return worker;
  }

  #settle(worker: Worker, reply: ThreadReply): void {
    const pending = this.#pending.get(reply.number);
    this.#pending.delete(reply.number);
    if (this.#pending.size === 0) worker.unref();
    if ('value' in reply) pending?.resolve(reply.value);
    else pending?.reject(new StorageUnavailable(reply.problem, reply.why));
  }

  #exited(worker: Worker, problem: string): void {
    if (this.#worker === worker) this.#worker = null;
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of lost) reject(new StorageUnavailable(problem));
  }
}
