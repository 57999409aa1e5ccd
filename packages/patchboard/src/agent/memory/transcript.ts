import type { AgentHandle } from '../../core/agent-handle.ts';
import { messageOf } from '../../core/failures.ts';
import type { AgentHooks } from '../../sdk/agent-hooks.ts';
import type { AssistantMessage, Message, ToolUseBlock } from '../../protocols/messages.ts';
import { withTimeLimit } from '../../core/time-limit.ts';
import type { AgentHost } from '../agent-host.ts';
import type { EventLog } from '../events/event-log.ts';
import type { Journal } from './journal.ts';
import { withoutPictures } from './stored-pictures.ts';

export interface TranscriptParts {
  readonly host: Pick<AgentHost, 'clock' | 'hookTimeoutMs' | 'redact'>;
  readonly journal: Journal;
  readonly events: EventLog;
  readonly hooks: readonly AgentHooks[];
  readonly agent: AgentHandle;
}

export const MESSAGE = 'message';
/** The part of a streaming reply that contains requests which may already have started. */
export const PARTIAL = 'partial';

/** The messages of a conversation. Each is durable before the agent acts on it. */
export class Transcript {
  readonly #parts: TranscriptParts;
  #messages: readonly Message[];

  constructor(parts: TranscriptParts, messages: readonly Message[] = []) {
    this.#parts = parts;
    this.#messages = messages;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Requests of the last reply that have no result yet. */
  get openRequests(): readonly ToolUseBlock[] {
    const last = this.#messages.at(-1);
    return last?.role === 'assistant' ? requestsOf(last) : [];
  }

  /** Whether a model reply or tool result is missing. */
  get isUnfinished(): boolean {
    const last = this.#messages.at(-1);
    if (last === undefined) return false;
    return last.role === 'user' || requestsOf(last).length > 0;
  }

  async add(message: Message): Promise<void> {
    const { journal, host } = this.#parts;
    await journal.append({ kind: MESSAGE, body: JSON.stringify(redacted(message, host.redact)) });
    this.#messages = [...this.#messages, message];
    for (const hooks of this.#parts.hooks) await this.#notify(hooks);
  }

  /** Stores a partial reply in case of a crash; the complete reply replaces it. */
  async keepPartial(message: AssistantMessage): Promise<void> {
    const { journal, host } = this.#parts;
    await journal.append({ kind: PARTIAL, body: JSON.stringify(redacted(message, host.redact)) });
  }

  /** Calls a hook that only observes: its errors are reported and do not affect the conversation. */
  async #notify(hooks: AgentHooks): Promise<void> {
    if (hooks.messagesChanged === undefined) return;
    const { host, events, agent } = this.#parts;
    const report = (problem: string): void =>
      events.emit({
        channel: 'monitor',
        type: 'error',
        code: 'internal',
        message: `messagesChanged ${problem}`,
      });
    const callHook = async (): Promise<void> => {
      try {
        await hooks.messagesChanged?.(this.#messages, agent);
      } catch (error) {
        report(`failed: ${messageOf(error)}`);
      }
    };
    await withTimeLimit(host.clock, host.hookTimeoutMs, callHook(), () =>
      report(`took more than ${host.hookTimeoutMs} ms`),
    );
  }
}

/** Redacts arguments like those of the stored call, and leaves pictures to its record. */
function redacted(message: Message, redact: AgentHost['redact']): Message {
  if (message.role === 'user') return withoutPictures(message);
  const content = message.content.map((block) =>
    block.type === 'tool_use' ? { ...block, input: redact(block.input) } : block,
  );
  return { ...message, content };
}

export function requestsOf({ content }: AssistantMessage): readonly ToolUseBlock[] {
  return content.filter((block) => block.type === 'tool_use');
}

/** Returns the text of a model reply. */
export function textOf(message: Message | undefined): string {
  if (message?.role !== 'assistant') return '';
  return message.content
    .filter((block) => block.type === 'text')
    .map(({ text }) => text)
    .join('');
}
