import { reason, type Reason } from '@patchboard/wire';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { failure, foreignText, messageOf, ToolFailure } from '../../../core/failures.ts';
import type { SiteScope } from '../records.ts';
import type { ContentQuery, FoundContent } from '../storage.ts';
import type { SearchReply, SearchRequest } from './search-worker.ts';

interface PendingSearch {
  readonly resolve: (found: FoundContent) => void;
  readonly reject: (problem: Error) => void;
}

// Runs from source and from the build, so the worker has the extension of this file.
const WORKER = new URL(`./search-worker${extname(import.meta.url)}`, import.meta.url);

const CLOSED = reason('heritage_closed');

/**
 * Runs searches in a worker thread with its own connection, because counting a frequent word takes tens of milliseconds
 * and would block the event loop. The first search starts the thread; searches run one after the other.
 */
export class SearchThread {
  readonly #file: string;
  readonly #busyTimeoutMs: number;
  readonly #pending: Map<number, PendingSearch> = new Map();
  #worker: Worker | null = null;
  #isClosed = false;
  #last = 0;

  constructor(file: string, busyTimeoutMs: number) {
    this.#file = file;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  async search(scope: SiteScope, query: ContentQuery): Promise<FoundContent> {
    if (this.#isClosed) throw unavailable(CLOSED);
    const worker = this.#worker ?? this.#start();
    this.#last += 1;
    const request: SearchRequest = { number: this.#last, scope, query };
    return await new Promise<FoundContent>((resolve, reject) => {
      this.#pending.set(request.number, { resolve, reject });
      // Only a pending search keeps the process alive.
      worker.ref();
      worker.postMessage(request);
    });
  }

  /** Rejects the pending searches, also those whose result is on its way from the worker. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#rejectPending(CLOSED);
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const workerData = { file: this.#file, busyTimeoutMs: this.#busyTimeoutMs };
    const worker = new Worker(WORKER, { workerData });
    this.#worker = worker;
    let why: Reason = CLOSED;
    worker.on('message', (reply: SearchReply) => this.#settle(worker, reply));
    worker.on('error', (error) => (why = foreignText(messageOf(error))));
    worker.on('exit', () => this.#onExit(worker, why));
    worker.unref();
    return worker;
  }

  #settle(worker: Worker, reply: SearchReply): void {
    const pending = this.#pending.get(reply.number);
    this.#pending.delete(reply.number);
    if (this.#pending.size === 0) worker.unref();
    if ('found' in reply) pending?.resolve(reply.found);
    else pending?.reject(Object.assign(new Error(reply.problem), { errcode: reply.errcode }));
  }

  /** Rejects the pending searches. The next search starts another worker. */
  #onExit(worker: Worker, why: Reason): void {
    if (this.#worker === worker) this.#worker = null;
    this.#rejectPending(why);
  }

  #rejectPending(why: Reason): void {
    const lost = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of lost) reject(unavailable(why));
  }
}

/** A retryable failure; the engine retries it. */
function unavailable(why: Reason): ToolFailure {
  return new ToolFailure(
    failure('upstream_unreachable', reason('heritage_not_searchable', { error: [why] })),
  );
}
