import { isOpen, type Call } from '../../../core/call/call.ts';
import { waitsForInput } from '../../../core/call/input.ts';
import type { LiveCall } from '../../../core/call/live-call.ts';
import { messageOf } from '../../../core/failures.ts';
import type { RegisteredTool } from '../../../core/tools/registered-tool.ts';
import { approvalRequest, showsApprovals } from './approval-link.ts';
import { callResultJson, endedResult } from './call-result.ts';
import type { Exchange } from '../exchange.ts';
import { inputRequired, inputRequiredResult } from './input-required.ts';
import { receiptResult } from './receipt.ts';
import { APPROVAL_ROUND } from './request-state.ts';
import { RpcError } from '../messages/rpc-error.ts';
import { taskResult } from '../tasks/tasks.ts';
import { listsOutputSchema } from '../lists/tool-list.ts';

/** A recorded call whose client waits. */
export interface HeldCall {
  readonly call: Call;
  /** From `submit`; null if the call has ended, or a request before this one submitted it. */
  readonly live: LiveCall | null;
  /** Undefined if it was removed meanwhile. */
  readonly tool: RegisteredTool | undefined;
  /** The request had an idempotency key: its client can come back for the result. */
  readonly hasKey: boolean;
}

/**
 * Waits until the call has ended or needs its caller, and returns the result. A call that takes longer becomes a task, or a
 * receipt for a client without tasks. Null: the client has disconnected.
 */
export async function holdCall(exchange: Exchange, held: HeldCall): Promise<string | null> {
  const mayBeTask = exchange.client.hasTasks && held.tool?.task !== 'never';
  if (exchange.response.isGone) return await clientGone(exchange, held.call, held);
  const early = beforeWaiting(exchange, held.call, mayBeTask);
  if (early !== null) return early;
  const call = await waitFor(exchange, held, mayBeTask);
  const { isGone, isCancelled } = exchange.response;
  if (isGone || isCancelled) return await clientGone(exchange, call, held);
  if (isOpen(call)) return unfinished(exchange, call, held, mayBeTask);
  return mayBeTask && held.tool?.task === 'always'
    ? taskResult(exchange, call)
    : resultOf(call, exchange.era, held.tool);
}

/** An approval takes a person's time: the client gets a task or the link without waiting. */
function beforeWaiting(exchange: Exchange, call: Call, mayBeTask: boolean): string | null {
  if (call.state.name !== 'APPROVAL_REQUIRED') return null;
  if (mayBeTask) return taskResult(exchange, call);
  const request = exchange.era === 'modern' ? approvalRequest(exchange, call) : null;
  return request === null ? null : inputRequiredResult(exchange, call, APPROVAL_ROUND, request);
}

async function waitFor(exchange: Exchange, { call, live }: HeldCall, mayBeTask: boolean): Promise<Call> {
  const { context, principal, settings, holdMs, response, era } = exchange;
  const untilInput = era === 'modern';
  if (!isOpen(call) || (untilInput && waitsForInput(call))) return call;
  const ms = mayBeTask ? settings.taskAfterMs : holdMs;
  const found = await response.hold(
    async (signal) =>
      await context.engine.calls.wait(principal, call.id, ms, {
        signal,
        untilInput,
        ...(live === null ? {} : { live }),
      }),
  );
  return found ?? live?.call ?? call;
}

/** What a client gets instead of the result. */
function unfinished(exchange: Exchange, call: Call, { tool }: HeldCall, mayBeTask: boolean): string {
  const { state } = call;
  if (exchange.era === 'modern') {
    // An attempt that waits belongs to a task, whose input has a method of its own.
    const isOfTask = mayBeTask && state.name === 'INPUT_REQUIRED' && state.held;
    const required = waitsForInput(call) && !isOfTask ? inputRequired(exchange, call) : null;
    if (required !== null) return required;
    if (state.name === 'APPROVAL_REQUIRED' && !mayBeTask && showsApprovals(exchange))
      return inputRequiredResult(exchange, call, APPROVAL_ROUND);
  }
  if (mayBeTask) return taskResult(exchange, call);
  return receiptResult(exchange, call, tool !== undefined && listsOutputSchema(exchange, tool));
}

/** `tool`: if known, its output schema decides whether a string is structured content too. */
export function resultOf(call: Call, era: Exchange['era'], tool?: RegisteredTool): string {
  const result = endedResult(call, era, tool !== undefined && tool.outputSchema !== null);
  if (result instanceof RpcError) throw result;
  return callResultJson(result, era);
}

/**
 * 2026-07-28 requires that a disconnect cancels the request. A call whose client may repeat the request goes on; in older
 * versions a disconnect means nothing, and `notifications/cancelled` cancels.
 */
async function clientGone(exchange: Exchange, call: Call, held: HeldCall): Promise<null> {
  const { context, principal, era, holdMs, response } = exchange;
  const { isCancelled } = response;
  if (!isOpen(call) || (!isCancelled && (era === 'legacy' || mayComeBack(call, held)))) return null;
  if (!isCancelled)
    context.log.info('mcp.client_gone', { tool_call_id: call.id, tool: call.toolName, hold_ms: holdMs });
  try {
    await context.engine.calls.cancel(principal, call.id);
  } catch (error) {
    context.log.error('call.cancel_failed', { tool_call_id: call.id, error: messageOf(error) });
  }
  return null;
}

/** A client with an idempotency key may. A gateway always sends one, and repeats calls of idempotent tools only. */
function mayComeBack({ origin }: Call, { hasKey, tool }: HeldCall): boolean {
  return hasKey && (origin?.hops === undefined || tool?.annotations.idempotent === true);
}
