/** One turn of a conversation with a model. Tool results are what the user's side answers. */
export type Message = UserMessage | AssistantMessage;

export interface UserMessage {
  readonly role: 'user';
  readonly content: readonly (TextBlock | ToolResultBlock)[];
  readonly metadata?: { readonly toolCall: readonly ToolCallNote[] };
}

export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly (TextBlock | ReasoningBlock | ToolUseBlock)[];
  /** The reply as the model wrote it, where requests stand in the text. */
  readonly source?: string;
  /** It was cut short: by an interruption, or by the model's own limit. */
  readonly incomplete?: true;
  readonly metadata?: { readonly toolCallsRequested: readonly ToolCallRequested[] };
}

/** A block of a message, on either side. */
export type ContentBlock = TextBlock | ReasoningBlock | ToolUseBlock | ToolResultBlock;

/** What a reply asked for, for those who look at conversations. */
export interface ToolCallRequested {
  readonly requestId: string;
  readonly toolName: string;
  readonly callId: string;
}

/** What became of it. */
export interface ToolCallNote extends ToolCallRequested {
  readonly status: 'success' | 'error';
  readonly durationMs: number;
}

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  /** What the vendor wants to see again with it. */
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
  /** The model's own id for it. */
  readonly id: string;
  /** The tool's name here, or whatever the model said if there is no such tool. */
  readonly name: string;
  /** The arguments; what is no JSON is kept as the text it is. */
  readonly input: unknown;
  /** The call that was recorded for it. */
  readonly callId: string;
  /** Its success is not told to the model. */
  readonly noReply?: boolean;
  readonly providerMetadata?: ProviderMetadata;
}

/** What a model gets for a `tool_use`. `content` is the value itself; a vendor's wire writes it as text. */
export interface ToolResultBlock {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly content: unknown;
  readonly is_error: boolean;
}

export type Json = null | string | number | boolean | { [key: string]: Json | undefined } | Json[];
export type ProviderMetadata = Record<string, { [key: string]: Json | undefined }>;
