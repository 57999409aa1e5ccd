import type { Call } from '../../../core/call/call.ts';
import { waitsForInput } from '../../../core/call/input.ts';
import { canonicalJson } from '@patchboard/wire/json';
import { callParams } from './call-request.ts';
import type { Exchange } from '../exchange.ts';
import { invalidParams, type RpcError } from '../messages/rpc-error.ts';

/** The round of the request for an approval. Rounds of a tool's own requests start with 1. */
export const APPROVAL_ROUND = 0;

/** A call that a request with `requestState` continues. */
export interface Continued {
  readonly call: Call;
  readonly round: number;
}

const STATE = /^([^.]{1,200})\.(0|[1-9]\d{0,3})\.([0-9a-f]{16})$/;

/**
 * `requestState`: call, round and a digest of the arguments. It is a name and no credential: all it can do is point to a
 * call of the same caller, so it needs no signature.
 */
export function requestState(exchange: Exchange, { id }: Pick<Call, 'id'>, round: number): string {
  return `${id}.${round}.${argumentsDigest(exchange)}`;
}

/** The arguments are compared by digest, because hooks, operators and redaction change the recorded ones. */
function argumentsDigest(exchange: Exchange): string {
  return exchange.context.digest.sha256(canonicalJson(callParams(exchange).args)).slice(0, 16);
}

/** Returns the call that waits for this request. Throws unless caller, tool, arguments, round and state are the same. */
export async function continuedCall(exchange: Exchange): Promise<Continued> {
  const { context, principal, params } = exchange;
  const { name } = callParams(exchange);
  const { requestState: state } = params;
  const [, id, roundText, digest] = (typeof state === 'string' ? STATE.exec(state) : null) ?? [];
  if (id === undefined || digest !== argumentsDigest(exchange)) throw invalidState();
  const round = Number(roundText);
  const call = await context.engine.calls.find(principal, id);
  if (call === undefined || call.agentId !== principal.agentId) throw invalidState();
  if (call.toolName !== (context.engine.tool(principal, name)?.name ?? name)) throw invalidState();
  if (!isWaiting(call, round)) throw invalidState();
  return { call, round };
}

/** A call whose approval was decided meanwhile still returns its result. */
function isWaiting(call: Call, round: number): boolean {
  if (round === APPROVAL_ROUND) return call.approval !== null;
  return waitsForInput(call) && call.inputs.at(-1)?.round === round;
}

export function invalidState(): RpcError {
  return invalidParams('requestState names no call of this caller that waits for this request', {
    reason: 'invalid_request_state',
  });
}
