import type { Usage } from '../events/events.ts';

/** Limits shared by an agent and all of its sub-agents. */
export interface BudgetLimits {
  /** Number of model requests. Default: no limit. */
  readonly modelCalls?: number;
  /** Input and output tokens together. Default: no limit. */
  readonly tokens?: number;
}

export interface Spent {
  readonly modelCalls: number;
  readonly tokens: number;
}

/** Returns the smaller of both limits. */
export function narrower(one: BudgetLimits, other: BudgetLimits): BudgetLimits {
  const least = (a = Infinity, b = Infinity): number => Math.min(a, b);
  const modelCalls = least(one.modelCalls, other.modelCalls);
  const tokens = least(one.tokens, other.tokens);
  return {
    ...(modelCalls === Infinity ? {} : { modelCalls }),
    ...(tokens === Infinity ? {} : { tokens }),
  };
}

/** A budget shared by an agent and all of its sub-agents. */
export class Budget {
  readonly limits: BudgetLimits;
  /** Agents whose journals contain the recorded usage. */
  readonly keepers: readonly string[];
  /** Stores each use, so that it survives a crash. */
  readonly #record: (spent: Spent) => void;
  #modelCalls: number;
  #tokens: number;

  constructor(limits: BudgetLimits, keepers: readonly string[], record: (spent: Spent) => void) {
    this.limits = limits;
    this.keepers = keepers;
    this.#record = record;
    this.#modelCalls = 0;
    this.#tokens = 0;
  }

  get spent(): Spent {
    return { modelCalls: this.#modelCalls, tokens: this.#tokens };
  }

  get isSpent(): boolean {
    const { modelCalls = Infinity, tokens = Infinity } = this.limits;
    return this.#modelCalls >= modelCalls || this.#tokens >= tokens;
  }

  /** Adds what was spent before a restart. */
  restore({ modelCalls, tokens }: Spent): void {
    this.#modelCalls += modelCalls;
    this.#tokens += tokens;
  }

  spend({ inputTokens, outputTokens }: Usage): void {
    const spent = { modelCalls: 1, tokens: inputTokens + outputTokens };
    this.restore(spent);
    this.#record(spent);
  }
}
