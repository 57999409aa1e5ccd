import type { PatchboardClient } from '../client.ts';
import type { ToolCallConfig } from './tool-calling.ts';

const MAX_PROMPTS = 100;

/** Caches prompts by agent and config; evicts the oldest beyond `MAX_PROMPTS`. */
export class PromptCache {
  readonly #client: PatchboardClient;
  readonly #followUntil: AbortSignal | undefined;
  readonly #prompts: Map<string, Promise<string>> = new Map();
  /** Whether the event stream is connected, so that changes of the tools clear the cache. Always true without a stream: the caller clears it. */
  #isCurrent: boolean;
  #isFollowing = false;

  constructor(client: PatchboardClient, followUntil: AbortSignal | undefined) {
    this.#client = client;
    this.#followUntil = followUntil;
    this.#isCurrent = followUntil === undefined;
  }

  async get(config: ToolCallConfig, agentId: string): Promise<string> {
    this.#follow();
    const key = JSON.stringify([agentId, config]);
    const prompt = this.#prompts.get(key) ?? this.#fetch(config);
    if (this.#isCurrent) this.#store(key, prompt);
    try {
      return await prompt;
    } catch (error) {
      if (this.#prompts.get(key) === prompt) this.#prompts.delete(key);
      throw error;
    }
  }

  clear(): void {
    this.#prompts.clear();
  }

  async #fetch(config: ToolCallConfig): Promise<string> {
    return (await this.#client.prompt({ config })).prompt;
  }

  #store(key: string, prompt: Promise<string>): void {
    this.#prompts.set(key, prompt);
    const [oldest = key] = this.#prompts.keys();
    if (this.#prompts.size > MAX_PROMPTS) this.#prompts.delete(oldest);
  }

  /** Keeps at most one stream open. A stream that ended is opened again for the next prompt. */
  #follow(): void {
    const signal = this.#followUntil;
    if (signal === undefined || signal.aborted || this.#isFollowing) return;
    this.#isFollowing = true;
    const end = (): void => {
      this.#isFollowing = false;
      this.#setCurrent(false);
    };
    // Without the stream no prompt is cached; an error of the server surfaces with the next request.
    this.#listen(signal).then(end, end);
  }

  async #listen(signal: AbortSignal): Promise<void> {
    const onConnection = (state: 'open' | 'lost'): void => this.#setCurrent(state === 'open');
    for await (const event of this.#client.events({ signal, onConnection }))
      if (event.type === 'registry.changed') this.clear();
  }

  #setCurrent(isCurrent: boolean): void {
    this.#isCurrent = isCurrent;
    this.clear();
  }
}
