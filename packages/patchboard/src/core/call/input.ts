import type { InputAction, InputKind, JsonSchema } from '@patchboard/wire';
import type { Call } from './call.ts';
import { kindOf, type SamplingParams } from './input-kinds.ts';

/** A schema of a validation library such as zod. */
export interface LibrarySchema<Content = unknown> {
  readonly '~standard': { readonly types?: { readonly output: Content } | undefined };
}

/** The type of the content that a schema describes; unknown for a JSON Schema. */
export type ContentOf<Schema> = Schema extends LibrarySchema<infer Content> ? Content : unknown;

/** What a tool asks its caller for. At most one of `schema`, `url`, `sampling` and `roots` is set; with none it is a form. */
export interface InputRequest<Schema = JsonSchema> {
  /** The question, for the caller's user. */
  readonly message: string;
  /** Schema of the content of a form. Default: `{ "type": "object" }`. */
  readonly schema?: Schema;
  /** A link that the caller's user is to visit, with `http:` or `https:`. The response has no content. */
  readonly url?: string;
  /** Parameters of `sampling/createMessage` of MCP, for the caller's language model. The content is its result. */
  readonly sampling?: SamplingParams;
  /** Asks for the caller's roots, as `roots/list` of MCP. The content is `{ roots: [{ uri, name? }] }`. */
  readonly roots?: true;
  /**
   * For a returned request: the tool runs again also if the caller declines, and handles that itself. Default: the call
   * ends with `input_declined`.
   */
  readonly handlesDecline?: boolean;
}

export type RequestsByKey = Readonly<Record<string, InputRequest>>;

export interface InputResponse {
  readonly action: InputAction;
  /** Fits the schema of the request; null for a link and for a declined request. */
  readonly content: unknown;
}

/** One input request of a call, as it is stored. */
export interface InputRound {
  /** Unique within the call. */
  readonly id: string;
  /** The tool's own name for it; requests that were returned together have one each. */
  readonly key: string;
  /** Requests that were returned together have the same number. Starts with 1. */
  readonly round: number;
  readonly message: string;
  /** Null: the request is a link. */
  readonly schema: JsonSchema | null;
  readonly url: string | null;
  /** Present if the request is for a message of the caller's language model. */
  readonly sampling?: SamplingParams;
  /** Present if the request is for the caller's roots. */
  readonly roots?: true;
  /** The attempt waits for the response and keeps its slot. Otherwise it is over, and the tool runs again. */
  readonly held: boolean;
  /** The attempt that asked. */
  readonly attempt: number;
  readonly handlesDecline: boolean;
  readonly requestedAt: number;
  readonly expiresAt: number;
  /** What is left of the tool's time. The tool's clock stops while the request is open. */
  readonly remainingMs: number;
  /** JSON text of what a tool that returned the request keeps for its next run; absent: nothing. */
  readonly carryJson?: string;
  readonly response: StoredResponse | null;
}

/** A response as JSON text, so that a tool cannot change what is recorded. */
export interface StoredResponse {
  readonly action: InputAction;
  /** Null for a link and for a declined request. */
  readonly contentJson: string | null;
  readonly at: number;
}

/** Requests that may be returned together. */
export const MAX_REQUESTS_OF_ROUND = 20;

/** A call may ask its caller this often. */
export const MAX_INPUT_ROUNDS = 10;

/** Upper bound on the JSON text of one response, and of what a tool keeps for its next run. */
export const INPUT_CONTENT_BYTES = 65_536;

/**
 * What a tool returns instead of a result to ask its caller. The attempt is over, its slot is free, and the request
 * survives restarts. With the responses the tool runs again: `context.inputs` has them by key.
 */
export class InputRequired {
  readonly requests: Readonly<Record<string, InputRequest>>;
  readonly carry: unknown;

  constructor(requests: Readonly<Record<string, InputRequest>>, carry?: unknown) {
    this.requests = requests;
    this.carry = carry;
  }
}

/** The requests that were made last and have no response. */
export function openRequests({ inputs }: Pick<Call, 'inputs'>): readonly InputRound[] {
  const last = inputs.at(-1)?.round;
  return inputs.filter(({ round, response }) => round === last && response === null);
}

/** What callers see of a request, except its times. */
export interface ShownRequest {
  readonly id: string;
  readonly kind: InputKind;
  readonly message: string;
  readonly schema?: JsonSchema;
  readonly url?: string;
  readonly sampling?: SamplingParams;
}

export function shownRequest(round: InputRound): ShownRequest {
  const { id, message, schema, url, sampling } = round;
  return {
    id,
    kind: kindOf(round),
    message,
    ...(schema === null ? {} : { schema }),
    ...(url === null ? {} : { url }),
    ...(sampling === undefined ? {} : { sampling }),
  };
}

/** Whether the call waits for its caller. After the last response it may still wait for a slot. */
export function waitsForInput(call: Call): boolean {
  return call.state.name === 'INPUT_REQUIRED' && openRequests(call).length > 0;
}

/** The responses by key, for a tool that runs again. The newest of a key counts. */
export function responsesByKey({ inputs }: Pick<Call, 'inputs'>): Readonly<Record<string, InputResponse>> {
  const responses: Record<string, InputResponse> = {};
  for (const { key, response } of inputs) if (response !== null) responses[key] = responseOf(response);
  return responses;
}

export function responseOf({ action, contentJson }: StoredResponse): InputResponse {
  return { action, content: contentJson === null ? null : (JSON.parse(contentJson) as unknown) };
}

/** What the tool kept for its next run; undefined: nothing. */
export function carriedState({ inputs }: Pick<Call, 'inputs'>): unknown {
  const text = inputs.findLast(({ carryJson }) => carryJson !== undefined)?.carryJson;
  return text === undefined ? undefined : (JSON.parse(text) as unknown);
}

/** The length of the texts that are held in memory while the call is open. */
export function inputCharacters({ inputs, offered = {} }: Pick<Call, 'inputs' | 'offered'>): number {
  let characters = 0;
  for (const [key, { contentJson }] of Object.entries(offered))
    characters += key.length + (contentJson?.length ?? 0);
  for (const { message, schema, sampling, carryJson, response } of inputs) {
    characters += message.length + (carryJson?.length ?? 0) + (response?.contentJson?.length ?? 0);
    if (schema !== null) characters += JSON.stringify(schema).length;
    if (sampling !== undefined) characters += JSON.stringify(sampling).length;
  }
  return characters;
}

/**
 * What is left of the tool's time if the next execution continues a returned request; null if it is a new attempt.
 */
export function continuedMs(call: Call): number | null {
  const last = call.inputs.at(-1);
  if (call.state.name !== 'INPUT_REQUIRED' || last === undefined || last.held) return null;
  return last.remainingMs;
}
