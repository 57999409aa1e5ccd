import type { PromptInput, PromptInputRequired } from '../../../core/resources/prompt-inputs.ts';
import type { ResponsesByKey } from '../../../core/call/offered-inputs.ts';
import { isRecord } from '@patchboard/wire/json';
import { parseGuardedJson } from '../../../core/json/json-guard.ts';
import type { Exchange } from '../exchange.ts';
import { requestJson } from '../../../protocols/mcp/input-requests.ts';
import { kindsOf } from '../calls/input-requests.ts';
import { responsesInRequest } from '../calls/input-responses.ts';
import { membersOf, resultJson } from '../messages/result-json.ts';
import { invalidParams } from '../messages/rpc-error.ts';

/** What the client of `prompts/get` can respond to, and its responses so far. Older versions cannot carry requests. */
export function promptInput(exchange: Exchange): PromptInput {
  if (exchange.era === 'legacy') return { acceptsInput: false };
  const inputs = { ...readState(exchange), ...responsesInRequest(exchange) };
  return { acceptsInput: kindsOf(exchange.client), inputs };
}

/**
 * The result of a prompt that needs input. Clients repeat the state and send only the responses to these requests, so the
 * state has the earlier ones. It needs no signature: the prompt validates each response again.
 */
export function promptInputRequired(name: string, { requests, given }: PromptInputRequired): string {
  const inputRequests = Object.fromEntries(
    Object.entries(requests).map(([key, request]) => [key, requestJson(request, `${name}.${key}`)]),
  );
  const state = Object.keys(given).length === 0 ? {} : { requestState: writeState(given) };
  return resultJson('modern', membersOf({ inputRequests, ...state }), { type: 'input_required' });
}

function writeState(given: ResponsesByKey): string {
  return Buffer.from(JSON.stringify(given)).toString('base64url');
}

/** The client may send any text, so it is checked as request bodies are. */
function readState({ context, params }: Exchange): ResponsesByKey {
  const { requestState: state } = params;
  if (state === undefined) return {};
  const { jsonDepth: depth, jsonValues: values } = context.limits;
  const text = typeof state === 'string' ? Buffer.from(state, 'base64url').toString() : '';
  const read = parseGuardedJson(text, { depth, values });
  const given = read.ok ? read.value : null;
  if (!isRecord(given) || !Object.values(given).every(isResponse))
    throw invalidParams('requestState is none that prompts/get returned');
  return given as ResponsesByKey;
}

function isResponse(value: unknown): boolean {
  return isRecord(value) && (value['action'] === 'accept' || value['action'] === 'decline');
}
