import { failure } from '../core/failures.ts';
import type { JournalEntry, JournalStore } from '../core/journals.ts';
import type { Message } from '../core/messages.ts';
import type { AgentPolicy } from '../core/policy/document.ts';
import { AgentError } from './agent-error.ts';
import type { Spent } from './budget.ts';
import type { AgentEventBody } from './events.ts';
import { MESSAGE } from './transcript.ts';

/** The first entry of every journal. */
export interface Birth {
  readonly name: string;
  readonly depth: number;
  /** Those of the agents above it; they stay, whoever resumes it. */
  readonly inherited: readonly AgentPolicy[];
  readonly parentCallId: string | null;
}

/** What an agent's journal says of it. */
export interface Recollection {
  readonly birth: Birth;
  readonly last: number;
  readonly messages: readonly Message[];
  readonly spent: Spent;
  /** Calls that were told of as started, and not as ended. */
  readonly started: readonly string[];
  /** Calls that were asked about, and not decided on. */
  readonly asked: readonly string[];
}

export const BIRTH = 'created';
export const SPENT = 'spent';
const PAGE = 200;

export async function recall(store: JournalStore, id: string): Promise<Recollection> {
  const memory = new Memory(id);
  for (;;) {
    const entries = await store.readJournal(id, memory.last, PAGE);
    for (const entry of entries) memory.take(entry);
    if (entries.length < PAGE) return memory.recollection();
  }
}

class Memory {
  last = 0;
  readonly #id: string;
  #birth: Birth | null = null;
  readonly #messages: Message[] = [];
  #spent: Spent = { modelCalls: 0, tokens: 0 };
  readonly #started: Set<string> = new Set();
  readonly #asked: Set<string> = new Set();

  constructor(id: string) {
    this.#id = id;
  }

  take({ no, kind, body }: JournalEntry): void {
    this.last = no;
    const value = JSON.parse(body) as unknown;
    if (kind === BIRTH) this.#birth = value as Birth;
    else if (kind === MESSAGE) this.#messages.push(value as Message);
    else if (kind === SPENT) this.#spend(value as Spent);
    else this.#hear(value as AgentEventBody & { readonly agentId: string });
  }

  recollection(): Recollection {
    if (this.#birth === null)
      throw new AgentError(failure('run_not_found', `no agent has the id ${this.#id} in this store`));
    return {
      birth: this.#birth,
      last: this.last,
      messages: this.#messages,
      spent: this.#spent,
      started: [...this.#started],
      asked: [...this.#asked],
    };
  }

  #spend({ modelCalls, tokens }: Spent): void {
    this.#spent = {
      modelCalls: this.#spent.modelCalls + modelCalls,
      tokens: this.#spent.tokens + tokens,
    };
  }

  #hear(event: AgentEventBody & { readonly agentId: string }): void {
    // A sub-agent's questions are its own affair.
    if (event.agentId !== this.#id) return;
    if (event.type === 'tool:start') this.#started.add(event.call.id);
    else if (event.type === 'tool:end') this.#started.delete(event.call.id);
    else if (event.type === 'permission_required') this.#asked.add(event.call.id);
    else if (event.type === 'permission_decided') this.#asked.delete(event.callId);
  }
}
