import type { CallErrorView, CallView, JsonSchema } from './views.ts';

/** `GET /v1/tools?format=…`: JSON for a vendor or an MCP client, or the text of a prompt. */
export type FormattedToolsView =
  | {
      readonly tools: readonly unknown[];
      /** What OpenAI's strict mode cannot keep of the schemas. */
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
  /** How many more there are than the report lists; absent where there are none. */
  readonly omitted?: { readonly requests: number; readonly errors: number; readonly arguments: number };
}

export interface ParsedRequestView {
  readonly requestId: string;
  readonly toolName: string;
  readonly command?: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly line: number;
  readonly column: number;
  /** How each argument was read, of the first hundred; only where the tool is known. */
  readonly arguments?: readonly ReadArgumentView[];
  /** Success is not told to the model. */
  readonly noReply?: boolean;
}

export interface ReadArgumentView {
  readonly name: string;
  readonly raw: string | null;
  readonly type: string;
  readonly value?: unknown;
  readonly status: 'kept' | 'coerced' | 'invalid' | 'unknown' | 'missing';
  readonly problem?: string;
}

export interface ParseProblemView {
  readonly code: string;
  readonly message: string;
  readonly line: number;
  readonly column: number;
}

/** `POST /v1/tool_calls/batch`. */
export interface BatchView {
  /** Text for the next message, or the items to send. */
  readonly results: string | readonly unknown[];
  readonly calls: readonly BatchCallView[];
}

/** The record of the call it became; only these where it was refused. */
export interface BatchCallView extends Partial<Omit<CallView, 'tool_call_id' | 'tool_name' | 'error'>> {
  readonly request_id: string;
  readonly tool_name: string;
  readonly tool_call_id: string | null;
  readonly error: CallErrorView | null;
}

/** How tools may be called. */
export interface ToolCallConfigView {
  /** Off: no tool is offered, and nothing that looks like a request is run. */
  readonly enabled: boolean;
  /** `manual`: requests are read and handed over, and not run. */
  readonly mode: 'auto' | 'manual';
  /** On or off by tool, or by module for all of its methods. */
  readonly toolToggles: Readonly<Record<string, boolean>>;
  /** For every tool that has no toggle. */
  readonly defaultToolEnabled: boolean;
  /** Replies of the model to one message. */
  readonly maxIterations: number;
  /** Milliseconds for one call; a tool that allows itself less keeps its own limit. */
  readonly timeout: number;
  /** Ask before every call. */
  readonly requireConfirmation: boolean;
  /** All requests of one reply at once; otherwise one after the other. */
  readonly parallelExecution: boolean;
  readonly protocol: string;
}

/** `POST /v1/prompt`. */
export interface PromptView {
  readonly prompt: string;
  /** What the prompt offers. */
  readonly tools: readonly DiscoveredToolView[];
}

/** A module with its methods, or a tool that is none's method. */
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

/** What became of one request, for `POST /v1/format`. */
export interface ToolResultView {
  readonly requestId: string;
  readonly toolName: string;
  readonly status: 'success' | 'error';
  readonly result: string;
  /** How long the tool ran; waiting for approval or a slot is not counted. */
  readonly durationMs: number;
  readonly callId?: string;
  readonly noReply?: boolean;
}
