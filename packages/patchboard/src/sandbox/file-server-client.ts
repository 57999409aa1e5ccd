import { reason } from '@patchboard/wire';
import { extname, join } from 'node:path';
import { failure, messageOf, ToolFailure, type Failure } from '../core/failures.ts';
import { CHANNEL_ENVIRONMENT, EnclosedProcess, type ProcessEnd } from './enclosed-process.ts';
import type { Enclosure, SandboxUser } from './enclosure.ts';
import type { Operation, Operations, Reply } from './file-server/messages.ts';

export interface FileServerOptions {
  readonly enclosure: Enclosure;
  readonly root: string;
  readonly user: SandboxUser | null;
  /** An idle file server is stopped after this time. */
  readonly idleMs: number;
  /** Called when the file server becomes idle. */
  readonly onIdle?: () => void;
}

interface PendingRequest {
  readonly server: EnclosedProcess;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const MAX_HEAP_MB = 256;
const MAX_PROBLEM_BYTES = 4096;

/** Sends requests to the sandboxed file server of one workspace. Starts it on demand, and again after it ended. */
export class FileServerClient {
  readonly #options: FileServerOptions;
  readonly #pending: Map<number, PendingRequest> = new Map();
  /** Killed processes that have not ended yet. */
  readonly #ending: Set<EnclosedProcess> = new Set();
  #process: EnclosedProcess | null = null;
  #idle: NodeJS.Timeout | null = null;
  #lastId = 0;

  constructor(options: FileServerOptions) {
    this.#options = options;
  }

  /** Rejects with a `ToolFailure` if the operation fails or the file server ends. */
  async request<Kind extends Operation>(
    kind: Kind,
    params: Operations[Kind]['params'],
    signal?: AbortSignal,
  ): Promise<Operations[Kind]['result']> {
    signal?.throwIfAborted();
    const server = (this.#process ??= this.#start());
    this.#setIdle(false);
    this.#lastId += 1;
    const id = this.#lastId;
    const cancel = (): void => server.send({ id, kind: 'cancel' });
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      return await new Promise((resolve, reject) => {
        const settle = (value: unknown): void => resolve(value as Operations[Kind]['result']);
        this.#pending.set(id, { server, resolve: settle, reject });
        server.send({ id, kind, params });
      });
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.#pending.delete(id);
      if (this.#pending.size === 0) this.#setIdle(true);
    }
  }

  /** Whether the file server runs without a pending request. */
  get isIdle(): boolean {
    return this.#idle !== null && this.#process !== null;
  }

  /** Kills the file server. The next request starts another one, so it never fails because of this kill. */
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
    // Runs from source and from the build, so the program has the extension of this file.
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
      onMessage: (message) => this.#settle(message as Reply),
    });
    started.ended
      .then((end) => this.#onEnd(started, endFailure(end, problem)))
      .catch((error: unknown) => this.#onEnd(started, unavailable(messageOf(error))));
    return started;
  }

  #settle(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    if (reply.ok) pending?.resolve(reply.value);
    else pending?.reject(new ToolFailure(failure(reply.code, reply.why)));
  }

  #onEnd(server: EnclosedProcess, reason: Failure): void {
    this.#ending.delete(server);
    if (this.#process === server) this.#process = null;
    for (const pending of this.#pending.values())
      if (pending.server === server) pending.reject(new ToolFailure(reason));
  }

  #setIdle(isIdle: boolean): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = null;
    this.#process?.keepsAlive(!isIdle);
    if (!isIdle) return;
    this.#idle = setTimeout(() => this.stop(), this.#options.idleMs).unref();
    this.#options.onIdle?.();
  }
}

/** A resource shortage is reported as it is; anything else as a fault of the sandbox, with the server's last output. */
function endFailure({ problem }: ProcessEnd, output: string): Failure {
  if (problem?.code === 'overloaded') return problem;
  return unavailable(`${problem?.message ?? 'it ended'}: ${output.trim()}`);
}

function unavailable(error: string): Failure {
  return failure('sandbox_unavailable', reason('file_server_unavailable', { error }));
}
