import { isContentValue, reason, type Reason } from '@patchboard/wire';
import { isOpen, type Call } from '../../core/call/call.ts';
import { timesOf } from '../../core/call/call-times.ts';
import { failure, messageOf, type Failure } from '../../core/failures.ts';
import type { CallRequest } from '../../core/call/call-request.ts';
import type { InProcessCaller } from '../../core/call/live-call.ts';
import { failed } from '../../core/call/outcome.ts';
import { OPERATOR_NAME, type Principal } from '../../core/access/principal.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { withArgumentProblems } from '../../protocols/request-results.ts';
import type { ParsedToolRequest, ToolExecutionResult } from '../../protocols/protocol.ts';
import { protocolOf } from '../../protocols/protocols.ts';
import { toolFinder } from '../../protocols/registered-tools.ts';
import { requestedCall, type RequestedCall, type FindTool } from '../../protocols/resolve.ts';
import { failureText, valueText } from '../../protocols/result-text.ts';
import { resolveToolCallConfig, type ToolCallConfig } from '../../protocols/tool-call-config.ts';
import { toRecord } from '../../sdk/tool-call-record.ts';
import type { ToolRegistry } from '../../sdk/tool-registry.ts';
import { MODEL_RESULT_BYTES, truncateForModel } from '../../sdk/tool-result.ts';
import type { AgentHost } from '../agent-host.ts';
import { confirmHooks, isSwitchedOn, NOT_GIVEN } from './tool-call-rules.ts';

export interface ExecuteOptions {
  /** Any board. */
  readonly board: { readonly host: AgentHost; readonly registry: ToolRegistry };
  /** Omitted members are as in `DEFAULT_TOOL_CALL_CONFIG`, in which no tool is enabled. */
  readonly config?: Partial<ToolCallConfig>;
  /** With `requireConfirmation`: called before every call; false or a thrown error refuses it. If omitted, operators decide. */
  readonly onBeforeExecute?: (request: ParsedToolRequest) => boolean | Promise<boolean>;
  /** Number of the reply to the same message, starting at 1. Requests beyond `maxIterations` are not run. Default 1. */
  readonly iteration?: number;
  /** The agent in the records of the calls. Default `agent`. */
  readonly agentId?: string;
  /** Default: a new run. */
  readonly runId?: string;
  /** Cancels open calls when aborted. */
  readonly signal?: AbortSignal;
}

/** Runs requests through the engine, one after the other or concurrently, and returns the results in order. */
export async function executeToolRequests(
  requests: readonly ParsedToolRequest[],
  options: ExecuteOptions,
): Promise<ToolExecutionResult[]> {
  const execution = new Execution(options);
  if (execution.config.parallelExecution)
    return await Promise.all(requests.map((request) => execution.run(request)));
  const results: ToolExecutionResult[] = [];
  for (const request of requests) results.push(await execution.run(request));
  return results;
}

class Execution {
  readonly config: ToolCallConfig;
  readonly #options: ExecuteOptions;
  readonly #principal: Principal;
  readonly #runId: string;
  readonly #iteration: number;

  constructor(options: ExecuteOptions) {
    const { board, agentId = 'agent' } = options;
    this.#options = options;
    this.config = resolveToolCallConfig(options.config);
    this.#principal = board.host.principal(agentId);
    this.#iteration = iterationOf(options);
    this.#runId = options.runId ?? board.host.ids.next('run_');
  }

