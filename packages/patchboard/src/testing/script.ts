/** One reply of a scripted model. A text alone is a reply that says it. */
export type ScriptedReply = string | ScriptedTurn;

export interface ScriptedTurn {
  /** Said before everything else, and signed; Anthropic's format only. */
  readonly thinking?: string;
  readonly text?: string;
  /** What the model asks for, all at once. */
  readonly calls?: readonly ScriptedCall[];
  /** Answers with this HTTP status instead of a reply. */
  readonly status?: number;
  /** For `status`: seconds after which to ask again. */
  readonly retryAfter?: number;
  /** Stops in the middle: `hang` says nothing more, `break` drops the connection. */
  readonly ending?: 'hang' | 'break';
}

export interface ScriptedCall {
  /** The tool's name; dots are written as models see them. */
  readonly name: string;
  /** An object, or a text to be sent as it is. */
  readonly args?: unknown;
  /** Default: made up. */
  readonly id?: string;
}

/** What the model was asked. */
export interface SeenRequest {
  readonly format: 'openai' | 'openai-responses' | 'anthropic';
  /** How many were asked before it. */
  readonly index: number;
  /** The names of the tools it was offered. */
  readonly tools: readonly string[];
  /** The whole body. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The replies in order, or a function that makes them up. */
export type Script = readonly ScriptedReply[] | ((request: SeenRequest) => ScriptedReply);

/** What a wire format needs of a reply: everything is there. */
export interface SpokenReply {
  readonly id: string;
  readonly model: string;
  readonly thinking: string;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly argsText: string }[];
}

/** A text: what is wrong with the script. */
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

/** In pieces, as a model speaks. */
export function inPieces(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text]);
}

export function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}
