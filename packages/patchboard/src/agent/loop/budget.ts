import type { Usage } from '../events/events.ts';

/** What an agent and all agents below it may spend together. */
export interface BudgetLimits {
  /** Times a model may be asked. Default: no limit. */
  readonly modelCalls?: number;
  /** Of input and output together. Default: no limit. */
  readonly tokens?: number;
}

export interface Spent {
  readonly modelCalls: number;
  readonly tokens: number;
}

/** What both allow. */
export function narrower(one: BudgetLimits, other: BudgetLimits): BudgetLimits {
  const least = (a = Infinity, b = Infinity): number => Math.min(a, b);
  const modelCalls = least(one.modelCalls, other.modelCalls);
  const tokens = least(one.tokens, other.tokens);
  return {
    ...(modelCalls === Infinity ? {} : { modelCalls }),
    ...(tokens === Infinity ? {} : { tokens }),
  };
}

/** One for a whole family of agents: a sub-agent spends what its parent then no longer has. */
export class Budget {
  readonly limits: BudgetLimits;
  /** Agents in whose journals the expenses stand. */
  readonly keepers: readonly string[];
  /** Told of each expense, so that it is not forgotten by a crash. */
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

  /** What was spent before a restart. */
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
