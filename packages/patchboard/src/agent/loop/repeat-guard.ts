import { canonicalJson } from '../../core/json/canonical-json.ts';
import type { AgentHooks } from '../../sdk/agent-hooks.ts';

/** The same tool with the same arguments and the same result, so many times in a row, is a loop. */
const LOOP_LENGTH = 3;
/** Told so many times besides, a model will not stop of itself. */
const PATIENCE = 3;

export interface Answered {
  readonly callId: string;
  readonly toolName: string;
  readonly args: unknown;
  readonly result: unknown;
}

/**
 * Notices a model that goes in circles. The third identical answer says so; after that the same request is denied
 * without being run, until the model does something else.
 */
export class RepeatGuard {
  #request = '';
  #answer = '';
  #times = 0;
  readonly #denied: Set<string> = new Set();

  /** Fires for this agent's calls only. */
  readonly hooks: AgentHooks = {
    preToolUse: ({ id, name, args }) => {
      if (this.#times < LOOP_LENGTH || requestKey(name, args) !== this.#request) return undefined;
      this.#denied.add(id);
      return { decision: 'deny', reason: this.#note(name) };
    },
  };

  /** The model was told again and again. */
  get isHopeless(): boolean {
    return this.#denied.size >= PATIENCE;
  }

  /** What the model is to be told about an answer it has just got; null: nothing. */
  notice(answered: Answered): { readonly note: string; readonly times: number } | null {
    const { callId, toolName, args, result } = answered;
    if (this.#denied.has(callId)) return null;
    const request = requestKey(toolName, args);
    const answer = canonicalJson(result ?? null);
    const isSame = request === this.#request && answer === this.#answer;
    this.#times = isSame ? this.#times + 1 : 1;
    if (!isSame) this.#denied.clear();
    this.#request = request;
    this.#answer = answer;
    return this.#times === LOOP_LENGTH ? { note: this.#note(toolName), times: this.#times } : null;
  }

  /** Somebody spoke to the model: what it does next is new. */
  reset(): void {
    this.#request = '';
    this.#times = 0;
    this.#denied.clear();
  }

  #note(toolName: string): string {
    return `${toolName} was called ${LOOP_LENGTH} times in a row with the same arguments and gave the same result each time; it will not be run again with them before something else is done. Use the result you have, or do something else.`;
  }
}

function requestKey(toolName: string, args: unknown): string {
  return canonicalJson([toolName, args ?? null]);
}
