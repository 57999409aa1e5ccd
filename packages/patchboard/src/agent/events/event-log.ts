import { failure, messageOf } from '../../core/failures.ts';
import type { JournalEntry } from '../../core/journals.ts';
import type { Clock, Log } from '../../core/ports.ts';
import { callable, must, object, oneOf, someOf, wholeNumber } from '../../sdk/shape.ts';
import type { ToolCallSnapshot } from '../../sdk/tool-call-snapshot.ts';
import { AgentError, check } from '../agent-error.ts';
import type {
  AgentEvent,
  AgentEventBase,
  AgentEventBody,
  AgentEventOf,
  AgentEventType,
  Channel,
} from './events.ts';
import { CHANNEL_OF, CHANNELS } from './events.ts';
import { isAborted } from '../is-aborted.ts';
import type { Journal } from '../memory/journal.ts';
import type { ActiveWork } from '../active-work.ts';

export interface SubscribeOptions {
  /** The bookmark of the last event that was seen. Default: from the beginning. */
  readonly since?: number;
  /** Default: all. */
  readonly channels?: readonly Channel[];
  /** Ends the subscription; closing the board does, too. */
  readonly signal?: AbortSignal;
}

const SUBSCRIPTION = object<SubscribeOptions>({
  since: wholeNumber(0),
  channels: someOf(CHANNELS),
  signal: must('be an AbortSignal', (value) => value instanceof AbortSignal),
});

const EVENT_TYPE = oneOf(Object.keys(CHANNEL_OF));

const UNHEARD =
  'the agent waits for a decision and nothing listens for it: ' +
  "agent.on('permission_required', ({ call, respond }) => …), agent.subscribe(), or board.decide(call.id, …)";

type StoredEvent = AgentEventBody & Omit<AgentEventBase, 'bookmark'>;
type Decide = Extract<AgentEvent, { type: 'permission_required' }>['respond'];

export interface EventLogParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly activeWork: Pick<ActiveWork, 'read' | 'closed'>;
  readonly decide: (callId: string, ...answer: Parameters<Decide>) => ReturnType<Decide>;
}

const PAGE = 200;
const KIND = 'event';

/** The events of one agent: written into its journal, then told. */
export class EventLog {
  readonly #parts: EventLogParts;
  readonly #journal: Journal;
  readonly #handlers: Map<AgentEventType, Set<(event: never) => unknown>> = new Map();
  /** The channels of each subscription that is being read. */
  readonly #subscriptions: Set<readonly Channel[]> = new Set();
  #hasWarned = false;

  #newest: number;

  /** `newest`: the bookmark of the last event of an agent that was resumed. */
  constructor(parts: EventLogParts, journal: Journal, newest: number = 0) {
    this.#parts = parts;
    this.#journal = journal;
    this.#newest = newest;
  }

  /** The bookmark of the newest event that is durable; 0: there is none. */
  get newest(): number {
    return this.#newest;
  }

  /** `agentId`: whose event it is, if it is passed on from a sub-agent. */
  emit(body: AgentEventBody, agentId: string = this.#journal.id): void {
    const stored: StoredEvent = { ...body, at: this.#parts.clock.now(), agentId };
    this.#journal.note({ kind: KIND, body: JSON.stringify(stored) });
    if (body.type === 'permission_required') this.#warnUnheard(body.call, agentId);
  }

  on<Type extends AgentEventType>(type: Type, handler: (event: AgentEventOf<Type>) => unknown): () => void {
    check('on', EVENT_TYPE(type, 'the type of the event') ?? callable(handler, 'handler'));
    const handlers = this.#handlers.get(type) ?? new Set();
    this.#handlers.set(type, handlers);
    handlers.add(handler);
    return () => void handlers.delete(handler);
  }

  /** Throws at once what is wrong with the options; the events come later. */
  subscribe(options: SubscribeOptions): AsyncGenerator<AgentEvent> {
    const problem = SUBSCRIPTION(options, '');
    if (problem !== null) throw new AgentError(failure('body_invalid', `subscribe: ${problem}`));
    return this.#follow(options);
  }

  /** Old events and new ones are read the same way, so that there is no seam at which one could be lost or doubled. */
  async *#follow({ since = 0, channels = CHANNELS, signal }: SubscribeOptions): AsyncGenerator<AgentEvent> {
    const { activeWork } = this.#parts;
    const ended = signal === undefined ? activeWork.closed : AbortSignal.any([activeWork.closed, signal]);
    const reading = [...channels];
    this.#subscriptions.add(reading);
    try {
      let last = since;
      for (;;) {
        const entries = await activeWork.read(() => this.#after(last, ended));
        if (entries.length === 0) return;
        for (const entry of entries) {
          if (signal?.aborted === true) return;
          last = entry.no;
          const event = this.#event(entry);
          if (reading.includes(event.channel)) yield event;
        }
      }
    } finally {
      this.#subscriptions.delete(reading);
    }
  }

  /** The next ones, as soon as there are any. None: it has ended. */
  async #after(last: number, ended: AbortSignal): Promise<readonly JournalEntry[]> {
    // Whoever comes back for more after the end finds the store closed.
    if (ended.aborted) return [];
    for (;;) {
      const upTo = this.#journal.last;
      const hasEnded = isAborted(ended);
      const entries = await this.#journal.read(last, PAGE, [KIND]);
      if (entries.length > 0 || hasEnded) return entries;
      await this.#journal.grown(upTo, ended);
    }
  }

  /** Of an entry that is durable now. */
  tell(entry: JournalEntry): void {
    if (entry.kind !== KIND) return;
    this.#newest = entry.no;
    if (this.#handlers.size === 0) return;
    const event = this.#event(entry);
    for (const handler of this.#handlers.get(event.type) ?? []) this.#tellOne(handler, event);
  }

  /** Once for each agent: an operator may decide on all of its calls over the network. */
  #warnUnheard({ id, name }: ToolCallSnapshot, agentId: string): void {
    if (this.#hasWarned || this.#isHeard('permission_required')) return;
    this.#hasWarned = true;
    this.#parts.log.warn('agent.permission_unheard', {
      type: 'permission_required',
      agent_id: agentId,
      tool_call_id: id,
      tool_name: name,
      message: UNHEARD,
    });
  }

  #isHeard(type: AgentEventType): boolean {
    if ((this.#handlers.get(type)?.size ?? 0) > 0) return true;
    return [...this.#subscriptions].some((channels) => channels.includes(CHANNEL_OF[type]));
  }

  /** A handler that fails is a fault of whoever gave it; the agent goes on. */
  #tellOne(handler: (event: never) => unknown, event: AgentEvent): void {
    const report = (error: unknown): void =>
      this.#parts.log.error('agent.handler_failed', { type: event.type, error: messageOf(error) });
    try {
      const answer = handler(event as never);
      if (answer instanceof Promise) answer.catch(report);
    } catch (error) {
      report(error);
    }
  }

  #event(entry: JournalEntry): AgentEvent {
    const stored = { ...(JSON.parse(entry.body) as StoredEvent), bookmark: entry.no };
    if (stored.type !== 'permission_required') return stored;
    return { ...stored, respond: (...answer) => this.#parts.decide(stored.call.id, ...answer) };
  }
}
