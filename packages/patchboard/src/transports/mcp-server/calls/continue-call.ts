import type { RegisteredTool } from '../../../core/tools/registered-tool.ts';
import { respondToLink } from './approval-link.ts';
import { keptReports, requestReports } from './call-reports.ts';
import { chargeRequest } from '../charge-request.ts';
import type { Exchange } from '../exchange.ts';
import { holdCall } from './hold-call.ts';
import { giveResponses, readResponses } from './input-responses.ts';
import { APPROVAL_ROUND, continuedCall, invalidState } from './request-state.ts';
import { META } from '../../../protocols/mcp/revisions.ts';

/**
 * `tools/call` with `requestState`: gives the call that waits the client's responses, and waits for its result as for a
 * new call. Makes no call.
 */
export async function continueCall(
  exchange: Exchange,
  tool: RegisteredTool | undefined,
): Promise<string | null> {
  chargeRequest(exchange);
  const { context, principal, meta } = exchange;
  const responses = readResponses(exchange) ?? {};
  const target = requestReports(exchange);
  const { call, round } = await continuedCall(exchange);
  const reports = keptReports(exchange).use(call.id);
  const hasKey = meta[META.idempotencyKey] !== undefined;
  try {
    // Before the responses, with which the tool goes on.
    if (target !== null) reports?.targets.add(target);
    if (round === APPROVAL_ROUND) await respondToLink(exchange, call, responses);
    else {
      const { taken, late } = await giveResponses(exchange, call, responses);
      if (late > 0 && taken === 0) throw invalidState();
    }
    const current = (await context.engine.calls.find(principal, call.id)) ?? call;
    return await holdCall(exchange, { call: current, live: null, tool, hasKey });
  } finally {
    target?.end();
    // Another request that waits for the call gets its reports again.
    if (target !== null) reports?.targets.delete(target);
  }
}
