import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { messageOf } from '../../../core/failures.ts';
import type { Log } from '../../../core/ports.ts';
import type { IndexLogLine, IndexMessage, IndexSettings } from './index-worker.ts';

// Runs from source and from the build, so the worker has the extension of this file.
const WORKER = new URL(`./index-worker${extname(import.meta.url)}`, import.meta.url);

/** A batch of calls with the largest arguments is a few megabytes. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };
/** A thread that has failed is started again after this time. */
const RESTART_MS = 30_000;
/** Shorter than the time after which the store gives up its connections. */
const CLOSE_MS = 3000;

const HURRY: IndexMessage = 'hurry';
const CLOSE: IndexMessage = 'close';

/**
 * Writes the index of calls in a thread with a connection of its own: reading and splitting arguments would take time from
 * the event loop that serves requests. It never keeps the process alive.
 */
export class IndexThread {
  readonly #settings: IndexSettings;
  readonly #log: Log | undefined;
  #worker: Worker | null = null;
  #restart: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(settings: IndexSettings, log: Log | undefined) {
    this.#settings = settings;
    this.#log = log;
  }

  start(): void {
    const worker = new Worker(WORKER, { workerData: this.#settings, resourceLimits: RESOURCE_LIMITS });
    this.#worker = worker;
    worker.on('message', ({ level, event, fields }: IndexLogLine) => this.#log?.[level](event, fields));
    worker.on('error', (error) => this.#log?.warn('search.index_failed', { error: messageOf(error) }));
    worker.on('exit', () => this.#exited());
    worker.unref();
  }

  hurry(): void {
    this.#worker?.postMessage(HURRY);
  }

  /** Gives the lease back, so that another node continues at once. */
  async close(): Promise<void> {
    this.#end();
    const worker = this.#worker;
    if (worker === null) return;
    const exited = new Promise<void>((resolve) => void worker.once('exit', () => resolve()));
    worker.ref();
    worker.postMessage(CLOSE);
    const stuck = setTimeout(() => void worker.terminate(), CLOSE_MS);
    await exited;
    clearTimeout(stuck);
  }

  /** Ends the thread and its connection now. */
  abandon(): void {
    this.#end();
    this.#worker?.terminate().catch(() => {}); // It has ended already.
  }

  #end(): void {
    this.#isClosed = true;
    if (this.#restart !== null) clearTimeout(this.#restart);
  }

  #exited(): void {
    this.#worker = null;
    if (!this.#isClosed) this.#restart = setTimeout(() => this.start(), RESTART_MS).unref();
  }
}
