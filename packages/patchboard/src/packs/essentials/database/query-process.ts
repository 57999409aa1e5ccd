import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { QueryReply, QueryRequest } from './worker/protocol.ts';

/** How one question to a child ended. */
export type Ending =
  | { readonly kind: 'reply'; readonly reply: QueryReply }
  /** The child is gone without an answer. */
  | { readonly kind: 'ended'; readonly reason: string };

// The same tree runs from source and from the build, so the child has the extension of this file.
const MAIN = fileURLToPath(new URL(`./worker/main${extname(import.meta.url)}`, import.meta.url));
const MAX_HEAP_MB = 64;

/** One child; it answers one question at a time. */
export class QueryProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  #alive = true;

  constructor(onEnd: () => void) {
    this.#child = fork(MAIN, [], {
      execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
      env: {}, // nothing of ours: no secret, no NODE_OPTIONS, no PGHOST
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#ended = new Promise((resolve) => {
      const end = (reason: string): void => {
        this.#alive = false;
        resolve(reason);
        onEnd();
      };
      this.#child.once('exit', (code, signal) => {
        const reason = signal ?? `code ${code}`;
        // Its last words may still be in the channel, which says so by closing after them.
        if (this.#child.connected) this.#child.once('disconnect', () => end(reason));
        else end(reason);
      });
      // Sent instead of an exit when the child cannot be started, and also when the channel breaks.
      this.#child.on('error', (error) => {
        if (this.#child.pid === undefined) end(error.message);
      });
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Resolves with the reason once the child is gone. */
  get ended(): Promise<string> {
    return this.#ended;
  }

  /** An abort kills the child; the answer comes after it is gone, so that what is reported as stopped has stopped. */
  async ask(request: QueryRequest, signal: AbortSignal): Promise<Ending> {
    const kill = (): void => this.kill();
    signal.addEventListener('abort', kill, { once: true });
    const ended = this.#ended.then((reason): Ending => ({ kind: 'ended', reason }));
    try {
      if (signal.aborted) kill();
      const first = await Promise.race([this.#send(request), ended]);
      return signal.aborted ? await ended : first;
    } finally {
      signal.removeEventListener('abort', kill);
      this.#child.removeAllListeners('message');
    }
  }

  /** `ended` tells when it is over; whoever waits for that must not find the event loop empty. */
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

  #send(request: QueryRequest): Promise<Ending> {
    this.#keepAlive();
    return new Promise((resolve) => {
      this.#child.once('message', (message) => resolve({ kind: 'reply', reply: message as QueryReply }));
      // A failure to send is followed by the exit of the child, which is the answer then.
      this.#child.send(request, () => undefined);
    });
  }
}
