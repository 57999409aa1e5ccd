import { isContentValue, type JsonSchema } from '@patchboard/wire';
import { BoundedMap } from '../core/bounded-map.ts';
import type { RegisteredTool } from '../core/tools/registered-tool.ts';
import { modelBlocks } from '../protocols/model-blocks.ts';
import { DEFAULT_LANGUAGE, type Language } from './advice.ts';
import { BoardError } from './board-error.ts';
import type { OnInputRequest } from './tool-call-input.ts';
import type { ToolCallRecord } from './tool-call-record.ts';
import { toolError, type ToolError } from './tool-error.ts';
import { toToolResult, truncateForModel, MODEL_RESULT_BYTES } from './tool-result.ts';

/** The part of a board that is used here. */
export interface AiSdkBoard {
  tools(filter: { readonly agentId?: string }): readonly RegisteredTool[];
  call(
    name: string,
    args: unknown,
    options: {
      readonly runId?: string;
      readonly agentId?: string;
      readonly signal?: AbortSignal;
      readonly onInputRequest?: OnInputRequest;
    },
  ): Promise<ToolCallRecord>;
}

export interface AiSdkToolOptions {
  /** The run of the calls. Default: the board's run for the agent. */
  readonly runId?: string;
  /** The agent that makes the calls, for the policy. Default `embedded`. */
  readonly agentId?: string;
  /** Selects tools. Default: all that the agent may call. */
  readonly select?: (tool: RegisteredTool) => boolean;
  /** Called with each input request of a tool. Without it, a tool that asks fails with `input_unavailable`. */
  readonly onInputRequest?: OnInputRequest;
  readonly language?: Language;
  /** Larger results are truncated for the model; the return value of `execute` is complete. Default 32,768. */
  readonly maxBytes?: number;
}

/** A schema in the form that the AI SDK accepts. */
export interface AiSdkSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: unknown };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** A tool in the form that `generateText({ tools })` accepts. */
export interface AiSdkTool {
  readonly type: 'dynamic';
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  execute(
    input: unknown,
    options: { readonly toolCallId: string; readonly abortSignal?: AbortSignal },
  ): Promise<unknown>;
  toModelOutput(given: { readonly toolCallId: string; readonly output: unknown }): AiSdkOutput;
}

/** What the model reads. Results with pictures are `content`; the adapter of the vendor sends them or writes them as text. */
export type AiSdkOutput =
  | { type: 'json'; value: never }
  | {
      type: 'content';
      value: (
        | { type: 'text'; text: string }
        | { type: 'file'; data: { type: 'data'; data: string }; mediaType: string }
      )[];
    };

/** Thrown by `execute` for a failed call. Its message is the error as JSON, for the model. */
export class AiSdkToolError extends Error {
  readonly toolError: ToolError;
  /** Undefined if the call was refused before it was recorded. */
  readonly record: ToolCallRecord | undefined;

  constructor(content: unknown, error: ToolError, record?: ToolCallRecord) {
    super(JSON.stringify(content));
    this.name = 'AiSdkToolError';
    this.toolError = error;
    this.record = record;
  }

  /** The AI SDK sends this text to the model. */
  override toString(): string {
    return this.message;
  }
}

/**
 * Returns the board's tools for an AI SDK loop, under their wire names. Schema validation, policy, hooks, approval (the
 * loop waits for it), limits and the ledger apply to every call. Aborting the loop cancels the call.
 */
export function toAiSdkTools(board: AiSdkBoard, options: AiSdkToolOptions = {}): Record<string, AiSdkTool> {
  const { agentId, select } = options;
  const offered = board.tools(agentId === undefined ? {} : { agentId });
  const tools = offered.filter((tool) => select?.(tool) ?? true);
  const calls = new CallIds();
  return Object.fromEntries(tools.map((tool) => [tool.wireName, aiSdkTool(board, tool, options, calls)]));
}

function aiSdkTool(
  board: AiSdkBoard,
  tool: RegisteredTool,
  options: AiSdkToolOptions,
  calls: CallIds,
): AiSdkTool {
  const { language = DEFAULT_LANGUAGE, maxBytes = MODEL_RESULT_BYTES } = options;
  return {
    type: 'dynamic',
    description: tool.description,
    inputSchema: aiSdkSchema(tool.inputSchema),
    execute: async (input, { toolCallId, abortSignal }) => {
      const record = await run(board, tool.name, input, options, abortSignal);
      calls.set(toolCallId, record.id);
      if (record.state === 'COMPLETED') return record.result;
      const { content } = toToolResult(toolCallId, record, { language, maxBytes });
      throw new AiSdkToolError(content, toolErrorOf(record, language), record);
    },
    toModelOutput: ({ toolCallId, output }) =>
      modelOutput(truncateForModel(output ?? null, calls.get(toolCallId), maxBytes)),
  };
}

function modelOutput(shown: unknown): AiSdkOutput {
  if (!isContentValue(shown)) return { type: 'json', value: shown as never };
  const value = modelBlocks(shown).map((block) => {
    if (block.type === 'text') return block;
    return {
      type: 'file',
      data: { type: 'data', data: block.data },
      mediaType: block.mimeType,
    } as const;
  });
  return { type: 'content', value };
}

async function run(
  board: AiSdkBoard,
  name: string,
  input: unknown,
  { runId, agentId, language, onInputRequest }: AiSdkToolOptions,
  signal: AbortSignal | undefined,
): Promise<ToolCallRecord> {
  const callOptions = {
    ...(runId === undefined ? {} : { runId }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(signal === undefined ? {} : { signal }),
    ...(onInputRequest === undefined ? {} : { onInputRequest }),
  };
  try {
    return await board.call(name, input, callOptions);
  } catch (error) {
    if (!(error instanceof BoardError)) throw error;
    const refused = toolError(error.failure, language);
    throw new AiSdkToolError(refused, refused);
  }
}

function toolErrorOf({ id, state, failure }: ToolCallRecord, language: Language): ToolError {
  if (failure !== undefined) return toolError(failure, language);
  return toolError({ code: 'internal', message: `call ${id} is ${state}`, retryable: false }, language);
}

/** The AI SDK passes schemas with this symbol to the model unchanged. */
const AI_SDK_SCHEMA = Symbol.for('vercel.ai.schema');

/** Accepts every input, because the board validates it and records refusals. */
function aiSdkSchema(schema: JsonSchema): AiSdkSchema {
  // Vendors require an object schema, so `true` becomes "any object".
  const shown = (): Record<string, unknown> =>
    typeof schema === 'boolean' ? { type: 'object' } : structuredClone(schema);
  const validate = (value: unknown): { success: true; value: unknown } => ({ success: true, value });
  const own = { [AI_SDK_SCHEMA]: true, _type: undefined, jsonSchema: shown(), validate };
  const standard = {
    version: 1,
    vendor: 'patchboard',
    validate,
    jsonSchema: { input: shown, output: shown },
  } as const;
  return { ...own, '~standard': standard };
}

/** Maps the model's recent tool requests to call ids. */
class CallIds {
  static readonly #CAPACITY = 1000;
  readonly #ids: BoundedMap<string, string> = new BoundedMap(CallIds.#CAPACITY);

  set(toolCallId: string, callId: string): void {
    this.#ids.set(toolCallId, callId);
  }

  get(toolCallId: string): string {
    return this.#ids.get(toolCallId) ?? '';
  }
}
