import { reason } from '@patchboard/wire';
import { failure } from '../core/failures.ts';
import type { AgentHooks } from '../sdk/agent-hooks.ts';
import type { Message } from '../protocols/messages.ts';
import type { AgentPolicy } from '../core/access/policy/document.ts';
import { OPERATOR_NAME } from '../core/access/principal.ts';
import { configProblem, resolveToolCallConfig, type ToolCallConfig } from '../protocols/tool-call-config.ts';
import { DEFAULT_LANGUAGE, type Language } from '../sdk/advice.ts';
import type { ToolCallRecord } from '../sdk/tool-call-record.ts';
import { MODEL_RESULT_BYTES } from '../sdk/tool-result.ts';
import { AgentError } from './agent-error.ts';
import type { AgentHost } from './agent-host.ts';
import type { BudgetLimits } from './loop/budget.ts';
import type { Dialect } from './dialects/dialect.ts';
import type { LanguageModel, ModelSettings } from './loop/model.ts';
import { nativeDialect } from './dialects/native-dialect.ts';
import type { ToolSelection } from './tool-selection.ts';
import type { Problem } from '../sdk/shape.ts';
import { AGENT_OPTIONS } from './options-shape.ts';
import { resolvePermission, type AgentPermission } from './permission.ts';
import { confirmHooks, dialectOf } from './text-cycle/tool-call-rules.ts';

export interface AgentOptions {
  readonly board: { readonly host: AgentHost };
  /** Any language model of the AI SDK. */
  readonly model: LanguageModel;
  /** Id of the conversation and its run; `Agent.resume` takes it. Default: a new id. */
  readonly id?: string;
  /** Agent name for the policy and for the records of its calls. Default: `agent`. */
  readonly name?: string;
  readonly system?: string;
  /** Glob patterns of the tools offered to the model. Default: all that the agent may call. */
  readonly tools?: readonly string[];
  /** Additional restrictions for this agent. Default: only the board's policy applies. */
  readonly permission?: AgentPermission;
  /** Called after a tool's own hooks and before the board's. */
  readonly hooks?: AgentHooks | readonly AgentHooks[];
  /**
   * Tool call settings of a chat app: protocol, switches, limits, confirmation. Omitted members are as in
   * `DEFAULT_TOOL_CALL_CONFIG`, in which tool calls are off. The options below take precedence. Default: tool calls are
   * on, and all tools are enabled.
   */
  readonly toolCalling?: Partial<ToolCallConfig>;
  /** Maximum number of model replies to one `send`. Default 25. */
  readonly maxIterations?: number;
  /** Evaluated after each round of tool calls; the agent stops if any returns true. */
  readonly stopWhen?: StopCondition | readonly StopCondition[];
  /** Shared by this agent and all of its sub-agents. Default: no limit. */
  readonly budget?: BudgetLimits;
  /** Maximum nesting depth of sub-agents. Default 2. */
  readonly maxDepth?: number;
  /** How tools and requests are encoded for the model. Default: the vendor's own tool calls. */
  readonly dialect?: Dialect;
  /** Whether the requests of one reply run concurrently. Default true. */
  readonly parallel?: boolean;
  /** Passed to the model unchanged. */
  readonly settings?: ModelSettings;
  /** Language of failure messages for the model. Default: `en`. */
  readonly language?: Language;
  /** A larger result is truncated for the model; the record of the call has all of it. Default 32,768. */
  readonly maxResultBytes?: number;
  /** Number of retries of a model request that failed with a retryable error. Default 2. */
  readonly maxRetries?: number;
}

/** Returns true to stop the agent. */
export type StopCondition = (round: {
  readonly iteration: number;
  readonly messages: readonly Message[];
  /** The calls of this round. */
  readonly calls: readonly ToolCallRecord[];
}) => boolean | Promise<boolean>;

/** Agent options with all defaults filled in. */
export interface ResolvedOptions {
  readonly host: AgentHost;
  readonly model: LanguageModel;
  readonly name: string;
  readonly system: string | null;
  /** A tool is offered only if every selection contains it. */
  readonly offers: readonly ToolSelection[];
  readonly permissions: readonly AgentPolicy[];
  readonly hooks: readonly AgentHooks[];
  readonly maxIterations: number;
  readonly stopWhen: readonly StopCondition[];
  readonly budget: BudgetLimits;
  readonly maxDepth: number;
  readonly dialect: Dialect;
  readonly parallel: boolean;
  /** Null: the time limit of each tool. */
  readonly timeoutMs: number | null;
  /** Whether requests are held back until `continue()`. */
  readonly isManual: boolean;
  readonly settings: ModelSettings;
  readonly language: Language;
  readonly maxResultBytes: number;
  readonly maxRetries: number;
}

/** Makes the validation report missing required options. */
const REQUIRED = { board: null, model: null };

export function resolveOptions(options: AgentOptions): ResolvedOptions {
  const problem = AGENT_OPTIONS({ ...REQUIRED, ...options }, '');
  if (problem !== null) throw invalid(problem);
  const { board, model, name = 'agent', permission } = options;
  const calling = callingOf(options);
  if (name === OPERATOR_NAME) throw invalid([reason('agent_name_of_operator', { name: OPERATOR_NAME })]);
  return Object.freeze({
    host: board.host,
    model,
    name,
    system: options.system ?? null,
    offers: offersOf(options, calling),
    permissions: permission === undefined ? [] : [resolvePermission(permission)],
    hooks: [...listOf(options.hooks), ...(calling === null ? [] : confirmHooks(calling))],
    maxIterations: options.maxIterations ?? calling?.maxIterations ?? 25,
    stopWhen: listOf(options.stopWhen),
    budget: options.budget ?? {},
    maxDepth: options.maxDepth ?? 2,
    dialect: options.dialect ?? (calling === null ? nativeDialect : dialectOf(calling)),
    parallel: options.parallel ?? calling?.parallelExecution ?? true,
    timeoutMs: calling?.timeout ?? null,
    isManual: calling?.mode === 'manual',
    settings: options.settings ?? {},
    language: options.language ?? DEFAULT_LANGUAGE,
    maxResultBytes: options.maxResultBytes ?? MODEL_RESULT_BYTES,
    maxRetries: options.maxRetries ?? 2,
  });
}

function callingOf({ toolCalling }: AgentOptions): ToolCallConfig | null {
  if (toolCalling === undefined) return null;
  try {
    return resolveToolCallConfig(toolCalling);
  } catch (error) {
    throw invalid([configProblem(error)]);
  }
}

function offersOf({ tools }: AgentOptions, calling: ToolCallConfig | null): ToolSelection[] {
  const offers: ToolSelection[] = [];
  if (tools !== undefined) offers.push({ kind: 'patterns', patterns: tools });
  if (calling !== null) offers.push({ kind: 'switches', config: calling });
  return offers;
}

function listOf<T>(given: T | readonly T[] | undefined): readonly T[] {
  if (given === undefined) return [];
  return Array.isArray(given) ? (given as readonly T[]) : [given as T];
}

function invalid(problem: Problem): AgentError {
  return new AgentError(failure('body_invalid', problem));
}
