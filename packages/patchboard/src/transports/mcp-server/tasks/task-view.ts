import { rfc3339 } from '@patchboard/wire';
import { isOpen, type Call } from '../../../core/call/call.ts';
import { approvalLink, approvalRequest } from '../calls/approval-link.ts';
import { endedResult } from '../calls/call-result.ts';
import type { Exchange } from '../exchange.ts';
import type { InputRequestJson } from '../../../protocols/mcp/input-requests.ts';
import { inputRequestsOf } from '../calls/input-requests.ts';
import { waitsFor, waitText } from '../calls/receipt.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';
import { RpcError } from '../messages/rpc-error.ts';

const POLL_MS = 1000;
/** While an operator decides. */
const SLOW_POLL_MS = 5000;

type TaskStatus = 'working' | 'input_required' | 'completed' | 'cancelled' | 'failed';

/** What a task says of itself, whatever its status. */
export interface TaskSeed {
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly statusMessage?: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Null: kept without limit. */
  readonly ttlMs: number | null;
  readonly pollIntervalMs: number;
}

export function taskSeed(exchange: Exchange, call: Call): TaskSeed {
  const statusMessage = messageOf(exchange, call);
  return {
    taskId: call.id,
    status: statusOfTask(exchange, call),
    ...(statusMessage === null ? {} : { statusMessage }),
    createdAt: rfc3339(call.createdAt),
    lastUpdatedAt: rfc3339(call.timeline.at(-1)?.at ?? call.createdAt),
    ttlMs: exchange.settings.keepCallsMs,
    pollIntervalMs: call.state.name === 'APPROVAL_REQUIRED' ? SLOW_POLL_MS : POLL_MS,
  };
}

/** The JSON members of a task with its result, its error or its input requests. */
export function taskMembers(exchange: Exchange, call: Call): string {
  const seed = membersOf(taskSeed(exchange, call));
  const inputRequests = taskRequests(exchange, call);
  if (inputRequests !== null) return `${seed},${membersOf({ inputRequests })}`;
  if (isOpen(call) || call.state.name === 'CANCELLED') return seed;
  const { context, principal } = exchange;
  const { outputSchema = null } = context.engine.tool(principal, call.toolName) ?? {};
  const result = endedResult(call, 'modern', outputSchema !== null);
  if (result instanceof RpcError) {
    const { code, message, data } = result;
    return `${seed},${membersOf({ error: { code, message, data } })}`;
  }
  return `${seed},"result":${resultJson('modern', result.members, { meta: result.meta })}`;
}

/** `failed` is for protocol errors only; a failed tool is a completed task whose result has `isError`. */
function statusOfTask(exchange: Exchange, call: Call): TaskStatus {
  if (isOpen(call)) return taskRequests(exchange, call) === null ? 'working' : 'input_required';
  if (call.state.name === 'CANCELLED') return 'cancelled';
  return endedResult(call, 'modern') instanceof RpcError ? 'failed' : 'completed';
}

/** The open input requests; null if there is none that this client can respond to. Only the call's caller responds. */
function taskRequests(exchange: Exchange, call: Call): Readonly<Record<string, InputRequestJson>> | null {
  if (call.agentId !== exchange.principal.agentId) return null;
  if (call.state.name === 'APPROVAL_REQUIRED') return approvalRequest(exchange, call);
  if (call.state.name !== 'INPUT_REQUIRED') return null;
  const requests = inputRequestsOf(call, exchange.client);
  return Object.keys(requests).length === 0 ? null : requests;
}

function messageOf(exchange: Exchange, call: Call): string | null {
  const { state } = call;
  if (!isOpen(call)) return 'error' in state ? state.error.message : null;
  const waiting = waitsFor(call);
  if (waiting !== 'execution') return waitText(waiting, approvalLink(exchange, call));
  if (state.name !== 'EXECUTING') return 'waits for a free slot';
  const where = state.device === undefined ? '' : ` on device ${state.device}`;
  return `attempt ${state.attempt}${where}`;
}
