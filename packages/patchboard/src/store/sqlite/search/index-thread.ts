import { extname } from 'node:path';
import { RequestThread } from '../../request-thread.ts';
import type { IndexMethods, IndexRequest } from './index-methods.ts';
import type { IndexWorkerSettings } from './index-worker.ts';

// Runs from source and from the build, so the worker has the extension of this file.
const WORKER = new URL(`./index-worker${extname(import.meta.url)}`, import.meta.url);

/** An upper bound, so that a search cannot exhaust the memory of the process. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/**
 * The thread that owns the index file, so that neither writing the index nor a search blocks the event loop. A batch that its
 * end interrupts is rolled back when the file is opened again.
 */
export class IndexThread {
  readonly #thread: RequestThread<IndexRequest>;

  constructor(workerData: IndexWorkerSettings) {
    const name = 'the thread of the index';
    this.#thread = new RequestThread({ worker: WORKER, workerData, resourceLimits: RESOURCE_LIMITS, name });
  }

  get isStarted(): boolean {
    return this.#thread.isStarted;
  }

  /** Rejects with `StorageUnavailable`. */
  async send<Method extends keyof IndexMethods>(
    method: Method,
    ...args: Parameters<IndexMethods[Method]>
  ): Promise<ReturnType<IndexMethods[Method]>> {
    const value = await this.#thread.send({ method, args } as unknown as IndexRequest);
    return value as ReturnType<IndexMethods[Method]>;
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }
}
