import { failure, messageOf } from '../../core/failures.ts';
import type { JournalEntry, JournalStore } from '../../core/journals.ts';
import type { Message } from '../../protocols/messages.ts';
import type { AgentPolicy } from '../../core/access/policy/document.ts';
import { AgentError } from '../agent-error.ts';
import type { BudgetLimits, Spent } from '../loop/budget.ts';
import type { AgentEventBody } from '../events/events.ts';
import type { ToolSelection } from '../tool-selection.ts';
import { MESSAGE, PARTIAL } from './transcript.ts';

/** The first entry of every journal. What it has of the agents above it stays, whoever resumes it. */
export interface Birth {
  readonly name: string;
  readonly depth: number;
  readonly inherited: readonly AgentPolicy[];
  /** Of the tools it is offered; one that nobody started is offered what its options say. */
  readonly offers: readonly ToolSelection[];
  readonly budget: BudgetLimits;
  /** Agents in whose journals the expenses of its family stand, besides its own. */
  readonly keepers: readonly string[];
  /** Null: what its options say. */
  readonly maxDepth: number | null;
  readonly parentCallId: string | null;
}

/** Of agents that were made when less was written down. */
const UNSAID = { offers: [], budget: {}, keepers: [], maxDepth: null };

/** What an agent's journal says of it. */
export interface ResumeState {
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
const NOTHING: Spent = { modelCalls: 0, tokens: 0 };

export async function recall(store: JournalStore, id: string): Promise<ResumeState> {
  const memory = new Memory(id);
  for (;;) {
    const entries = await store.readJournal(id, memory.last, PAGE);
    for (const entry of entries) memory.take(entry);
    if (entries.length < PAGE) break;
  }
  const resumeState = memory.resumeState();
  const { birth, spent } = resumeState;
  const ofFamily = await Promise.all(birth.keepers.map((keeper) => spentBy(store, keeper)));
  return { ...resumeState, spent: ofFamily.reduce(sum, spent) };
}

async function spentBy(store: JournalStore, id: string): Promise<Spent> {
  let spent: Spent = NOTHING;
  for (let last = 0; ;) {
    const entries = await store.readJournal(id, last, PAGE, [SPENT]);
    for (const { no, body } of entries) {
      last = no;
      spent = sum(spent, JSON.parse(body) as Spent);
    }
    if (entries.length < PAGE) return spent;
  }
}

function sum(one: Spent, other: Spent): Spent {
  return { modelCalls: one.modelCalls + other.modelCalls, tokens: one.tokens + other.tokens };
}

class Memory {
  last = 0;
  #lastEvent = 0;
  readonly #id: string;
  #birth: Birth | null = null;
  readonly #messages: Message[] = [];
  #partial: Message | null = null;
  #spent: Spent = NOTHING;
  readonly #started: Set<string> = new Set();
  readonly #ended: Set<string> = new Set();
  readonly #asked: Set<string> = new Set();

  constructor(id: string) {
    this.#id = id;
  }

  take({ no, kind, body }: JournalEntry): void {
    this.last = no;
    const value = this.#parse(no, body);
    if (kind === BIRTH) this.#birth = { ...UNSAID, ...(value as Birth) };
    else if (kind === MESSAGE) this.#listen(value as Message);
    else if (kind === PARTIAL) this.#partial = value as Message;
    else if (kind === SPENT) this.#spent = sum(this.#spent, value as Spent);
    else this.#hear(no, value as AgentEventBody & { readonly agentId: string });
  }

  resumeState(): ResumeState {
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
