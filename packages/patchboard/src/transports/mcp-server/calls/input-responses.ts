import type { InputKind } from '@patchboard/wire';
import type { Call } from '../../../core/call/call.ts';
import type { ResponsesByKey } from '../../../core/call/offered-inputs.ts';
import { kindOf } from '../../../core/call/input-kinds.ts';
import { isRecord } from '@patchboard/wire/json';
import type { GivenInput } from '../../../core/steps/input-responses.ts';
import type { Exchange } from '../exchange.ts';
import { failureData, toRpcError } from '../messages/failures.ts';
import { openByKey } from './input-requests.ts';
import { invalidParams } from '../messages/rpc-error.ts';

/** `params.inputResponses`: results of the client by key. */
export type InputResponses = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What a response says. Null: the user closed the form, so the request stays open. */
type Response = Pick<GivenInput, 'action' | 'content'> | null;

/** Null if there are none. Throws if they are no map of objects. */
export function readResponses({ params }: Pick<Exchange, 'params'>): InputResponses | null {
  const given = params['inputResponses'];
  if (given === undefined) return null;
  if (!isRecord(given)) throw invalidParams('inputResponses must be an object of responses by key');
  for (const [key, response] of Object.entries(given))
    if (!isRecord(response)) throw malformed(key, 'must be an object');
  return given as InputResponses;
}

/**
 * The responses of a request that continues no call, for what the tool is going to ask. The kinds of its requests are not
 * known yet, so each response is read by its members.
 */
export function responsesInRequest(exchange: Pick<Exchange, 'params'>): ResponsesByKey | undefined {
  const responses = readResponses(exchange);
  if (responses === null) return undefined;
  const read = Object.entries(responses).map(
    ([key, response]) => [key, readInRequest(key, response)] as const,
  );
  return Object.fromEntries(read.flatMap(([key, response]) => (response === null ? [] : [[key, response]])));
}

function readInRequest(key: string, response: InputResponses[string]): Response {
  const isElicited = response['roots'] === undefined && response['role'] === undefined;
  return readResponse(key, isElicited ? 'form' : 'sampling', response);
}

/** The response of that key; undefined also for the names of inherited members. */
export function responseAt(responses: InputResponses, key: string): InputResponses[string] | undefined {
  return Object.hasOwn(responses, key) ? responses[key] : undefined;
}

/**
 * Gives the call the responses to its open requests; other keys are ignored. Returns how many were taken, and how many
 * came too late, because another request had responded first. Throws if a response is malformed: its request stays open.
 */
export async function giveResponses(
  { context, principal }: Pick<Exchange, 'context' | 'principal'>,
  call: Call,
  responses: InputResponses,
): Promise<{ readonly taken: number; readonly late: number }> {
  const given: GivenInput[] = [];
  for (const [key, round] of openByKey(call)) {
    const response = responseAt(responses, key);
    const read = response === undefined ? null : readResponse(key, kindOf(round), response);
    if (read !== null) given.push({ id: round.id, ...read });
  }
  let taken = 0;
  for (const one of given) {
    const result = await context.engine.calls.respond(principal, call.id, one);
    if (result.ok) taken += 1;
    else if (result.failure.code === 'overloaded') throw toRpcError(result.failure);
    else if (result.failure.code !== 'conflict')
      throw invalidParams(result.failure.message, failureData(result.failure));
  }
  return { taken, late: given.length - taken };
}

function readResponse(key: string, kind: InputKind, response: InputResponses[string]): Response {
  if (kind === 'sampling' || kind === 'roots') return { action: 'accept', content: response };
  return elicitResult(key, response);
}

export function elicitResult(key: string, { action, content }: InputResponses[string]): Response {
  switch (action) {
    case 'accept':
      return { action, content: content ?? null };
    case 'decline':
      return { action, content: null };
    case 'cancel':
      return null;
    default:
      throw malformed(key, 'action must be accept, decline or cancel');
  }
}

function malformed(key: string, problem: string): Error {
  return invalidParams(`inputResponses[${JSON.stringify(key.slice(0, 100))}]: ${problem}`);
}
