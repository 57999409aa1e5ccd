import type { Json, ProviderMetadata } from '../../protocols/messages.ts';

/**
 * A language model of the AI SDK (`openai('…')`, `anthropic('…')` and their kind), typed by what is used of it, so that
 * which provider and which of its versions is the embedder's choice.
 */
export interface LanguageModel {
  readonly specificationVersion: 'v3' | 'v4';
  readonly provider: string;
  readonly modelId: string;
  doStream(request: ModelRequest): PromiseLike<{ readonly stream: ReadableStream<ModelPart> }>;
}

export interface ModelRequest extends ModelSettings {
  prompt: PromptMessage[];
  tools?: FunctionTool[];
  abortSignal?: AbortSignal;
}

/** What is handed to the model as it is. */
export interface ModelSettings {
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  stopSequences?: string[];
  seed?: number;
  headers?: Record<string, string | undefined>;
  providerOptions?: ProviderMetadata;
}

export interface FunctionTool {
  type: 'function';
  name: string;
  description?: string;
  inputSchema: { readonly [key: string]: unknown };
}

export type PromptMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: TextPart[] }
  | { role: 'assistant'; content: (TextPart | ReasoningPart | ToolCallPart)[] }
  | { role: 'tool'; content: ToolResultPart[] };

export interface TextPart {
  type: 'text';
  text: string;
  providerOptions?: ProviderMetadata;
}

export interface ReasoningPart {
  type: 'reasoning';
  text: string;
  providerOptions?: ProviderMetadata;
}

export interface ToolCallPart {
  type: 'tool-call';
  toolCallId: string;
  toolName: string;
  input: unknown;
  providerOptions?: ProviderMetadata;
}

export interface ToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  toolName: string;
  output: { type: 'text' | 'error-text'; value: string } | { type: 'json' | 'error-json'; value: Json };
}

/** A piece of a reply. There are more kinds than are read here, and there will be more. */
export interface ModelPart {
  readonly type: string;
}

/** The pieces that are read. */
export type KnownPart =
  | {
      readonly type: 'text-delta' | 'reasoning-delta';
      readonly id: string;
      readonly delta: string;
      readonly providerMetadata?: ProviderMetadata;
    }
  | {
      readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end';
      readonly id: string;
      readonly providerMetadata?: ProviderMetadata;
    }
  | {
      readonly type: 'tool-call';
      readonly toolCallId: string;
      readonly toolName: string;
      /** JSON text. */
      readonly input: string;
      readonly providerExecuted?: boolean;
      readonly providerMetadata?: ProviderMetadata;
    }
  | {
      readonly type: 'finish';
      readonly finishReason: { readonly unified: string };
      readonly usage: {
        readonly inputTokens: { readonly total: number | undefined };
        readonly outputTokens: { readonly total: number | undefined };
      };
    }
  | { readonly type: 'error'; readonly error: unknown };

const KNOWN: ReadonlySet<string> = new Set<KnownPart['type']>([
  'text-delta',
  'reasoning-delta',
  'text-start',
  'text-end',
  'reasoning-start',
  'reasoning-end',
  'tool-call',
  'finish',
  'error',
]);

/** Null: of no use here. */
export function knownPart(part: ModelPart): KnownPart | null {
  return KNOWN.has(part.type) ? (part as KnownPart) : null;
}

/** What is wrong with something that was given for a model; null: nothing. */
export function modelProblem(model: unknown): string | null {
  if (typeof model !== 'object' || model === null)
    return "must be a model of an AI SDK provider, such as openai('gpt-5')";
  const { specificationVersion: version, doStream } = model as Partial<LanguageModel>;
  if (typeof doStream !== 'function') return 'has no doStream: it is no language model of the AI SDK';
  if (version === 'v3' || version === 'v4') return null;
  return `speaks version ${String(version)} of the AI SDK's interface; v3 and v4 are understood`;
}
