import type { ContentValue, FailureCode, ReasonView } from '@patchboard/wire';
import type { ToolDefinitionInput } from './tool-module.ts';

/** A call requested by a model, before the tool is looked up. */
export interface ParsedToolRequest {
  readonly requestId: string;
  readonly toolName: string;
  /** The second half of the name, in dialects that write it separately. */
  readonly command?: string;
  /** The text of the request in the reply. */
  readonly rawBlock: string;
  /** Strings in text protocols, any JSON in the others. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Keys reserved by the dialect; they are arguments only if the schema has them. */
  readonly meta?: Readonly<Record<string, string>>;
  /** True: a success is not reported to the model. */
  readonly noReply?: boolean;
  /** The offset of the request in the reply, in UTF-16 units from 0. */
  readonly offset: number;
}

export type ParseErrorCode =
  | 'block_unclosed'
  | 'value_unclosed'
  | 'request_nested'
  | 'tool_name_missing'
  | 'key_duplicate'
  | 'batch_too_large'
  | 'text_unexpected'
  | 'reply_invalid'
  | 'reply_cut'
  | 'arguments_invalid'
  /** Represents the problems beyond the listed ones. */
  | 'problems_omitted';

/** A request that cannot be run. The message tells the model what is wrong and what to write instead. */
export interface ParseError {
  readonly code: ParseErrorCode;
  readonly message: string;
  /** The codes and parameters of the message. */
  readonly reasons: readonly ReasonView[];
  readonly offset: number;
  /** Set as far as they could be parsed. The result refers to this request. */
  readonly requestId?: string;
  readonly toolName?: string;
  /** For `problems_omitted`: the number of omitted problems. */
  readonly count?: number;
}

/** A part of a parsed reply, in the order of the reply. */
export type ReplyItem =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'request'; readonly request: ParsedToolRequest }
  | { readonly kind: 'error'; readonly error: ParseError };

export interface ToolExecutionResult {
  readonly requestId: string;
  readonly toolName: string;
  readonly status: 'success' | 'error';
  /** The returned value as text, or the error. */
  readonly result: string;
  /** The returned content, for the formats that can show more of it than text. */
  readonly content?: ContentValue;
  readonly durationMs: number;
  /** The failure code, if it failed. */
  readonly code?: FailureCode;
  /** The id of the recorded call, if there is one. */
  readonly callId?: string;
  /** True: a success is not reported to the model. */
  readonly noReply?: boolean;
}

/**
 * A tool-calling protocol: the format of tool definitions, requests and results.
 * Pure: a reply is parsed with `begin`, `step` for every piece of text and `finish`, and the items do not depend on
 * where the text is split. `State` is private to the protocol and immutable.
 */
export interface ToolCallingProtocol<State = unknown> {
  readonly id: string;
  /** `text`: the reply is text of the model. `json`: it is the vendor's response, a body or an event stream. */
  readonly replies: 'text' | 'json';
  generateToolDefinitions(input: readonly ToolDefinitionInput[]): string;
  parseToolRequests(finalText: string): ParsedToolRequest[];
  formatToolResults(results: readonly ToolExecutionResult[]): string;
  begin(): State;
  step(state: State, chunk: string): readonly [State, readonly ReplyItem[]];
  /** Called at the end of the reply: incomplete requests are damaged. */
  finish(state: State): readonly ReplyItem[];
}
