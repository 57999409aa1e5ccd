import { reason, type InputKind } from '@patchboard/wire';
import type { InputRequired } from '../../core/call/input.ts';
import { failure, ToolFailure } from '../../core/failures.ts';
import { isRecord } from '@patchboard/wire/json';
import type { ToolContext } from '../../core/tools/server-tool.ts';
import type { UpstreamTool } from '../../core/upstreams/upstream.ts';
import { pause } from '../shared/pause.ts';
import {
  connectionLost,
  invalidResult,
  requestFailure,
  rpcFailure,
  type RpcErrorResponse,
} from './call-failures.ts';
import { resultValue } from './call-result.ts';
import {
  ConnectionLost,
  NotStarted,
  ResponseTooLarge,
  type McpConnection,
  type McpRequest,
  type McpResponse,
} from './mcp-connection.ts';
import { sendRequest, type SendParts } from './send-request.ts';
import { declaredCapabilities, inputRequiredOf } from './upstream-inputs.ts';

const SHORTEST_POLL_MS = 250;
const LONGEST_POLL_MS = 30_000;
/** Before the next poll after one that failed. */
const FAILED_POLL_MS = 3000;
const DEFAULT_POLL_MS = 1000;
const CANCEL_TIMEOUT_MS = 5000;

type Json = Readonly<Record<string, unknown>>;
type TaskContext = Pick<ToolContext, 'signal' | 'deadlineAt' | 'progress'>;

/** A call that the upstream runs as a task (extension `io.modelcontextprotocol/tasks`). */
export class UpstreamTask {
  readonly #parts: SendParts;
  readonly #tool: UpstreamTool;
  readonly #context: TaskContext;
  readonly #kinds: readonly InputKind[];
  readonly #id: string;

  constructor(
    parts: SendParts,
    tool: UpstreamTool,
    context: TaskContext,
    { id, kinds }: { readonly id: string; readonly kinds: readonly InputKind[] },
  ) {
    this.#parts = parts;
    this.#tool = tool;
    this.#context = context;
    this.#kinds = kinds;
    this.#id = id;
  }

  /** Gives the task the responses of the caller, then waits as `result` does. */
  async respond(inputResponses: Json): Promise<unknown> {
    return await this.#cancelledOnAbort(async () => {
      const request = this.#request('tasks/update', { inputResponses });
      const response = await sendRequest({ ...this.#parts, hasBegun: true }, request, this.#context);
      if (response.kind === 'error') throw this.#lost(response);
      return await this.#poll(0, inputResponses);
    });
  }

  /** Polls until the task has ended or needs its caller. An aborted call cancels it. `created`: the task as received. */
  async result(created: Json): Promise<unknown> {
    return await this.#cancelledOnAbort(() => this.#poll(pollMs(created), {}));
  }

  /** `responded`: keys that have their response already; the upstream may still list them. */
  async #poll(firstPauseMs: number, responded: Json): Promise<unknown> {
    let pauseMs = firstPauseMs;
    let shown: unknown;
    for (;;) {
      if (pauseMs > 0) await pause(this.#parts.clock, pauseMs, this.#context.signal);
      const task = await this.#get();
      pauseMs = task === null ? FAILED_POLL_MS : pollMs(task);
      if (task === null) continue;
      const ended = this.#ended(task, responded);
      if (ended !== null) return ended.value;
      const { statusMessage } = task;
      if (typeof statusMessage === 'string' && statusMessage !== shown)
        this.#context.progress(this.#parts.mask.text(statusMessage));
      shown = statusMessage;
    }
  }

  /** Null: the connection failed. Reading a task again has no effect, so it is tried until the deadline. */
  async #get(): Promise<Json | null> {
    const { connection, upstream, mask } = this.#parts;
    let response: McpResponse;
    try {
      response = await connection.request(this.#request('tasks/get', {}));
    } catch (error) {
      this.#context.signal.throwIfAborted();
      if (error instanceof ConnectionLost || (error instanceof NotStarted && error.mayRetry)) return null;
      if (error instanceof ResponseTooLarge) throw requestFailure(this.#parts, error);
      throw connectionLost(upstream, mask.text(String(error)));
    }
    if (response.kind === 'error') throw this.#lost(response);
    return response.result;
  }

  /** Null: it has not ended. Throws `ToolFailure` if it failed. */
  #ended(task: Json, responded: Json): { readonly value: unknown } | null {
    const { status, result, error, inputRequests } = task;
    switch (status) {
      case 'working':
        return null;
      case 'input_required': {
        const required = this.#inputRequired(inputRequests, responded);
        return required === null ? null : { value: required };
      }
      case 'completed':
        if (!isRecord(result)) throw invalidResult(this.#parts);
        return { value: resultValue(this.#parts, result, this.#tool) };
      case 'failed':
        throw rpcFailure(this.#parts, errorOf(error), this.#tool.name);
      case 'cancelled': {
        const why = reason('upstream_task_cancelled', { upstream: this.#parts.upstream });
        throw new ToolFailure(failure('tool_failed', why, { outcome: 'unknown' }));
      }
      default:
        throw invalidResult(this.#parts);
    }
  }

  #inputRequired(requests: unknown, responded: Json): InputRequired | null {
    return inputRequiredOf(this.#parts, requests, this.#kinds, { task: this.#id }, responded);
  }

  /** The upstream has no such task any more: what became of it is unknown. */
  #lost({ code, message }: RpcErrorResponse): ToolFailure {
    const { upstream, mask } = this.#parts;
    const why = reason('upstream_task_lost', { upstream, error: mask.text(`${code} ${message}`) });
    return new ToolFailure(failure('provider_disconnected', why, { outcome: 'unknown' }));
  }

  async #cancelledOnAbort(work: () => Promise<unknown>): Promise<unknown> {
    const { signal } = this.#context;
    const cancel = (): void => this.#cancel();
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  }

  /** The call has its end state: whether the upstream receives this makes no difference to it. */
  #cancel(): void {
    cancelTask(this.#parts.connection, this.#id, this.#kinds);
  }

  #request(method: string, params: Json): McpRequest {
    const capabilities = declaredCapabilities(this.#kinds);
    return { method, params: { taskId: this.#id, ...params }, capabilities, signal: this.#context.signal };
  }
}

/** Cancels a task at the upstream. Whether it receives this makes no difference to the call, which has ended. */
export function cancelTask(
  connection: Pick<McpConnection, 'request'>,
  taskId: string,
  kinds: readonly InputKind[] = [],
): void {
  const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  const capabilities = declaredCapabilities(kinds);
  connection.request({ method: 'tasks/cancel', params: { taskId }, capabilities, signal }).catch(() => {});
}

function pollMs({ pollIntervalMs }: Json): number {
  const wanted = typeof pollIntervalMs === 'number' ? pollIntervalMs : DEFAULT_POLL_MS;
  return Math.min(Math.max(wanted, SHORTEST_POLL_MS), LONGEST_POLL_MS);
}

function errorOf(error: unknown): RpcErrorResponse {
  const { code, message, data } = isRecord(error) ? error : {};
  return {
    kind: 'error',
    code: typeof code === 'number' ? code : 0,
    message: typeof message === 'string' ? message : '',
    data,
  };
}