  async run(request: ParsedToolRequest): Promise<ToolExecutionResult> {
    const { host } = this.#options.board;
    const find: FindTool<RegisteredTool> = toolFinder(host.engine.namedTools(this.#principal));
    const asked = requestedCall(protocolOf(this.config.protocol), request, find);
    const ended = await this.#toEnd(request, asked);
    const { requestId, noReply } = request;
    return {
      requestId,
      toolName: asked.toolName,
      ...outcomeOf(ended, asked.problems),
      durationMs: 'code' in ended ? 0 : (timesOf(ended)?.ranMs ?? 0),
      ...(noReply === true ? { noReply } : {}),
    };
  }

  async #toEnd(request: ParsedToolRequest, asked: RequestedCall<RegisteredTool>): Promise<Call | Failure> {
    const { engine } = this.#options.board.host;
    const wanted = this.#callRequest(asked);
    const never = this.#tooLate() ?? (asked.tool === undefined ? this.#missing(asked.toolName) : null);
    if (never !== null) return (await engine.recordEnded(wanted, this.#principal, failed(never))) ?? never;
    const submitted = await engine.submit(wanted, this.#principal);
    if (submitted.kind === 'refused') return submitted.failure;
    const { call } = submitted;
    const { signal: cancelOn } = this.#options;
    const live = submitted.kind === 'accepted' ? submitted.live : null;
    const following = Promise.resolve(engine.calls.follow(this.#principal, call.id, { cancelOn, live }));
    const ended = await new Promise<Call>((resolve, reject) => {
      // The call may end, by an abort or its expiry, while the question is still open.
      following.then((found = call) => resolve(found), reject);
      this.#confirm(request, call).catch(reject);
    });
    if (!isOpen(ended)) return ended;
    const why = reason('call_continues', { id: ended.id, state: ended.state.name });
    return failure('interrupted', why);
  }

  #callRequest({ tool, toolName, args }: RequestedCall<RegisteredTool>): CallRequest {
    return {
      toolName,
      runId: this.#runId,
      args,
      timeoutMs: this.config.timeout,
      acceptsInput: false,
      caller: this.#caller(tool),
    };
  }

  /** A disabled tool is denied by policy; confirmation is a required approval. Both are recorded. */
  #caller(tool: RegisteredTool | undefined): InProcessCaller {
    const isOn = tool === undefined || isSwitchedOn(this.config, tool);
    return {
      hooks: confirmHooks(this.config),
      agent: undefined,
      keepsRefused: true,
      permissions: isOn ? [] : [NOT_GIVEN],
    };
  }

  /** Calls `onBeforeExecute` in place of an operator. Without it, the call waits for an operator. */
  async #confirm(request: ParsedToolRequest, call: Call): Promise<void> {
    const { onBeforeExecute, board } = this.#options;
    const isAsked = call.state.name === 'APPROVAL_REQUIRED' && call.decision.rule === 'hook';
    if (onBeforeExecute === undefined || !isAsked) return;
    const { isAllowed, note } = await confirmationOf(onBeforeExecute, request);
    const given = {
      decision: isAllowed ? 'allow' : 'deny',
      digest: call.approval?.digest ?? '',
      note,
    } as const;
    // Ignore a refusal: the call may have expired or been cancelled meanwhile.
    await board.host.engine.calls.decide(board.host.principal(OPERATOR_NAME), call.id, given);
  }

  /** Enforces `maxIterations` even if the caller's loop does not. */
  #tooLate(): Failure | null {
    const { maxIterations } = this.config;
    if (this.#iteration <= maxIterations) return null;
    return failure('conflict', reason('agent_iterations_reached', { count: maxIterations }), {
      recommendations: ['answer with what you have, without tools'],
    });
  }

  /** Determines whether the module or the method is unknown. */
  #missing(name: string): Failure {
    const at = name.lastIndexOf('_');
    if (at <= 0 || at === name.length - 1) {
      if (name.includes('.')) return failure('tool_not_found', reason('tool_unknown', { tool: name }));
      return failure('name_invalid', reason('method_name_form', { name }));
    }
    const module = name.slice(0, at);
    const methodName = name.slice(at + 1);
    const methods = this.#options.board.registry.module(module)?.methods;
    if (methods === undefined) return failure('tool_not_found', reason('tool_unknown', { tool: name }));
    const method = methods.find((candidate) => candidate.name === methodName);
    if (method === undefined)
      return failure('method_not_found', reason('module_without_method', { module, method: methodName }));
    return failure('method_not_callable', reason('method_not_for_agents', { module, method: methodName }));
  }
}

/** Throws for an invalid number, because a loop that counts wrongly would never end. */
export function iterationOf({ iteration = 1 }: ExecuteOptions): number {
  if (Number.isSafeInteger(iteration) && iteration >= 1) return iteration;
  throw new TypeError('iteration must be an integer of at least 1');
}

async function confirmationOf(
  confirm: NonNullable<ExecuteOptions['onBeforeExecute']>,
  request: ParsedToolRequest,
): Promise<{ isAllowed: boolean; note: string | null }> {
  try {
    return { isAllowed: (await confirm(request)) === true, note: null };
  } catch (error) {
    return { isAllowed: false, note: `onBeforeExecute failed: ${messageOf(error)}` };
  }
}

type Outcome = Pick<ToolExecutionResult, 'status' | 'result' | 'content' | 'code' | 'callId'>;

function outcomeOf(ended: Call | Failure, problems: readonly Reason[]): Outcome {
  if ('code' in ended) return { status: 'error', result: failureText(ended), code: ended.code };
  const record = toRecord(ended);
  if (record.state === 'COMPLETED') {
    const shown = truncateForModel(record.result, record.id, MODEL_RESULT_BYTES);
    const result = { status: 'success', result: valueText(shown), callId: record.id } as const;
    return isContentValue(shown) ? { ...result, content: shown } : result;
  }
  const why = record.failure ?? failure('internal', reason('call_ended_without_reason', { id: record.id }));
  const result = failureText(withArgumentProblems(why, problems));
  return { status: 'error', result, code: why.code, callId: record.id };
}
