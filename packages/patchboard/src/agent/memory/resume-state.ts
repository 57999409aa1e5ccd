import { reason } from '@patchboard/wire';
import { failure, messageOf } from '../../core/failures.ts';
import type { JournalEntry, JournalStore } from '../../core/journals.ts';
import type { AssistantMessage, Message } from '../../protocols/messages.ts';
import type { AgentPolicy } from '../../core/access/policy/document.ts';
import { AgentError } from '../agent-error.ts';
import type { BudgetLimits, Spent } from '../loop/budget.ts';
import type { AgentEventBody } from '../events/events.ts';
import type { ToolSelection } from '../tool-selection.ts';
import { MESSAGE, PARTIAL, requestsOf } from './transcript.ts';

/** The first entry of every journal. It preserves what a sub-agent inherited when it is resumed on its own. */
export interface CreationRecord {
  readonly name: string;
  readonly depth: number;
  readonly inherited: readonly AgentPolicy[];
  /** Tool selections of a sub-agent; empty for others, whose options determine them. */
  readonly offers: readonly ToolSelection[];
  readonly budget: BudgetLimits;
  /** Ancestors whose journals contain recorded usage of the shared budget. */
  readonly keepers: readonly string[];
  /** Null: determined by the options. */
  readonly maxDepth: number | null;
  readonly parentCallId: string | null;
}

/** Defaults for journals of older versions. */
const MISSING_FIELDS = { offers: [], budget: {}, keepers: [], maxDepth: null };

/** The state of an agent, read from its journal. */
export interface ResumeState {
  readonly creation: CreationRecord;
  readonly last: number;
  /** Bookmark of the last event; 0 if there is none. */
  readonly lastEvent: number;
  readonly messages: readonly Message[];
  readonly spent: Spent;
  /** Calls whose start event was emitted and whose result the model does not have yet. */
  readonly started: readonly string[];
  /** Those of them whose end event was emitted. */
  readonly ended: readonly string[];
  /** Calls that wait for approval. */
  readonly asked: readonly string[];
}

export const CREATED = 'created';
export const SPENT = 'spent';
const PAGE = 200;
const NOTHING: Spent = { modelCalls: 0, tokens: 0 };

export async function loadResumeState(store: JournalStore, id: string): Promise<ResumeState> {
  const journal = new JournalReader(id);
  for (;;) {
    const entries = await store.readJournal(id, journal.last, PAGE);
    for (const entry of entries) journal.take(entry);
    if (entries.length < PAGE) break;
  }
  const resumeState = journal.resumeState();
  const { creation, spent } = resumeState;
  const ofAncestors = await Promise.all(creation.keepers.map((keeper) => spentBy(store, keeper)));
  return { ...resumeState, spent: ofAncestors.reduce(sum, spent) };
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

class JournalReader {
  last = 0;
  #lastEvent = 0;
  readonly #id: string;
  #creation: CreationRecord | null = null;
  readonly #messages: Message[] = [];
  #partial: AssistantMessage | null = null;
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
    if (kind === CREATED) this.#creation = { ...MISSING_FIELDS, ...(value as CreationRecord) };
    else if (kind === MESSAGE) this.#takeMessage(value as Message);
    else if (kind === PARTIAL) this.#partial = value as AssistantMessage;
    else if (kind === SPENT) this.#spent = sum(this.#spent, value as Spent);
    else this.#takeEvent(no, value as AgentEventBody & { readonly agentId: string });
  }

  resumeState(): ResumeState {
    if (this.#creation === null)
      throw new AgentError(failure('run_not_found', reason('agent_unknown', { id: this.#id })));
    return {
      creation: this.#creation,
      last: this.last,
      lastEvent: this.#lastEvent,
      // A partial reply is kept, because calls of it may have run.
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
      const why = reason('agent_entry_damaged', { no, id: this.#id, error: messageOf(error) });
      throw new AgentError(failure('internal', why), { cause: error });
    }
  }

  #takeMessage(message: Message): void {
    // After a crash the partial reply stays as it is, and results of its calls follow; otherwise the complete one follows.
    if (this.#partial !== null && hasResultsOf(message, this.#partial)) this.#messages.push(this.#partial);
    this.#partial = null;
    this.#messages.push(message);
    if (message.role === 'assistant') return;
    for (const calls of [this.#started, this.#ended, this.#asked]) calls.clear();
  }

  #takeEvent(no: number, event: AgentEventBody & { readonly agentId: string }): void {
    this.#lastEvent = no;
    // Ignore events forwarded from sub-agents.
    if (event.agentId !== this.#id) return;
    if (event.type === 'tool:start') this.#started.add(event.call.id);
    else if (event.type === 'tool:end') {
      this.#ended.add(event.call.id);
      // It may have ended without a decision.
      this.#asked.delete(event.call.id);
    } else if (event.type === 'permission_required') this.#asked.add(event.call.id);
    else if (event.type === 'permission_decided') this.#asked.delete(event.callId);
  }
}

function hasResultsOf({ content }: Message, reply: AssistantMessage): boolean {
  const requests = new Set(requestsOf(reply).map(({ id }) => id));
  return content.some((block) => block.type === 'tool_result' && requests.has(block.tool_use_id));
}
