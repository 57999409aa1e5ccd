import { CallIndex } from './call-index.ts';
import { accessProblem, isDamage, openIndexFile, replaceIndexFile } from './index-file.ts';
import type { IndexRequest } from './index-methods.ts';

/**
 * Owns the index file: opens it with the first request, and replaces it by an empty one if it is damaged. A file that cannot be
 * read or written stays as it is, because it may be something else; each request tries it again.
 */
export class IndexOwner {
  readonly #file: string;
  readonly #now: () => number;
  #index: CallIndex | null = null;

  constructor(file: string, now: () => number) {
    this.#file = file;
    this.#now = now;
  }

  /** Throws `StorageUnavailable` if the file cannot be read or written. */
  handle(request: IndexRequest): unknown {
    try {
      return this.#handle(request);
    } catch (error) {
      throw accessProblem(error, this.#file);
    }
  }

  close(): void {
    this.#index?.close();
    this.#index = null;
  }

  #handle(request: IndexRequest): unknown {
    if (request.method === 'clear') {
      this.#replace();
      return undefined;
    }
    try {
      return run(this.#opened(), request);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return run(this.#replace(), request);
    }
  }

  #opened(): CallIndex {
    this.#index ??= new CallIndex(openIndexFile(this.#file), this.#now);
    return this.#index;
  }

  #replace(): CallIndex {
    this.close();
    this.#index = new CallIndex(replaceIndexFile(this.#file), this.#now);
    return this.#index;
  }
}

function run(index: CallIndex, request: Exclude<IndexRequest, { method: 'clear' }>): unknown {
  switch (request.method) {
    case 'position':
      return index.position();
    case 'find':
      return index.find(...request.args);
    case 'refusals':
      return index.refusals(...request.args);
    case 'metrics':
      return index.metrics(...request.args);
    case 'runTotals':
      return index.runTotals(...request.args);
    case 'runsWithCalls':
      return index.runsWithCalls(...request.args);
    case 'apply':
      return index.apply(...request.args);
    case 'forget':
      return index.forget(...request.args);
    case 'remove':
      return index.remove(...request.args);
  }
}
