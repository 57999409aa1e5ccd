import type { Usage } from './events.ts';

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

/** One for a whole family of agents: a sub-agent spends what its parent then no longer has. */
export class Budget {
  readonly #limits: Required<BudgetLimits>;
  /** Told of each expense, so that it is not forgotten by a crash. */
  readonly #record: (spent: Spent) => void;
  #modelCalls: number;
  #tokens: number;

  constructor({ modelCalls = Infinity, tokens = Infinity }: BudgetLimits, record: (spent: Spent) => void) {
    this.#limits = { modelCalls, tokens };
    this.#record = record;
    this.#modelCalls = 0;
    this.#tokens = 0;
  }

  get spent(): Spent {
    return { modelCalls: this.#modelCalls, tokens: this.#tokens };
  }

  get isSpent(): boolean {
    return this.#modelCalls >= this.#limits.modelCalls || this.#tokens >= this.#limits.tokens;
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
