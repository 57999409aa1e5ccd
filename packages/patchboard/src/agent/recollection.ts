import { failure, messageOf } from '../core/failures.ts';
import type { JournalEntry, JournalStore } from '../core/journals.ts';
import type { Message } from '../core/messages.ts';
import type { AgentPolicy } from '../core/policy/document.ts';
import { AgentError } from './agent-error.ts';
import type { Spent } from './budget.ts';
import type { AgentEventBody } from './events.ts';
import { MESSAGE, PARTIAL } from './transcript.ts';

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
  /** The bookmark of the last event; 0: there is none. */
  readonly lastEvent: number;
  readonly messages: readonly Message[];
  readonly spent: Spent;
  /** Of the calls that the model has no answer for yet: those that were told of as started. */
  readonly started: readonly string[];
  /** Those that were told of as ended. */
  readonly ended: readonly string[];
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
  #lastEvent = 0;
  readonly #id: string;
  #birth: Birth | null = null;
  readonly #messages: Message[] = [];
  #partial: Message | null = null;
  #spent: Spent = { modelCalls: 0, tokens: 0 };
  readonly #started: Set<string> = new Set();
  readonly #ended: Set<string> = new Set();
  readonly #asked: Set<string> = new Set();

  constructor(id: string) {
    this.#id = id;
  }

  take({ no, kind, body }: JournalEntry): void {
    this.last = no;
    const value = this.#parse(no, body);
    if (kind === BIRTH) this.#birth = value as Birth;
    else if (kind === MESSAGE) this.#listen(value as Message);
    else if (kind === PARTIAL) this.#partial = value as Message;
    else if (kind === SPENT) this.#spend(value as Spent);
    else this.#hear(no, value as AgentEventBody & { readonly agentId: string });
  }

  recollection(): Recollection {
    if (this.#birth === null)
      throw new AgentError(failure('run_not_found', `no agent has the id ${this.#id} in this store`));
    return {
      birth: this.#birth,
      last: this.last,
      lastEvent: this.#lastEvent,
      // Calls were under way when the reply broke off: they belong to what was said of it.
      messages: this.#partial === null ? this.#messages : [...this.#messages, this.#partial],
      spent: this.#spent,
      started: [...this.#started],
      ended: [...this.#ended],
      asked: [...this.#asked],
    };
  }

  #parse(no: number, body: string): unknown {
    try {
      return JSON.parse(body);
    } catch (error) {
      const message = `entry ${no} of the journal of ${this.#id} is damaged: ${messageOf(error)}`;
      throw new AgentError(failure('internal', message), { cause: error });
    }
  }

  #listen(message: Message): void {
    this.#partial = null;
    this.#messages.push(message);
    if (message.role === 'assistant') return;
    for (const told of [this.#started, this.#ended, this.#asked]) told.clear();
  }

  #spend({ modelCalls, tokens }: Spent): void {
    this.#spent = {
      modelCalls: this.#spent.modelCalls + modelCalls,
      tokens: this.#spent.tokens + tokens,
    };
  }

  #hear(no: number, event: AgentEventBody & { readonly agentId: string }): void {
    this.#lastEvent = no;
    // A sub-agent's questions are its own affair.
    if (event.agentId !== this.#id) return;
    if (event.type === 'tool:start') this.#started.add(event.call.id);
    else if (event.type === 'tool:end') this.#ended.add(event.call.id);
    else if (event.type === 'permission_required') this.#asked.add(event.call.id);
    else if (event.type === 'permission_decided') this.#asked.delete(event.callId);
  }
}
