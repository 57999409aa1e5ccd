import type { AgentHandle } from '../core/agent-handle.ts';
import type { Hooks } from '../core/hooks/hooks.ts';
import type { Message } from '../protocols/messages.ts';

/** The hooks of an agent, a board or a tool: those of every call, and one for an agent's conversation. */
export interface AgentHooks extends Hooks {
  /** The conversation of an agent in this process has grown. What it throws is reported and changes nothing. */
  messagesChanged?(messages: readonly Message[], agent?: AgentHandle): void | Promise<void>;
}
