import { reason, type Reason } from '@patchboard/wire';
import type { Json, ProviderMetadata } from '../../protocols/messages.ts';

/**
 * A language model of the AI SDK (`openai('…')`, `anthropic('…')` and others), typed only by what is used here, so that
 * the embedding program chooses the provider and its version.
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

/** Settings passed to the model unchanged. */
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
  output:
    | { type: 'text' | 'error-text'; value: string }
    | { type: 'json' | 'error-json'; value: Json }
    | { type: 'content'; value: ContentPart[] };
}

/** A picture is `image-data` in version v3 of the AI SDK's interface, and `file` in v4. */
export type ContentPart =
  | { type: 'text'; text: string }
  | { type: 'image-data'; data: string; mediaType: string }
  | { type: 'file'; data: { type: 'data'; data: string }; mediaType: string };

/** A part of a streamed reply. Unknown types are ignored. */
export interface ModelPart {
  readonly type: string;
}

/** The parts that are processed. */
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

/** Returns null for a part that is ignored. */
export function knownPart(part: ModelPart): KnownPart | null {
  return KNOWN.has(part.type) ? (part as KnownPart) : null;
}

/** Returns why the value is not a supported model, or null. */
export function modelProblem(model: unknown): Reason | null {
  if (typeof model !== 'object' || model === null) return reason('model_not_model');
  const { specificationVersion: version, doStream } = model as Partial<LanguageModel>;
  if (typeof doStream !== 'function') return reason('model_without_stream');
  if (version === 'v3' || version === 'v4') return null;
  return reason('model_version', { version: String(version) });
}
