import { setTimeout as sleep } from 'node:timers/promises';
import type { CallView } from '@patchboard/wire';
import { get, orGone, post } from './http.ts';
import { ServerProcess, type StartOptions } from './server-process.ts';

export interface RestartingServerOptions extends Pick<StartOptions, 'dataFolder' | 'configFile'> {
  /** A server is ready. */
  readonly up: () => void;
  /** The server is about to be killed. */
  readonly down: () => void;
}

/** Successive servers on one store, and the calls of an agent across them. */
export class RestartingServer {
  readonly #options: RestartingServerOptions;
  #process: ServerProcess | null = null;
  #url = '';
  /** Serializes operations on the server. */
  #turns: Promise<void> = Promise.resolve();
  slowestStartMs = 0;

  constructor(options: RestartingServerOptions) {
    this.#options = options;
  }

  get url(): string {
    return this.#url;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Also true if no server was started. */
  get hasEnded(): boolean {
    return this.#process?.hasEnded ?? true;
  }

  get stderr(): string {
    return this.#process?.stderr ?? '';
  }

  async start(): Promise<void> {
    const began = Date.now();
    const { dataFolder, configFile } = this.#options;
    this.#process = ServerProcess.shipped({
      dataFolder,
      ...(configFile === undefined ? {} : { configFile }),
    });
    try {
      this.#url = await this.#process.mustBeReady();
    } catch (error) {
      // A server that hangs at its start is killed and replaced.
      await this.#process.destroy();
      throw error;
    }
    this.slowestStartMs = Math.max(this.slowestStartMs, Date.now() - began);
    this.#options.up();
  }

  async restart(): Promise<void> {
    this.#options.down();
    await this.destroy();
    await this.start();
  }

  async destroy(): Promise<void> {
    await this.#process?.destroy();
  }

  async inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turns.then(work);
    this.#turns = turn.catch(() => undefined);
    await turn;
  }

  /** Null if refused because no device offers the tool now. A lost response is retried with the same key. */
  async ask(tool: string, n: number, isOver: () => boolean): Promise<string | null> {
    const headers = { 'idempotency-key': `loop-${n}` };
    while (!isOver()) {
      const body = { run_id: 'run_chaos', args: { n } };
      const response = await orGone(post(`${this.#url}/v1/tools/${tool}/invoke`, body, { headers }));
      if (response?.status === 202) return String(response.body['tool_call_id']);
      if (response?.status === 404) return null;
      await sleep(20);
    }
    return null;
  }

  /** Null if the call has not ended within the bound. */
  async ended(id: string, boundMs: number): Promise<CallView | null> {
    const until = Date.now() + boundMs;
    while (Date.now() < until) {
      const response = await orGone(
        get(`${this.#url}/v1/tool_calls/${id}`, { headers: { prefer: 'wait=5' } }),
      );
      const call = response?.body as CallView | undefined;
      if (response?.status === 200 && call !== undefined && call.completed_at !== null) return call;
      if (response === null) await sleep(20);
    }
    return null;
  }
}
