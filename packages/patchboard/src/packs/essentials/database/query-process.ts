import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Failure } from '../../../core/failures.ts';
import { shortageFailure } from '../../../core/resource-shortage.ts';
import type { QueryReply, QueryRequest } from './worker/protocol.ts';

/** The end of a request to a child process. */
export type Ending = { readonly kind: 'reply'; readonly reply: QueryReply } | Ended;

/** The child ended without a reply. */
export interface Ended {
  readonly kind: 'ended';
  readonly reason: string;
  /** The resource shortage that prevented the start; null if there was none. */
  readonly shortage: Failure | null;
}

// Runs from source and from the build, so the child has the extension of this file.
const MAIN = fileURLToPath(new URL(`./worker/main${extname(import.meta.url)}`, import.meta.url));
const MAX_HEAP_MB = 64;

interface PendingRequest {
  readonly signal: AbortSignal;
  readonly resolve: (ending: Ending) => void;
}

/** A child process that runs one query at a time. */
export class QueryProcess {
  /** Resolves when the child has ended. Do not use it in `Promise.race` per request: each reaction would stay in memory. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  /** Cleared when the request settles, so that nothing keeps it in memory. */
  #pending: PendingRequest | null = null;
  #end: Ended | null = null;

  constructor(onEnd: () => void) {
    this.#child = fork(MAIN, [], {
      execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
      env: {}, // nothing of the server's environment: no secrets, no NODE_OPTIONS, no PGHOST
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('message', (message) => this.#reply(message as QueryReply));
    this.ended = new Promise((resolve) => {
      const end = (reason: string, shortage: Failure | null = null): void => {
        this.#end = { kind: 'ended', reason, shortage };
        this.#settle(this.#end);
        resolve();
        onEnd();
      };
      this.#child.once('exit', (code, signal) => {
        const reason = signal ?? `code ${code}`;
        // The last reply may still be in the channel; 'disconnect' follows it.
        if (this.#child.connected) this.#child.once('disconnect', () => end(reason));
        else end(reason);
      });
      // Emitted instead of an exit when the child cannot be started, and also when the channel breaks.
      this.#child.on('error', (error) => {
        if (this.#child.pid === undefined) end(error.message, shortageFailure(error, 'query'));
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#end === null;
  }

  /** An abort kills the child. The promise resolves after its end, so that a query reported as stopped has really stopped. */
  async run(request: QueryRequest, signal: AbortSignal): Promise<Ending> {
    if (this.#end !== null) return this.#end;
    const kill = (): void => this.kill();
    signal.addEventListener('abort', kill, { once: true });
    try {
      return await new Promise<Ending>((resolve) => {
        this.#pending = { signal, resolve };
        if (signal.aborted) kill();
        else this.#send(request);
      });
    } finally {
      signal.removeEventListener('abort', kill);
    }
  }

  /** The event loop stays alive until the child has ended. */
  kill(): void {
    this.#keepAlive();
    this.#child.kill('SIGKILL');
  }

  /** Lets this process exit while the child is idle. */
  unref(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  #keepAlive(): void {
    this.#child.ref();
    this.#child.channel?.ref();
  }

  #send(request: QueryRequest): void {
    this.#keepAlive();
    // If sending fails, the child ends, which settles the request.
    if (this.#child.connected) this.#child.send(request, () => undefined);
  }

  /** Ignores a reply after an abort: only the end of the child settles the request then. */
  #reply(reply: QueryReply): void {
    if (this.#pending?.signal.aborted === false) this.#settle({ kind: 'reply', reply });
  }

  #settle(ending: Ending): void {
    this.#pending?.resolve(ending);
    this.#pending = null;
  }
}
