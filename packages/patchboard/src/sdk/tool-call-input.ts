import type { InputAction, InputKind, JsonSchema } from '@patchboard/wire';
import type { Call } from '../core/call/call.ts';
import {
  openRequests,
  responseOf,
  shownRequest,
  waitsForInput,
  type InputRound,
} from '../core/call/input.ts';
import type { SamplingParams } from '../core/call/input-kinds.ts';
import { anything, object, oneOf, text, type Rule } from './shape.ts';

/** What a running tool needs from its caller. */
export interface ToolCallInputRequest {
  readonly id: string;
  readonly kind: InputKind;
  /** The question, for the caller's user. */
  readonly message: string;
  /** JSON Schema of the content; absent if the request is a link. */
  readonly schema?: JsonSchema;
  /** A link that the caller's user is to visit. The response has no content. */
  readonly url?: string;
  /** Parameters of `sampling/createMessage` of MCP, for the caller's language model. The content is its result. */
  readonly sampling?: SamplingParams;
  /** Epoch milliseconds. The call ends with `input_expired` then. */
  readonly expiresAt: number;
}

/** An input request of a call with its response. */
export interface ToolCallInput extends ToolCallInputRequest {
  readonly requestedAt: number;
  /** Absent until the caller responds. */
  readonly action?: InputAction;
  readonly content?: unknown;
  readonly respondedAt?: number;
}

/** An input request with its call. */
export interface PendingInputRequest extends ToolCallInputRequest {
  readonly callId: string;
  readonly toolName: string;
}

/** What a handler of input requests returns to decline one. */
export const DECLINE_INPUT: unique symbol = Symbol.for('patchboard.decline-input');

/**
 * Returns the content for an input request, or a promise of it; `DECLINE_INPUT` to decline; anything for a link that was
 * visited. What it throws declines the request and is logged.
 */
export type OnInputRequest = (request: PendingInputRequest) => unknown;

/** The response to one input request of a call. */
export interface RespondInputOptions {
  /** The id of the input request. */
  readonly id: string;
  /** Default: `accept`. */
  readonly action?: InputAction;
  /** Fits the schema of the request. Omitted for a link. */
  readonly content?: unknown;
}

const RESPONSE = object<RespondInputOptions>({
  id: text,
  action: oneOf(['accept', 'decline']),
  content: anything,
});

/** The id is required: a program must not respond to another question than the one it has read. */
export const RESPOND_INPUT: Rule = (value, place) =>
  RESPONSE(value, place) ?? text((value as RespondInputOptions).id, 'id');

/** The requests that wait for the caller, in order. */
export function pendingInputs(call: Call): PendingInputRequest[] {
  if (!waitsForInput(call)) return [];
  const { id: callId, toolName } = call;
  return openRequests(call).map((round) => ({ ...requestOf(round), callId, toolName }));
}

export function inputsOf({ inputs }: Call): ToolCallInput[] {
  return inputs.map((round) => ({ ...requestOf(round), ...responseFields(round) }));
}

function requestOf(round: InputRound): ToolCallInputRequest {
  return { ...shownRequest(round), expiresAt: round.expiresAt };
}

function responseFields({
  requestedAt,
  response,
}: InputRound): Omit<ToolCallInput, keyof ToolCallInputRequest> {
  if (response === null) return { requestedAt };
  const { action, content } = responseOf(response);
  return { requestedAt, action, ...(action === 'accept' ? { content } : {}), respondedAt: response.at };
}
