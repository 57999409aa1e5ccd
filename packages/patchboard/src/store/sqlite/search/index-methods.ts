import type {
  CallIndexWriter,
  CallSearch,
  IndexBatch,
  IndexPosition,
} from '../../../core/search/call-search.ts';
import type { RemovedCall } from '../call-table.ts';
import type { CallIndex } from './call-index.ts';

/** What can be requested of the index. */
export interface IndexMethods extends Pick<
  CallIndex,
  'position' | 'find' | 'refusals' | 'metrics' | 'runTotals' | 'runsWithCalls' | 'apply' | 'forget' | 'remove'
> {
  clear(): void;
}

/** A request to the index, which may be sent to another thread. */
export type IndexRequest = {
  [Method in keyof IndexMethods]: {
    readonly method: Method;
    readonly args: Parameters<IndexMethods[Method]>;
  };
}[keyof IndexMethods];

/** Sends a request. Resolves to what the method returns. */
export type SendRequest = <Method extends keyof IndexMethods>(
  method: Method,
  ...args: Parameters<IndexMethods[Method]>
) => Promise<ReturnType<IndexMethods[Method]>>;

/** The ports of an index that is reached by requests. */
export class RequestedIndex implements CallSearch, CallIndexWriter {
  readonly #send: SendRequest;

  constructor(send: SendRequest) {
    this.#send = send;
  }

  async position(): Promise<number> {
    return (await this.#send('position')).seq;
  }

  find: CallSearch['find'] = async (...args) => await this.#send('find', ...args);
  refusals: CallSearch['refusals'] = async (...args) => await this.#send('refusals', ...args);
  metrics: CallSearch['metrics'] = async (...args) => await this.#send('metrics', ...args);
  runTotals: CallSearch['runTotals'] = async (...args) => await this.#send('runTotals', ...args);

  runsWithCalls: CallSearch['runsWithCalls'] = async (...args) => await this.#send('runsWithCalls', ...args);

  /** Only this process uses the index, so that there is no lease. */
  async acquireLease(): Promise<IndexPosition> {
    return await this.#send('position');
  }

  async apply(batch: IndexBatch): Promise<boolean> {
    return await this.#send('apply', batch);
  }

  async clear(): Promise<void> {
    await this.#send('clear');
  }

  async forget(before: number): Promise<void> {
    while (await this.#send('forget', before));
  }

  async release(): Promise<void> {}

  /** Removes calls that are no longer stored. */
  async remove(calls: readonly RemovedCall[]): Promise<void> {
    await this.#send('remove', calls);
  }
}
