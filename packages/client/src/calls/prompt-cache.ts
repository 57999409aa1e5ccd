import type { PatchboardClient } from '../client.ts';
import type { ToolCallConfig } from './tool-calling.ts';

/** Beyond it the one asked for first is asked for anew, which is only slower. */
const KEPT_PROMPTS = 100;

/** Prompts by agent and config. */
export class PromptCache {
  readonly #client: PatchboardClient;
  readonly #followUntil: AbortSignal | undefined;
  readonly #prompts: Map<string, Promise<string>> = new Map();
  /** Every change of the tools is heard of. Without a stream to hear it from, that is for the caller to know. */
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
    const kept = this.#prompts.get(key) ?? this.#ask(config);
    if (this.#isCurrent) this.#keep(key, kept);
    try {
      return await kept;
    } catch (error) {
      if (this.#prompts.get(key) === kept) this.#prompts.delete(key);
      throw error;
    }
  }

  clear(): void {
    this.#prompts.clear();
  }

  async #ask(config: ToolCallConfig): Promise<string> {
    return (await this.#client.prompt({ config })).prompt;
  }

  #keep(key: string, prompt: Promise<string>): void {
    this.#prompts.set(key, prompt);
    const [oldest = key] = this.#prompts.keys();
    if (this.#prompts.size > KEPT_PROMPTS) this.#prompts.delete(oldest);
  }

  /** Once at a time; a stream that has ended for good is opened anew with the next prompt. */
  #follow(): void {
    const signal = this.#followUntil;
    if (signal === undefined || signal.aborted || this.#isFollowing) return;
    this.#isFollowing = true;
    const end = (): void => {
      this.#isFollowing = false;
      this.#setCurrent(false);
    };
    // Without the stream no prompt is kept, and whatever is wrong with the server the next request says.
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
