import { canonicalJson } from '@patchboard/wire/json';
import type { AgentHooks } from '../../sdk/agent-hooks.ts';

/** This many calls in a row with the same tool, arguments and result count as a loop. */
const LOOP_LENGTH = 3;
/** The agent stops after this many denied repetitions. */
const MAX_DENIALS = 3;

export interface CompletedRequest {
  readonly callId: string;
  readonly toolName: string;
  readonly args: unknown;
  readonly result: unknown;
}

/**
 * Detects a model that repeats itself. The third identical result comes with a note; after that the same request is
 * denied without being run, until the model makes another request.
 */
export class RepeatGuard {
  #request = '';
  #result = '';
  #times = 0;
  readonly #denied: Set<string> = new Set();
  /** Requests of calls that ran, by call id: the arguments in their records may be redacted or changed by an operator. */
  readonly #ran: Map<string, string> = new Map();

  /** Applies to this agent's calls only. */
  readonly hooks: AgentHooks = {
    preToolUse: ({ id, name, args }) => {
      const request = requestKey(name, args);
      if (!this.isWarned || request !== this.#request) {
        this.#ran.set(id, request);
        return undefined;
      }
      this.#denied.add(id);
      return { decision: 'deny', reason: this.#note(name) };
    },
  };

  /** Whether the model repeated a denied request too often. */
  get isStuck(): boolean {
    return this.#denied.size >= MAX_DENIALS;
  }

  /** Whether the model has been told that it repeats itself. */
  get isWarned(): boolean {
    return this.#times >= LOOP_LENGTH;
  }

  /**
   * Returns a note to send to the model with this result, or null. `wasWarned`: `isWarned` before the first result of its
   * reply.
   */
  notice(
    completed: CompletedRequest,
    wasWarned: boolean,
  ): { readonly note: string; readonly times: number } | null {
    const { callId, toolName, args, result } = completed;
    if (this.#denied.has(callId)) return null;
    const ran = this.#ran.get(callId);
    this.#ran.delete(callId);
    const request = ran ?? requestKey(toolName, args);
    const resultJson = canonicalJson(result ?? null);
    const isSame = request === this.#request && resultJson === this.#result;
    this.#times = isSame ? this.#times + 1 : 1;
    if (!isSame) this.#denied.clear();
    // Refused before any hook, such as for an unknown tool: `preToolUse` cannot deny it.
    else if (wasWarned && ran === undefined) this.#denied.add(callId);
    this.#request = request;
    this.#result = resultJson;
    return this.#times === LOOP_LENGTH ? { note: this.#note(toolName), times: this.#times } : null;
  }

  /** Called for a new user message, after which a repetition is legitimate. */
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
