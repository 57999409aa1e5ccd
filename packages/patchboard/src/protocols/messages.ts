/** One turn of a conversation with a model. Tool results are part of user messages. */
export type Message = UserMessage | AssistantMessage;

export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly (TextBlock | ToolResultBlock)[];
  readonly metadata?: { readonly toolCall: readonly ToolCallNote[] };
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly (TextBlock | ReasoningBlock | ToolUseBlock)[];
  /** The reply as the model wrote it, in text protocols. */
  readonly source?: string;
  /** The reply was cut off, by an interruption or by the model's token limit. */
  readonly incomplete?: true;
  readonly metadata?: { readonly toolCallsRequested: readonly ToolCallRequested[] };
}

/** A block of a message, on either side. */
export type ContentBlock = TextBlock | ReasoningBlock | ToolUseBlock | ToolResultBlock;

/** A tool call that a reply requested, for viewers of conversations. */
export interface ToolCallRequested {
  readonly requestId: string;
  readonly toolName: string;
  readonly callId: string;
}

/** The outcome of a requested tool call. */
export interface ToolCallNote extends ToolCallRequested {
  readonly status: 'success' | 'error';
  readonly durationMs: number;
}

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  /** Vendor data to send back with the block. */
  readonly providerMetadata?: ProviderMetadata;
}

export interface ReasoningBlock {
  readonly type: 'reasoning';
  readonly text: string;
  readonly providerMetadata?: ProviderMetadata;
}

/** A request of the model to run a tool. */
export interface ToolUseBlock {
  readonly type: 'tool_use';
  /** The id assigned by the model. */
  readonly id: string;
  /** The tool's registered name, or the name that the model wrote if there is no such tool. */
  readonly name: string;
  /** The arguments; a string if they are not JSON. */
  readonly input: unknown;
  /** The id of the recorded call. */
  readonly callId: string;
  /** True: a success is not reported to the model. */
  readonly noReply?: boolean;
  readonly providerMetadata?: ProviderMetadata;
}

/** The result of a `tool_use`. `content` is the value itself; vendor protocols send it as text. */
export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: unknown;
  readonly is_error: boolean;
}

export type Json = null | string | number | boolean | { [key: string]: Json | undefined } | Json[];
export type ProviderMetadata = Record<string, { [key: string]: Json | undefined }>;
