import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { failure, messageOf, ToolFailure } from '../../../core/failures.ts';
import type { SiteScope } from '../records.ts';
import type { ContentQuery, FoundContent } from '../storage.ts';
import type { SearchReply, SearchRequest } from './search-worker.ts';

interface Waiting {
  readonly resolve: (found: FoundContent) => void;
  readonly reject: (problem: Error) => void;
}

// The same tree runs from source and from the build, so the worker has the extension of this file.
const WORKER = new URL(`./search-worker${extname(import.meta.url)}`, import.meta.url);

/**
 * Searches in a thread and on a connection of their own: a word that all contents have is counted in tens of
 * milliseconds, and the server has others to answer meanwhile. Started with the first search, one after the other.
 */
export class SearchThread {
  readonly #file: string;
  readonly #busyTimeoutMs: number;
  readonly #waiting: Map<number, Waiting> = new Map();
  #worker: Worker | null = null;
  #isClosed = false;
  #last = 0;

  constructor(file: string, busyTimeoutMs: number) {
    this.#file = file;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  async search(scope: SiteScope, query: ContentQuery): Promise<FoundContent> {
    if (this.#isClosed) throw gone('the heritage data was closed');
    const worker = this.#worker ?? this.#start();
    this.#last += 1;
    const request: SearchRequest = { number: this.#last, scope, query };
    return await new Promise<FoundContent>((resolve, reject) => {
      this.#waiting.set(request.number, { resolve, reject });
      // Only somebody who waits keeps the process alive.
      worker.ref();
      worker.postMessage(request);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const workerData = { file: this.#file, busyTimeoutMs: this.#busyTimeoutMs };
    const worker = new Worker(WORKER, { workerData });
    this.#worker = worker;
    let why = 'the heritage data was closed';
    worker.on('message', (reply: SearchReply) => this.#take(worker, reply));
    worker.on('error', (error) => (why = messageOf(error)));
    worker.on('exit', () => this.#end(worker, why));
    worker.unref();
    return worker;
  }

  #take(worker: Worker, reply: SearchReply): void {
    const waiting = this.#waiting.get(reply.number);
    this.#waiting.delete(reply.number);
    if (this.#waiting.size === 0) worker.unref();
    if ('found' in reply) waiting?.resolve(reply.found);
    else waiting?.reject(Object.assign(new Error(reply.problem), { errcode: reply.errcode }));
  }

  /** Whoever waits is told; the next search starts another. */
  #end(worker: Worker, why: string): void {
    if (this.#worker === worker) this.#worker = null;
    const lost = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of lost) reject(gone(why));
  }
}

/** Worth another attempt, and the engine makes one. */
function gone(why: string): ToolFailure {
  return new ToolFailure(failure('upstream_unreachable', `the heritage data cannot be searched: ${why}`));
}
