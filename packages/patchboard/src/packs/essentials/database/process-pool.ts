import { QueryProcess } from './query-process.ts';
import type { Ending } from './query-process.ts';
import type { QueryRequest } from './worker/protocol.ts';

export interface ProcessPoolOptions {
  readonly maxProcesses: number;
  /** An idle child process is killed after this time. */
  readonly idleMs: number;
}

/** A pool of child processes: starting one takes longer than most queries. */
export class ProcessPool {
  readonly #options: ProcessPoolOptions;
  readonly #all = new Set<QueryProcess>();
  readonly #idle = new Map<QueryProcess, NodeJS.Timeout>();
  readonly #waiting: (() => void)[] = [];
  #closed = false;

  constructor(options: ProcessPoolOptions) {
    this.#options = options;
  }

  /** The pids of the running children. */
  get pids(): readonly number[] {
    return [...this.#all].map((child) => child.pid).filter((pid) => pid !== undefined);
  }

  get closed(): boolean {
    return this.#closed;
  }

  async run(request: QueryRequest, signal: AbortSignal): Promise<Ending> {
    const child = await this.#acquire(signal);
    if (child === undefined) return { kind: 'ended', reason: 'nothing was started', shortage: null };
    let reusable = false;
    try {
      const ending = await child.run(request, signal);
      reusable = ending.kind === 'reply' && !ending.reply.last;
      return ending;
    } finally {
      this.#release(child, reusable);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    for (const timer of this.#idle.values()) clearTimeout(timer);
    this.#idle.clear();
    const children = [...this.#all];
    for (const child of children) child.kill();
    await Promise.all(children.map((child) => child.ended));
  }

  async #acquire(signal: AbortSignal): Promise<QueryProcess | undefined> {
    while (!this.#closed && !signal.aborted) {
      const idle = this.#takeIdle();
      if (idle !== undefined) return idle;
      if (this.#all.size < this.#options.maxProcesses) return this.#start();
      await this.#waitForChild(signal);
    }
    return undefined;
  }

  #takeIdle(): QueryProcess | undefined {
    for (const [child, timer] of this.#idle) {
      clearTimeout(timer);
      this.#idle.delete(child);
      if (child.alive) return child;
    }
    return undefined;
  }

  #start(): QueryProcess {
    const child: QueryProcess = new QueryProcess(() => {
      clearTimeout(this.#idle.get(child));
      this.#idle.delete(child);
      this.#all.delete(child);
      this.#waiting.shift()?.();
    });
    this.#all.add(child);
    return child;
  }

  #release(child: QueryProcess, reusable: boolean): void {
    if (!reusable || this.#closed || !child.alive) {
      child.kill();
      return;
    }
    child.unref();
    this.#idle.set(child, setTimeout(() => child.kill(), this.#options.idleMs).unref());
    this.#waiting.shift()?.();
  }

  /** Resolves when a child becomes idle or ends, the call is aborted or the pool is closed. */
  #waitForChild(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        resolve();
      };
      this.#waiting.push(wake);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
