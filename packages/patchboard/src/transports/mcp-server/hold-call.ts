import { isOpen, type Call } from '../../core/call/call.ts';
import { waitsForInput } from '../../core/call/input.ts';
import type { LiveCall } from '../../core/call/live-call.ts';
import { messageOf } from '../../core/failures.ts';
import type { RegisteredTool } from '../../core/tools/registered-tool.ts';
import { callResultJson, endedResult } from './call-result.ts';
import type { Exchange } from './exchange.ts';
import { receiptResult } from './receipt.ts';
import { RpcError } from './rpc-error.ts';
import { taskResult } from './tasks.ts';
import { showsOutputSchema } from './tool-list.ts';

/** A recorded call whose client waits. */
export interface HeldCall {
  readonly call: Call;
  /** Null if the call has ended. */
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
  const { tool } = held;
  const mayBeTask = exchange.client.hasTasks && tool?.task !== 'never';
  if (mayBeTask && (tool?.task === 'always' || held.call.state.name === 'APPROVAL_REQUIRED'))
    return taskResult(exchange, held.call);
  const call = held.live === null ? held.call : await waitFor(exchange, held, mayBeTask);
  if (exchange.response.isGone) return await clientGone(exchange, call, held);
  if (!isOpen(call)) return resultOf(call, exchange);
  if (mayBeTask) return taskResult(exchange, call);
  const hidesSchema = tool === undefined || !showsOutputSchema(tool, exchange.settings.holdMs);
  return receiptResult(exchange, call, !hidesSchema);
}

async function waitFor(exchange: Exchange, { call, live }: HeldCall, mayBeTask: boolean): Promise<Call> {
  const { context, principal, settings, holdMs, response } = exchange;
  const ms = mayBeTask ? settings.taskAfterMs : holdMs;
  const found = await response.hold(
    async (signal) =>
      await context.engine.calls.wait(principal, call.id, ms, {
        signal,
        live,
        untilInput: waitsForInput(call),
      }),
  );
  return found ?? live?.call ?? call;
}

function resultOf(call: Call, { era }: Exchange): string {
  const result = endedResult(call, era);
  if (result instanceof RpcError) throw result;
  return callResultJson(result, era);
}

/**
 * 2026-07-28 demands that a disconnect cancels the request. A call with an idempotency key goes on, because its client can
 * repeat the request; in older versions a disconnect means nothing.
 */
async function clientGone(exchange: Exchange, call: Call, { hasKey }: HeldCall): Promise<null> {
  const { context, principal, era, holdMs } = exchange;
  if (era === 'legacy' || hasKey || !isOpen(call)) return null;
  context.log.info('mcp.client_gone', { tool_call_id: call.id, tool: call.toolName, hold_ms: holdMs });
  try {
    await context.engine.calls.cancel(principal, call.id);
  } catch (error) {
    context.log.error('call.cancel_failed', { tool_call_id: call.id, error: messageOf(error) });
  }
  return null;
}
