import type { ReasonView } from '@patchboard/wire';
import type { AssistantMessage, Message, ToolUseBlock } from '../../protocols/messages.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import type { KnownPart, ModelRequest } from '../loop/model.ts';
import type { PictureParts } from './result-output.ts';

/**
 * Encodes tools and results for a model, and decodes tool requests from its replies: as the vendor's tool calls, or as
 * text. The agent loop itself handles only blocks.
 */
export interface Dialect {
  readonly name: string;
  /** Returns the request for the next reply. */
  encode(conversation: Conversation): Pick<ModelRequest, 'prompt' | 'tools'>;
  /** Returns a reader for one reply; `number` is its position among the replies of the conversation. */
  reader(tools: readonly RegisteredTool[], number: number): ReplyReader;
}

export interface Conversation {
  /** Null if there is no system prompt. */
  readonly system: string | null;
  readonly messages: readonly Message[];
  readonly tools: readonly RegisteredTool[];
  /** How the model takes pictures in tool results. Default: not at all. */
  readonly pictures?: PictureParts;
}

/** Decodes a reply incrementally. */
export interface ReplyReader {
  /** Takes the next part and returns the text to show to the user, which may be empty. */
  take(part: KnownPart): string;
  /** The complete requests so far, in order. Each may start immediately. */
  readonly requests: readonly ToolRequest[];
  /** Returns the reply so far, without incomplete requests. */
  reply(): Reply;
}

export interface Reply {
  readonly content: readonly (Exclude<AssistantMessage['content'][number], ToolUseBlock> | ToolRequest)[];
  /** The raw text of the reply, if the blocks do not represent all of it. */
  readonly source?: string;
}

/** A tool request that has no call yet. */
export interface ToolRequest extends Omit<ToolUseBlock, 'callId'> {
  /** Set if the arguments could not be parsed. The request is not run, and the model receives this text. */
  readonly problem?: string;
  /** What `problem` was made from; absent in a dialect that has no codes for it. */
  readonly reasons?: readonly ReasonView[];
}
