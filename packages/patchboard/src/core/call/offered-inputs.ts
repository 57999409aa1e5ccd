import { reason } from '@patchboard/wire';
import { failure, type Failure } from '../failures.ts';
import { utf8Bytes } from '../json/utf8-bytes.ts';
import {
  INPUT_CONTENT_BYTES,
  MAX_REQUESTS_OF_ROUND,
  responseOf,
  type InputRequest,
  type InputResponse,
  type StoredResponse,
} from './input.ts';
import type { InputChecks } from './input-checks.ts';
import { schemaOf } from './input-kinds.ts';

/** Responses that a caller sends along with a request, by the key of the input request that they are for. */
export type ResponsesByKey = Readonly<Record<string, InputResponse>>;

type Offered = Omit<StoredResponse, 'at'>;

/** The same as they are stored with the call, until the tool asks. */
export type OfferedInputs = Readonly<Record<string, Offered>>;

export function offeredInputs(given: ResponsesByKey): OfferedInputs {
  return Object.fromEntries(Object.entries(given).map(([key, response]) => [key, offeredOf(response)]));
}

function offeredOf({ action, content }: InputResponse): Offered {
  return { action, contentJson: action === 'accept' ? (JSON.stringify(content) ?? null) : null };
}

/** Returns why the responses cannot be sent along; null if they can. Whether they fit is checked when the tool asks. */
export function offeredProblem(given: ResponsesByKey | undefined): Failure | null {
  if (given === undefined) return null;
  const entries = Object.entries(given);
  if (entries.length > MAX_REQUESTS_OF_ROUND)
    return failure('body_invalid', reason('inputs_too_many', { count: MAX_REQUESTS_OF_ROUND }));
  const isTooLarge = entries.some(
    ([key, response]) => utf8Bytes(JSON.stringify([key, response.content])) > INPUT_CONTENT_BYTES,
  );
  return isTooLarge ? failure('too_large', reason('input_over_limit', { bytes: INPUT_CONTENT_BYTES })) : null;
}

/** Returns the offered response to a request as it is stored; null if there is none, or it does not fit. */
export function fittingResponse(
  checks: Pick<InputChecks, 'misfit'>,
  offered: OfferedInputs,
  key: string,
  request: InputRequest,
): Offered | null {
  const response = Object.hasOwn(offered, key) ? offered[key] : undefined;
  if (response === undefined || response.action === 'decline') return response ?? null;
  const schema = schemaOf(request);
  // A link has no content: none is stored that was not validated.
  if (schema === null) return { ...response, contentJson: null };
  const { content } = responseOf({ ...response, at: 0 });
  return checks.misfit(key, schema, content) === null
    ? { ...response, contentJson: response.contentJson ?? 'null' }
    : null;
}
