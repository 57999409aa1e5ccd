import { reason } from '@patchboard/wire';
import { messageOf } from '../../core/failures.ts';
import type { JournalEntry } from '../../core/journals.ts';
import type { Clock, Log } from '../../core/ports.ts';
import { callable, must, object, oneOf, someOf, wholeNumber } from '../../sdk/shape.ts';
import type { RespondInputOptions } from '../../sdk/tool-call-input.ts';
import type { ToolCallRecord } from '../../sdk/tool-call-record.ts';
import type { ToolCallSnapshot } from '../../sdk/tool-call-snapshot.ts';
import { check } from '../agent-error.ts';
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
  /** Bookmark of the last event that was received. Default: start with the first event. */
  readonly since?: number;
  /** Default: all channels. */
  readonly channels?: readonly Channel[];
  /** Ends the subscription when aborted. Closing the board ends it too. */
  readonly signal?: AbortSignal;
}

const SUBSCRIPTION = object<SubscribeOptions>({
  since: wholeNumber(0),
  channels: someOf(CHANNELS),
  signal: must(reason('must_be_abort_signal'), (value) => value instanceof AbortSignal),
});

const EVENT_TYPE = oneOf(Object.keys(CHANNEL_OF));

const NO_LISTENER =
  'the agent waits for a decision and nothing listens for it: ' +
  "agent.on('permission_required', ({ call, respond }) => …), agent.subscribe(), or board.decide(call.id, …)";

const NO_INPUT_LISTENER =
  'a call of the agent waits for input and nothing listens for it: ' +
  "agent.on('input_required', ({ request, respond }) => …), agent.subscribe(), or agent.respondInput(call.id, …)";

type StoredEvent = AgentEventBody & Omit<AgentEventBase, 'bookmark'>;
type Decide = Extract<AgentEvent, { type: 'permission_required' }>['respond'];

export interface EventLogParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly activeWork: Pick<ActiveWork, 'read' | 'closed'>;
  readonly decide: (callId: string, ...args: Parameters<Decide>) => ReturnType<Decide>;
  readonly respondInput: (callId: string, response: RespondInputOptions) => Promise<ToolCallRecord>;
}

const PAGE = 200;
const KIND = 'event';

/** The events of one agent. Each is written to the journal before it is delivered to handlers. */
export class EventLog {
  readonly #parts: EventLogParts;
  readonly #journal: Journal;
  readonly #handlers: Map<AgentEventType, Set<(event: never) => unknown>> = new Map();
  /** The channels of each active subscription. */
  readonly #subscriptions: Set<readonly Channel[]> = new Set();
  #hasWarned = false;
  #hasWarnedOfInput = false;

  #newest: number;

  /** `newest` is the bookmark of the last event of a resumed agent. */
  constructor(parts: EventLogParts, journal: Journal, newest: number = 0) {
    this.#parts = parts;
    this.#journal = journal;
    this.#newest = newest;
  }

  /** Bookmark of the newest durable event; 0 if there is none. */
  get newest(): number {
    return this.#newest;
  }

  /** `agentId` differs from the own id for events forwarded from a sub-agent. */
  emit(body: AgentEventBody, agentId: string = this.#journal.id): void {
    const stored: StoredEvent = { ...body, at: this.#parts.clock.now(), agentId };
    this.#journal.note({ kind: KIND, body: JSON.stringify(stored) });
    if (body.type === 'permission_required') this.#warnWithoutListener(body.call, agentId);
    else if (body.type === 'input_required') this.#warnOfInput(body.call, agentId);
  }

  on<Type extends AgentEventType>(type: Type, handler: (event: AgentEventOf<Type>) => unknown): () => void {
    check('on', EVENT_TYPE(type, 'the type of the event') ?? callable(handler, 'handler'));
    const handlers = this.#handlers.get(type) ?? new Set();
    this.#handlers.set(type, handlers);
    handlers.add(handler);
    return () => void handlers.delete(handler);
  }

  /** Throws immediately for invalid options. */
  subscribe(options: SubscribeOptions): AsyncGenerator<AgentEvent> {
    check('subscribe', SUBSCRIPTION(options, ''));
    return this.#follow(options);
  }

  /** Reads stored and new events the same way, so that none is lost or duplicated at the transition. */
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

  /** Resolves with the next entries as soon as there are any, or with none when the subscription has ended. */
  async #after(last: number, ended: AbortSignal): Promise<readonly JournalEntry[]> {
    // After the end the store is closed.
    if (ended.aborted) return [];
    for (;;) {
      const upTo = this.#journal.last;
      const hasEnded = isAborted(ended);
      const entries = await this.#journal.read(last, PAGE, [KIND]);
      if (entries.length > 0 || hasEnded) return entries;
      await this.#journal.grown(upTo, ended);
    }
  }

  /** Calls the handlers for an entry that has become durable. */
  deliver(entry: JournalEntry): void {
    if (entry.kind !== KIND) return;
    this.#newest = entry.no;
    if (this.#handlers.size === 0) return;
    const event = this.#event(entry);
    for (const handler of this.#handlers.get(event.type) ?? []) this.#callHandler(handler, event);
  }

  /** Warns once per agent, because an operator may intend to decide on its calls over the network. */
  #warnWithoutListener({ id, name }: ToolCallSnapshot, agentId: string): void {
    if (this.#hasWarned || this.hasListener('permission_required')) return;
    this.#hasWarned = true;
    this.#parts.log.warn('agent.permission_unheard', {
      type: 'permission_required',
      agent_id: agentId,
      tool_call_id: id,
      tool_name: name,
      message: NO_LISTENER,
    });
  }

  /** A call that waits for input although nothing listens was submitted when something did. */
  #warnOfInput({ id, name }: ToolCallSnapshot, agentId: string): void {
    if (this.#hasWarnedOfInput || this.hasListener('input_required')) return;
    this.#hasWarnedOfInput = true;
    this.#parts.log.warn('agent.input_unheard', {
      type: 'input_required',
      agent_id: agentId,
      tool_call_id: id,
      tool_name: name,
      message: NO_INPUT_LISTENER,
    });
  }

  /** Whether a handler or a subscription would receive an event of this type. */
  hasListener(type: AgentEventType): boolean {
    if ((this.#handlers.get(type)?.size ?? 0) > 0) return true;
    return [...this.#subscriptions].some((channels) => channels.includes(CHANNEL_OF[type]));
  }

  /** A failing handler is logged and does not affect the agent. */
  #callHandler(handler: (event: never) => unknown, event: AgentEvent): void {
    const report = (error: unknown): void =>
      this.#parts.log.error('agent.handler_failed', { type: event.type, error: messageOf(error) });
    try {
      const returned = handler(event as never);
      if (returned instanceof Promise) returned.catch(report);
    } catch (error) {
      report(error);
    }
  }

  #event(entry: JournalEntry): AgentEvent {
    const stored = { ...(JSON.parse(entry.body) as StoredEvent), bookmark: entry.no };
    const { decide, respondInput } = this.#parts;
    switch (stored.type) {
      case 'permission_required':
        return { ...stored, respond: (...args: Parameters<Decide>) => decide(stored.call.id, ...args) };
      case 'input_required': {
        const { call, request } = stored;
        return {
          ...stored,
          respond: (content?: unknown) => respondInput(call.id, { id: request.id, content }),
          decline: () => respondInput(call.id, { id: request.id, action: 'decline' }),
        };
      }
      default:
        return stored;
    }
  }
}
