import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Failure } from '../../../core/failures.ts';
import { shortageFailure } from '../../../core/resource-shortage.ts';
import type { QueryReply, QueryRequest } from './worker/protocol.ts';

/** How one question to a child ended. */
export type Ending = { readonly kind: 'reply'; readonly reply: QueryReply } | Ended;

/** The child is gone without a reply. */
export interface Ended {
  readonly kind: 'ended';
  readonly reason: string;
  /** Why it could not be started for now; null: it was started, or will never be. */
  readonly shortage: Failure | null;
}

// The same tree runs from source and from the build, so the child has the extension of this file.
const MAIN = fileURLToPath(new URL(`./worker/main${extname(import.meta.url)}`, import.meta.url));
const MAX_HEAP_MB = 64;

interface PendingQuestion {
  readonly signal: AbortSignal;
  readonly resolve: (ending: Ending) => void;
}

/** One child process; it takes one question at a time. */
export class QueryProcess {
  /** Resolves once the child is gone. Never race a question against it: each would stay on it. */
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  /** The only reference to what a question waits for; cleared when it settles. */
  #pending: PendingQuestion | null = null;
  #end: Ended | null = null;

  constructor(onEnd: () => void) {
    this.#child = fork(MAIN, [], {
      execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
      env: {}, // nothing of ours: no secret, no NODE_OPTIONS, no PGHOST
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
        // Its last reply may still be in the channel, which closes after it.
        if (this.#child.connected) this.#child.once('disconnect', () => end(reason));
        else end(reason);
      });
      // Emitted instead of an exit when the child cannot be started, and also when the channel breaks.
      this.#child.on('error', (error) => {
        if (this.#child.pid === undefined) end(error.message, shortageFailure(error, 'the query'));
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#end === null;
  }

  /** An abort kills the child; the promise then resolves after it is gone, so that what is reported as stopped has stopped. */
  async ask(request: QueryRequest, signal: AbortSignal): Promise<Ending> {
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

  /** `ended` resolves when it is over; the event loop stays alive until then. */
  kill(): void {
    this.#keepAlive();
    this.#child.kill('SIGKILL');
  }

  /** An idle child does not keep this process alive. */
  rest(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }

  #keepAlive(): void {
    this.#child.ref();
    this.#child.channel?.ref();
  }

  #send(request: QueryRequest): void {
    this.#keepAlive();
    // A failure to send is followed by the end of the child, which settles the question.
    if (this.#child.connected) this.#child.send(request, () => undefined);
  }

  /** After an abort only the end of the child counts. */
  #reply(reply: QueryReply): void {
    if (this.#pending?.signal.aborted === false) this.#settle({ kind: 'reply', reply });
  }

  #settle(ending: Ending): void {
    this.#pending?.resolve(ending);
    this.#pending = null;
  }
}
