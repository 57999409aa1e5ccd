import { isOpen } from '../../../core/call/call.ts';
import { noSuchCall } from '../../../core/steps/calls.ts';
import { chargeRequest } from '../charge-request.ts';
import type { Exchange } from '../exchange.ts';
import { toRpcError } from '../messages/failures.ts';
import { resultOf } from './hold-call.ts';
import { receiptResult } from './receipt.ts';
import { RESULT_TOOL_NAME } from './result-tool-name.ts';
import { invalidParams } from '../messages/rpc-error.ts';

/** For clients that do not support tasks. It belongs to this API: it reads a call and makes none. */
export const RESULT_TOOL: Readonly<Record<string, unknown>> = {
  name: RESULT_TOOL_NAME,
  title: 'patchboard.result',
  description:
    'Fetch the result of a tool call that was still running when it returned. Pass the tool_call_id of its receipt. ' +
    'Waits up to wait_seconds; if the call has not ended by then, returns the receipt again.',
  inputSchema: {
    type: 'object',
    properties: {
      tool_call_id: { type: 'string', description: 'from the receipt' },
      wait_seconds: {
        type: 'integer',
        minimum: 0,
        maximum: 3600,
        description: 'default: as long as allowed',
      },
    },
    required: ['tool_call_id'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
};

/** Returns what the call would have returned, had it ended in time. */
export async function fetchResult(
  exchange: Exchange,
  args: Readonly<Record<string, unknown>>,
): Promise<string> {
  chargeRequest(exchange);
  const { context, principal, era, holdMs, response } = exchange;
  const { id, waitMs } = readArguments(args, holdMs);
  if ((await exchange.context.engine.calls.findReadable(exchange.principal, id)) === undefined)
    throw toRpcError(noSuchCall(id));
  const call = await response.hold(
    async (signal) => await context.engine.calls.wait(principal, id, waitMs, { signal }),
  );
  if (call === undefined) throw toRpcError(noSuchCall(id));
  return isOpen(call) ? receiptResult(exchange, call, false) : resultOf(call, era);
}

function readArguments(
  args: Readonly<Record<string, unknown>>,
  holdMs: number,
): { readonly id: string; readonly waitMs: number } {
  const { tool_call_id: id, wait_seconds: seconds } = args;
  if (typeof id !== 'string' || id === '')
    throw invalidParams(`${RESULT_TOOL_NAME}: tool_call_id must be the id of a receipt`);
  if (seconds !== undefined && (typeof seconds !== 'number' || !(seconds >= 0)))
    throw invalidParams(`${RESULT_TOOL_NAME}: wait_seconds must be a number of seconds, 0 or more`);
  return { id, waitMs: Math.min(seconds === undefined ? holdMs : seconds * 1000, holdMs) };
}
