import { extname, join } from 'node:path';
import { failure, messageOf, ToolFailure, type Failure } from '../core/failures.ts';
import { CHANNEL_ENVIRONMENT, EnclosedProcess, type ProcessEnd } from './enclosed-process.ts';
import type { Enclosure, SandboxUser } from './enclosure.ts';
import type { QuestionKind, Questions, Reply } from './file-server/messages.ts';

export interface FileServerOptions {
  readonly enclosure: Enclosure;
  readonly root: string;
  readonly user: SandboxUser | null;
  /** An unused one ends after this long. */
  readonly idleMs: number;
  /** Called when it becomes idle. */
  readonly onIdle?: () => void;
}

interface Waiting {
  readonly server: EnclosedProcess;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const MAX_HEAP_MB = 256;
const MAX_PROBLEM_BYTES = 4096;

/** Asks the enclosed file server of one workspace; starts it when it is needed, and again when it is gone. */
export class FileServerClient {
  readonly #options: FileServerOptions;
  readonly #waiting: Map<number, Waiting> = new Map();
  /** Killed, and not gone yet. */
  readonly #ending: Set<EnclosedProcess> = new Set();
  #process: EnclosedProcess | null = null;
  #idle: NodeJS.Timeout | null = null;
  #asked = 0;

  constructor(options: FileServerOptions) {
    this.#options = options;
  }

  async ask<Kind extends QuestionKind>(
    kind: Kind,
    ask: Questions[Kind]['ask'],
    signal?: AbortSignal,
  ): Promise<Questions[Kind]['answer']> {
    signal?.throwIfAborted();
    const server = (this.#process ??= this.#start());
    this.#rest(false);
    this.#asked += 1;
    const id = this.#asked;
    const cancel = (): void => server.send({ id, kind: 'cancel' });
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return await new Promise((resolve, reject) => {
        const take = (value: unknown): void => resolve(value as Questions[Kind]['answer']);
        this.#waiting.set(id, { server, resolve: take, reject });
        server.send({ id, kind, ask });
      });
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#rest(true);
    }
  }

  /** It runs, and nothing is asked of it. */
  get isIdle(): boolean {
    return this.#idle !== null && this.#process !== null;
  }

  /** The next question starts another one: that it dies must not be the answer. */
  stop(): void {
    if (this.#process === null) return;
    this.#ending.add(this.#process);
    this.#process.kill();
    this.#process = null;
  }

  async close(): Promise<void> {
    this.stop();
    for (const ending of this.#ending) ending.keepsAlive(true);
    await Promise.all([...this.#ending].map((ending) => ending.ended));
  }

  #start(): EnclosedProcess {
    const { enclosure, root, user } = this.#options;
    const { tools } = enclosure;
    // The same tree runs from source and from the build, so its program has the extension of this file.
    const main = join(tools.fileServer, `main${extname(import.meta.url)}`);
    const argv = [tools.node, `--max-old-space-size=${MAX_HEAP_MB}`, main, root, tools.ripgrep];
    const line = enclosure.wrap({
      argv,
      root,
      cwd: root,
      network: false,
      environment: CHANNEL_ENVIRONMENT,
      user,
    });
    let problem = '';
    const started = new EnclosedProcess(line, {
      killsTrees: enclosure.killsTrees,
      onOutput: (_stream, chunk) => {
        if (problem.length < MAX_PROBLEM_BYTES) problem += chunk.toString('utf8');
      },
      onMessage: (message) => this.#take(message as Reply),
    });
    started.ended
      .then((end) => this.#gone(started, goneFailure(end, problem)))
      .catch((error: unknown) => this.#gone(started, unreachable(messageOf(error))));
    return started;
  }

  #take(reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    if (reply.ok) waiting?.resolve(reply.value);
    else waiting?.reject(new ToolFailure(failure(reply.code, reply.message)));
  }

  #gone(server: EnclosedProcess, reason: Failure): void {
    this.#ending.delete(server);
    if (this.#process === server) this.#process = null;
    for (const waiting of this.#waiting.values())
      if (waiting.server === server) waiting.reject(new ToolFailure(reason));
  }

  #rest(resting: boolean): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    this.#process?.keepsAlive(!resting);
    if (!resting) return;
    this.#idle = setTimeout(() => this.stop(), this.#options.idleMs).unref();
    this.#options.onIdle?.();
  }
}

/** A shortage passes; anything else is a fault of the sandbox, and what the server wrote last says which. */
function goneFailure({ problem }: ProcessEnd, output: string): Failure {
  if (problem?.code === 'overloaded') return problem;
  return unreachable(`${problem?.message ?? 'it ended'}: ${output.trim()}`);
}

function unreachable(reason: string): Failure {
  return failure('sandbox_unavailable', `the files cannot be reached (${reason})`);
}
