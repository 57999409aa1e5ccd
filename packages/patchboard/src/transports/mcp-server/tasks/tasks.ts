import { isOpen, type Call } from '../../../core/call/call.ts';
import { noSuchCall } from '../../../core/steps/calls.ts';
import { respondToLink } from '../calls/approval-link.ts';
import { chargeRequest } from '../charge-request.ts';
import type { Exchange } from '../exchange.ts';
import { toRpcError } from '../messages/failures.ts';
import { giveResponses, readResponses } from '../calls/input-responses.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';
import { TASKS_EXTENSION } from '../../../protocols/mcp/revisions.ts';
import { missingCapability } from '../messages/rpc-error.ts';
import { taskMembers, taskSeed } from './task-view.ts';

/** The result of `tools/call` that has become a task. The call is durable before its task id is sent. */
export function taskResult(exchange: Exchange, call: Call): string {
  const seed = taskSeed(exchange, call);
  // What it waits for is sent by `tasks/get` only.
  const members = isOpen(call) ? { ...seed, status: 'working' } : seed;
  return resultJson(exchange.era, membersOf(members), { type: 'task' });
}

export async function getTask(exchange: Exchange): Promise<string> {
  const call = await findTask(exchange);
  return resultJson(exchange.era, taskMembers(exchange, call));
}

/** Gives the task the responses to its open requests. Responses to others are ignored, so the result is always empty. */
export async function updateTask(exchange: Exchange): Promise<string> {
  const call = await findTask(exchange);
  const { principal } = exchange;
  if (call.agentId !== principal.agentId) throw toRpcError(noSuchCall(call.id));
  const responses = readResponses(exchange) ?? {};
  if (call.state.name === 'APPROVAL_REQUIRED') await respondToLink(exchange, call, responses);
  else await giveResponses(exchange, call, responses);
  return resultJson(exchange.era, '');
}

/** Returns the same for a call that has ended: nothing is left to cancel. */
export async function cancelTask(exchange: Exchange): Promise<string> {
  const { id } = await findTask(exchange);
  const cancelled = await exchange.context.engine.calls.cancel(exchange.principal, id);
  if (!cancelled.ok && cancelled.failure.code === 'permission_denied') throw toRpcError(cancelled.failure);
  return resultJson(exchange.era, '');
}

/** Any call that the principal may read is a task, also one made over another API. */
async function findTask(exchange: Exchange): Promise<Call> {
  const { client, params } = exchange;
  if (!client.hasTasks) throw missingCapability({ extensions: { [TASKS_EXTENSION]: {} } });
  chargeRequest(exchange);
  const id = params['taskId'] as string;
  const call = await exchange.context.engine.calls.findReadable(exchange.principal, id);
  if (call === undefined) throw toRpcError(noSuchCall(id));
  return call;
}
