import type { ContentValue } from './content/content-value.ts';
import type { ReasonView } from './reasons/reason.ts';
import type { CallErrorView, CallView, JsonSchema } from './views.ts';

/** `GET /v1/tools?format=…`: JSON for a model vendor or an MCP client, or prompt text. */
export type FormattedToolsView =
  | {
      readonly tools: readonly unknown[];
      /** Schema keywords that OpenAI's strict mode does not support. */
      readonly conversions?: readonly ConversionView[];
    }
  | { readonly text: string };

export interface ConversionView {
  readonly name: string;
  readonly strict: boolean;
  readonly lost: readonly { readonly path: string; readonly keyword: string }[];
}

/** `POST /v1/parse`. */
export interface ParseReportView {
  readonly requests: readonly ParsedRequestView[];
  readonly errors: readonly ParseProblemView[];
  readonly warnings?: readonly ParseProblemView[];
  /** Counts of items left out of the report; absent if it is complete. */
  readonly omitted?: { readonly requests: number; readonly errors: number; readonly arguments: number };
}

export interface ParsedRequestView {
  readonly requestId: string;
  readonly toolName: string;
  readonly command?: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly line: number;
  readonly column: number;
  /** How each of the first hundred arguments was parsed; absent if the tool is unknown. */
  readonly arguments?: readonly ReadArgumentView[];
  /** If true, a successful result is not sent to the model. */
  readonly noReply?: boolean;
}

export interface ReadArgumentView {
  readonly name: string;
  readonly raw: string | null;
  readonly type: string;
  readonly value?: unknown;
  readonly status: 'kept' | 'coerced' | 'invalid' | 'unknown' | 'missing';
  readonly problem?: string;
  /** Code and parameters of `problem`. */
  readonly reasons?: readonly ReasonView[];
}

export interface ParseProblemView {
  readonly code: string;
  readonly message: string;
  /** Code and parameters of `message`. */
  readonly reasons?: readonly ReasonView[];
  readonly line: number;
  readonly column: number;
}

/** `POST /v1/tool_calls/batch`. */
export interface BatchView {
  /** Results for the next message to the model: text, or a list of items. */
  readonly results: string | readonly unknown[];
  readonly calls: readonly BatchCallView[];
}

/** The call record of one request. A refused request has only the members declared here. */
export interface BatchCallView extends Partial<Omit<CallView, 'tool_call_id' | 'tool_name' | 'error'>> {
  readonly request_id: string;
  readonly tool_name: string;
  readonly tool_call_id: string | null;
  readonly error: CallErrorView | null;
}

/** How tools may be called. */
export interface ToolCallConfigView {
  /** If false, no tool is offered to the model and no request in its replies is run. */
  readonly enabled: boolean;
  /** `manual`: requests are parsed and returned, but not run. */
  readonly mode: 'auto' | 'manual';
  /** Enables or disables a tool, or all methods of a module. */
  readonly toolToggles: Readonly<Record<string, boolean>>;
  /** Applies to tools without an entry in `toolToggles`. */
  readonly defaultToolEnabled: boolean;
  /** Maximum number of model replies to one message. */
  readonly maxIterations: number;
  /** Time limit of one call in milliseconds. A shorter limit of the tool itself takes precedence. */
  readonly timeout: number;
  /** Whether every call requires confirmation. */
  readonly requireConfirmation: boolean;
  /** Whether the requests of one reply run concurrently instead of one after the other. */
  readonly parallelExecution: boolean;
  readonly protocol: string;
}

/** `POST /v1/prompt`. */
export interface PromptView {
  readonly prompt: string;
  /** The tools that the prompt describes. */
  readonly tools: readonly DiscoveredToolView[];
}

/** A module with its methods, or a tool that belongs to no module. */
export interface DiscoveredToolView {
  readonly toolId: string;
  readonly toolName: string;
  readonly methods: readonly {
    readonly name: string;
    readonly description?: string;
    readonly inputSchema?: JsonSchema;
    readonly [more: string]: unknown;
  }[];
}

/** The result of one request, as `POST /v1/format` takes it. */
export interface ToolResultView {
  readonly requestId: string;
  readonly toolName: string;
  readonly status: 'success' | 'error';
  readonly result: string;
  /** The returned content, for formats that can show more of it than `result` says. */
  readonly content?: ContentValue;
  /** Execution time of the tool, without waiting for an approval or a slot. */
  readonly durationMs: number;
  readonly callId?: string;
  readonly noReply?: boolean;
}
