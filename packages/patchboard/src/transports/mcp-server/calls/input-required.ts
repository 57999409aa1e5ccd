import type { Call } from '../../../core/call/call.ts';
import { idMeta } from './call-result.ts';
import type { Exchange } from '../exchange.ts';
import type { InputRequestJson } from '../../../protocols/mcp/input-requests.ts';
import { inputRequestsOf } from './input-requests.ts';
import { requestState } from './request-state.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';

/** The result of a call that waits for input; null if this client can respond to none of it. */
export function inputRequired(exchange: Exchange, call: Call): string | null {
  const requests = inputRequestsOf(call, exchange.client);
  if (Object.keys(requests).length === 0) return null;
  return inputRequiredResult(exchange, call, call.inputs.at(-1)?.round ?? 1, requests);
}

/** Without `requests` the client repeats its request at once, to wait on. */
export function inputRequiredResult(
  exchange: Exchange,
  call: Call,
  round: number,
  requests?: Readonly<Record<string, InputRequestJson>>,
): string {
  const members = {
    ...(requests === undefined ? {} : { inputRequests: requests }),
    requestState: requestState(exchange, call, round),
  };
  return resultJson(exchange.era, membersOf(members), { type: 'input_required', meta: idMeta(call) });
}
