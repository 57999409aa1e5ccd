import type { FailureCode, ReasonView } from '@patchboard/wire';
import type { ToolDefinitionInput } from './tool-module.ts';

/** A call that a model asked for, before anybody looked whether the tool exists. */
export interface ParsedToolRequest {
  readonly requestId: string;
  readonly toolName: string;
  /** The second half of the name, where a dialect writes it apart. */
  readonly command?: string;
  /** The request as it stands in the reply. */
  readonly rawBlock: string;
  /** Text in text protocols, any JSON in the others. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Keys with a meaning of their own to the dialect; arguments only where the schema has them. */
  readonly meta?: Readonly<Record<string, string>>;
  /** The model does not want to hear of success. */
  readonly noReply?: boolean;
  /** Where it begins in the reply, in UTF-16 units from 0. */
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
  /** Stands for those beyond the number that is listed. */
  | 'problems_omitted';

/** A request that cannot be run. The message is for the model: what is wrong and what to write instead. */
export interface ParseError {
  readonly code: ParseErrorCode;
  readonly message: string;
  /** What the message was made from. */
  readonly reasons: readonly ReasonView[];
  readonly offset: number;
  /** As far as they could be read: the answer goes to the request they name. */
  readonly requestId?: string;
  readonly toolName?: string;
  /** Of `problems_omitted`: how many it stands for. */
  readonly count?: number;
}

/** What a reply turns out to hold, in its order. */
export type ReplyItem =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'request'; readonly request: ParsedToolRequest }
  | { readonly kind: 'error'; readonly error: ParseError };

export interface ToolExecutionResult {
  readonly requestId: string;
  readonly toolName: string;
  readonly status: 'success' | 'error';
  /** The returned value as text, or what went wrong. */
  readonly result: string;
  readonly durationMs: number;
  /** Why it failed. */
  readonly code?: FailureCode;
  /** The record of the call, if there is one. */
  readonly callId?: string;
  /** The model does not want to hear of success. */
  readonly noReply?: boolean;
}

/**
 * How a model and the tools talk: how tools are shown, calls are asked for and results are told.
 * Pure: a reply is read with `begin`, `step` for every piece of text and `finish`, and what comes out does not
 * depend on where the pieces were cut. `State` belongs to the protocol; an old one stays good.
 */
export interface ToolCallingProtocol<State = unknown> {
  readonly id: string;
  /** `text`: the reply is what the model wrote. `json`: it is the vendor's answer, a body or an event stream. */
  readonly replies: 'text' | 'json';
  generateToolDefinitions(input: readonly ToolDefinitionInput[]): string;
  parseToolRequests(finalText: string): ParsedToolRequest[];
  formatToolResults(results: readonly ToolExecutionResult[]): string;
  begin(): State;
  step(state: State, chunk: string): readonly [State, readonly ReplyItem[]];
  /** The reply is over: what is still open is damaged. */
  finish(state: State): readonly ReplyItem[];
}
