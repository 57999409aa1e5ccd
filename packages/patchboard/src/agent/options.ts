import { failure, messageOf } from '../core/failures.ts';
import type { AgentHooks } from '../sdk/agent-hooks.ts';
import type { Message } from '../protocols/messages.ts';
import type { AgentPolicy } from '../core/access/policy/document.ts';
import { OPERATOR_NAME } from '../core/access/principal.ts';
import { resolveToolCallConfig, type ToolCallConfig } from '../protocols/tool-call-config.ts';
import type { Language } from '../sdk/advice.ts';
import type { ToolCallRecord } from '../sdk/tool-call-record.ts';
import { MODEL_RESULT_BYTES } from '../sdk/tool-result.ts';
import { AgentError } from './agent-error.ts';
import type { AgentHost } from './agent-host.ts';
import type { BudgetLimits } from './loop/budget.ts';
import type { Dialect } from './dialects/dialect.ts';
import type { LanguageModel, ModelSettings } from './loop/model.ts';
import { nativeDialect } from './dialects/native-dialect.ts';
import type { ToolSelection } from './tool-selection.ts';
import { AGENT_OPTIONS } from './options-shape.ts';
import { resolvePermission, type AgentPermission } from './permission.ts';
import { confirmHooks, dialectOf } from './text-cycle/tool-call-rules.ts';

export interface AgentOptions {
  readonly board: { readonly host: AgentHost };
  /** Any language model of the AI SDK. */
  readonly model: LanguageModel;
  /** Names the conversation and its run; an agent is resumed by it. Default: a new one. */
  readonly id?: string;
  /** What policy calls it, and in whose name its calls are recorded. Default: `agent`. */
  readonly name?: string;
  readonly system?: string;
  /** Patterns of the tools it is offered. Default: all that it may ever call. */
  readonly tools?: readonly string[];
  /** What it allows itself. Default: what the board's policy says. */
  readonly permission?: AgentPermission;
  /** Asked after a tool's own hooks and before the board's. */
  readonly hooks?: AgentHooks | readonly AgentHooks[];
  /**
   * The settings of a chat app, for agents that have them: protocol, switches, limits, confirmation. What is not given
   * is as in `DEFAULT_TOOL_CALL_CONFIG`, in which tool calls are off. The options below count instead where they are
   * given. Default: tool calls are on, and nothing is switched off.
   */
  readonly toolCalling?: Partial<ToolCallConfig>;
  /** Replies of the model to one `send`. Default 25. */
  readonly maxIterations?: number;
  /** Asked after each round of tool calls; if any holds, the agent stops. */
  readonly stopWhen?: StopCondition | readonly StopCondition[];
  /** For this agent and all agents below it. Default: no limit. */
  readonly budget?: BudgetLimits;
  /** How many agents may stand below one another under this one. Default 2. */
  readonly maxDepth?: number;
  /** How tools and requests are put into words. Default: the vendor's own tool calls. */
  readonly dialect?: Dialect;
  /** All requests of one reply at once; false: one after the other. Default true. */
  readonly parallel?: boolean;
  /** Handed to the model as they are. */
  readonly settings?: ModelSettings;
  /** In which failures are explained to the model. Default: `en`. */
  readonly language?: Language;
  /** A larger result is cut for the model; the whole one stays under the call's id. Default 32,768. */
  readonly maxResultBytes?: number;
  /** How often a request that the vendor did not take is sent again. Default 2. */
  readonly maxRetries?: number;
}

/** True: stop here. */
export type StopCondition = (round: {
  readonly iteration: number;
  readonly messages: readonly Message[];
  /** Of this round. */
  readonly calls: readonly ToolCallRecord[];
}) => boolean | Promise<boolean>;

/** Below the constructor nothing is optional. */
export interface ResolvedOptions {
  readonly host: AgentHost;
  readonly model: LanguageModel;
  readonly name: string;
  readonly system: string | null;
  /** Each must let a tool pass, or it is not offered. */
  readonly offers: readonly ToolSelection[];
  readonly permissions: readonly AgentPolicy[];
  readonly hooks: readonly AgentHooks[];
  readonly maxIterations: number;
  readonly stopWhen: readonly StopCondition[];
  readonly budget: BudgetLimits;
  readonly maxDepth: number;
  readonly dialect: Dialect;
  readonly parallel: boolean;
  /** Null: each tool's own. */
  readonly timeoutMs: number | null;
  /** Requests wait for `continue()`. */
  readonly isManual: boolean;
  readonly settings: ModelSettings;
  readonly language: Language;
  readonly maxResultBytes: number;
  readonly maxRetries: number;
}

/** What is not given must still be asked for. */
const NEEDED = { board: null, model: null };

export function resolveOptions(options: AgentOptions): ResolvedOptions {
  const problem = AGENT_OPTIONS({ ...NEEDED, ...options }, '');
  if (problem !== null) throw invalid(problem);
  const { board, model, name = 'agent', permission } = options;
  const calling = callingOf(options);
  if (name === OPERATOR_NAME)
    throw invalid(`name must not be ${OPERATOR_NAME}: nobody decides on their own call`);
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
    language: options.language ?? 'en',
    maxResultBytes: options.maxResultBytes ?? MODEL_RESULT_BYTES,
    maxRetries: options.maxRetries ?? 2,
  });
}

function callingOf({ toolCalling }: AgentOptions): ToolCallConfig | null {
  if (toolCalling === undefined) return null;
  try {
    return resolveToolCallConfig(toolCalling);
  } catch (error) {
    throw invalid(messageOf(error));
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

function invalid(message: string): AgentError {
  return new AgentError(failure('body_invalid', message));
}
