import type { AssistantMessage, Message, ToolUseBlock } from '../../protocols/messages.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import type { KnownPart, ModelRequest } from '../loop/model.ts';

/**
 * How tools are offered to a model, and how its requests and their results are put into words. The loop knows only
 * blocks; whether they travel as tool calls of the vendor or stand in the text is the dialect's affair.
 */
export interface Dialect {
  readonly name: string;
  /** The whole request for the next reply. */
  encode(conversation: Conversation): Pick<ModelRequest, 'prompt' | 'tools'>;
  /** For one reply; `number` counts the replies of the conversation. */
  reader(tools: readonly RegisteredTool[], number: number): ReplyReader;
}

export interface Conversation {
  /** Null: none. */
  readonly system: string | null;
  readonly messages: readonly Message[];
  readonly tools: readonly RegisteredTool[];
}

/** Reads a reply as it arrives. */
export interface ReplyReader {
  /** The text that a reader of the conversation may see now; empty when there is none. */
  take(part: KnownPart): string;
  /** Those that are whole so far, in order: each may start at once. */
  readonly requests: readonly ToolRequest[];
  /** The reply so far; also when it was cut short, and then without requests that are not whole. */
  reply(): Reply;
}

export interface Reply {
  readonly content: readonly (Exclude<AssistantMessage['content'][number], ToolUseBlock> | ToolRequest)[];
  /** The reply as it was written, if the blocks do not say it all. */
  readonly source?: string;
}

/** A request before there is a call for it. */
export interface ToolRequest extends Omit<ToolUseBlock, 'callId'> {
  /** The arguments could not be read: nothing is run, and the model is told this. */
  readonly problem?: string;
}
