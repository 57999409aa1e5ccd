import type { JsonSchema } from '@patchboard/wire';
import { BoundedMap } from '../core/bounded-map.ts';
import type { RegisteredTool } from '../core/tools/registered-tool.ts';
import type { Language } from './advice.ts';
import { BoardError } from './board-error.ts';
import type { ToolCallRecord } from './tool-call-record.ts';
import { toolError, type ToolError } from './tool-error.ts';
import { toToolResult, truncateForModel, MODEL_RESULT_BYTES } from './tool-result.ts';

/** What is used of a board. */
export interface AiSdkBoard {
  tools(filter: { readonly agentId?: string }): readonly RegisteredTool[];
  call(
    name: string,
    args: unknown,
    options: { readonly runId?: string; readonly agentId?: string; readonly signal?: AbortSignal },
  ): Promise<ToolCallRecord>;
}

export interface AiSdkToolOptions {
  /** The run that the calls belong to. Default: the board's own for that agent. */
  readonly runId?: string;
  /** As whom the calls are made: policy may say other things for others. Default `embedded`. */
  readonly agentId?: string;
  /** Which tools. Default: all that the agent may call. */
  readonly select?: (tool: RegisteredTool) => boolean;
  readonly language?: Language;
  /** Larger results are cut for the model, not for you. Default 32,768. */
  readonly maxBytes?: number;
}

/** A schema as the AI SDK takes it. */
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

/** A tool as `generateText({ tools })` takes it. */
export interface AiSdkTool {
  readonly type: 'dynamic';
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  execute(
    input: unknown,
    options: { readonly toolCallId: string; readonly abortSignal?: AbortSignal },
  ): Promise<unknown>;
  toModelOutput(given: { readonly toolCallId: string; readonly output: unknown }): {
    type: 'json';
    value: never;
  };
}

/** What `execute` throws for a call that did not end well. Its message is what the model reads: the error as JSON. */
export class AiSdkToolError extends Error {
  readonly toolError: ToolError;
  /** Undefined: it was refused before it was recorded. */
  readonly record: ToolCallRecord | undefined;

  constructor(content: unknown, error: ToolError, record?: ToolCallRecord) {
    super(JSON.stringify(content));
    this.name = 'AiSdkToolError';
    this.toolError = error;
    this.record = record;
  }

  /** The AI SDK shows this to the model. */
  override toString(): string {
    return this.message;
  }
}

/**
 * The board's tools for an AI SDK loop, under their wire names. Every call goes the board's own way: schema, policy,
 * hooks, approval (the loop waits for it), limits and ledger. Aborting the loop cancels the call.
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
  const { language = 'en', maxBytes = MODEL_RESULT_BYTES } = options;
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
    toModelOutput: ({ toolCallId, output }) => ({
      type: 'json',
      value: truncateForModel(output ?? null, calls.get(toolCallId), maxBytes) as never,
    }),
  };
}

async function run(
  board: AiSdkBoard,
  name: string,
  input: unknown,
  { runId, agentId, language }: AiSdkToolOptions,
  signal: AbortSignal | undefined,
): Promise<ToolCallRecord> {
  const asked = {
    ...(runId === undefined ? {} : { runId }),
    ...(agentId === undefined ? {} : { agentId }),
    ...(signal === undefined ? {} : { signal }),
  };
  try {
    return await board.call(name, input, asked);
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

/** How the AI SDK marks schemas of its own, which it hands to the model as they are. */
const AI_SDK_SCHEMA = Symbol.for('vercel.ai.schema');

/** Lets every input through: the board validates, and keeps what it refused. */
function aiSdkSchema(schema: JsonSchema): AiSdkSchema {
  // True allows anything, which to a vendor is an object with anything in it.
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

/** Which call answered which request of the model, for the last few of them. */
class CallIds {
  static readonly #KEPT = 1000;
  readonly #ids: BoundedMap<string, string> = new BoundedMap(CallIds.#KEPT);

  set(toolCallId: string, callId: string): void {
    this.#ids.set(toolCallId, callId);
  }

  get(toolCallId: string): string {
    return this.#ids.get(toolCallId) ?? '';
  }
}
