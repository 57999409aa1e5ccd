/** One reply of a scripted model. A string is a reply with only that text. */
export type ScriptedReply = string | ScriptedTurn;

export interface ScriptedTurn {
  /** Reasoning, with a signature, before the rest of the reply; Anthropic's format only. */
  readonly thinking?: string;
  readonly text?: string;
  /** The tool calls of the reply. */
  readonly calls?: readonly ScriptedCall[];
  /** Responds with this HTTP status instead of a reply. */
  readonly status?: number;
  /** Value of the `Retry-After` header in seconds, with `status`. */
  readonly retryAfter?: number;
  /** Ends the reply early: `hang` sends nothing more, `break` closes the connection. */
  readonly ending?: 'hang' | 'break';
}

export interface ScriptedCall {
  /** The tool's name; dots are converted to the wire name. */
  readonly name: string;
  /** An object, or a text that is sent unchanged. */
  readonly args?: unknown;
  /** Default: a generated id. */
  readonly id?: string;
}

/** A request that the model received. */
export interface SeenRequest {
  readonly format: 'openai' | 'openai-responses' | 'anthropic';
  /** Number of earlier requests. */
  readonly index: number;
  /** Names of the tools in the request. */
  readonly tools: readonly string[];
  /** The request body. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The replies in order, or a function that returns the reply to a request. */
export type Script = readonly ScriptedReply[] | ((request: SeenRequest) => ScriptedReply);

/** A reply with all defaults filled in, as the wire formats need it. */
export interface SpokenReply {
  readonly id: string;
  readonly model: string;
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly argsText: string }[];
}

/** Returns the reply to a request, or the problem if the script has none. */
export function nextReply(script: Script, request: SeenRequest): ScriptedTurn | { readonly problem: string } {
  const reply = typeof script === 'function' ? script(request) : script[request.index];
  if (reply === undefined) return { problem: missing(script, request.index + 1) };
  return typeof reply === 'string' ? { text: reply } : reply;
}

function missing(script: Script, request: number): string {
  if (typeof script === 'function') return `the script returned no reply to request ${request}`;
  const replies = script.length === 1 ? '1 reply' : `${script.length} replies`;
  return `the script has run out: it has ${replies}, and this is request ${request}`;
}

export function spoken(turn: ScriptedTurn, index: number, model: string): SpokenReply {
  const { thinking = '', text = '', calls = [] } = turn;
  return {
    id: `reply_${index + 1}`,
    model,
    thinking,
    text,
    calls: calls.map(({ name, args = {}, id }, position) => ({
      id: id ?? `call_${index + 1}_${position + 1}`,
      name: name.replaceAll('.', '__'),
      argsText: typeof args === 'string' ? args : JSON.stringify(args),
    })),
  };
}

/** Splits text into chunks of one word, as streamed. */
export function inPieces(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text]);
}

export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}
