import type { AgentHandle } from '../../core/agent-handle.ts';
import { messageOf } from '../../core/failures.ts';
import type { AgentHooks } from '../../sdk/agent-hooks.ts';
import type { AssistantMessage, Message, ToolUseBlock } from '../../protocols/messages.ts';
import { withTimeLimit } from '../../core/time-limit.ts';
import type { AgentHost } from '../agent-host.ts';
import type { EventLog } from '../events/event-log.ts';
import type { Journal } from './journal.ts';

export interface TranscriptParts {
  readonly host: Pick<AgentHost, 'clock' | 'hookTimeoutMs' | 'redact'>;
  readonly journal: Journal;
  readonly events: EventLog;
  readonly hooks: readonly AgentHooks[];
  readonly agent: AgentHandle;
}

export const MESSAGE = 'message';
/** A reply that is still being written, as far as something follows from it already. */
export const PARTIAL = 'partial';

/** What was said so far. A message is durable before anything follows from it. */
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

  /** It is the model's turn, or a tool's. */
  get isUnfinished(): boolean {
    const last = this.#messages.at(-1);
    if (last === undefined) return false;
    return last.role === 'user' || requestsOf(last).length > 0;
  }

  async add(message: Message): Promise<void> {
    const { journal, host } = this.#parts;
    await journal.append({ kind: MESSAGE, body: JSON.stringify(toKeep(message, host.redact)) });
    this.#messages = [...this.#messages, message];
    for (const hooks of this.#parts.hooks) await this.#tell(hooks);
  }

  /** Durable, in case nobody lives to see the whole of it; the whole reply takes its place. */
  async keepPartial(message: AssistantMessage): Promise<void> {
    const { journal, host } = this.#parts;
    await journal.append({ kind: PARTIAL, body: JSON.stringify(toKeep(message, host.redact)) });
  }

  /** Such a hook only looks: what goes wrong in it is reported, and the conversation goes on. */
  async #tell(hooks: AgentHooks): Promise<void> {
    if (hooks.messagesChanged === undefined) return;
    const { host, events, agent } = this.#parts;
    const report = (problem: string): void =>
      events.emit({
        channel: 'monitor',
        type: 'error',
        code: 'internal',
        message: `messagesChanged ${problem}`,
      });
    const told = async (): Promise<void> => {
      try {
        await hooks.messagesChanged?.(this.#messages, agent);
      } catch (error) {
        report(`failed: ${messageOf(error)}`);
      }
    };
    await withTimeLimit(host.clock, host.hookTimeoutMs, told(), () =>
      report(`took more than ${host.hookTimeoutMs} ms`),
    );
  }
}

/** Arguments are kept here no longer than with the call: what is redacted there is never written here. */
function toKeep(message: Message, redact: AgentHost['redact']): Message {
  if (message.role === 'user') return message;
  const content = message.content.map((block) =>
    block.type === 'tool_use' ? { ...block, input: redact(block.input) } : block,
  );
  return { ...message, content };
}

export function requestsOf({ content }: AssistantMessage): readonly ToolUseBlock[] {
  return content.filter((block) => block.type === 'tool_use');
}

/** What the model said in words. */
export function textOf(message: Message | undefined): string {
  if (message?.role !== 'assistant') return '';
  return message.content
    .filter((block) => block.type === 'text')
    .map(({ text }) => text)
    .join('');
}
