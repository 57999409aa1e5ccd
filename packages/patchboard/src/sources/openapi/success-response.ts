import { isRecord } from '@patchboard/wire/json';
import type { ListedOperation } from './operation-list.ts';
import { isJsonMediaType } from './parameter-values.ts';
import type { Description } from './read-description.ts';

export interface SuccessResponse {
  /** The schemas of the results as the description has them. Empty: a result may have none. */
  readonly schemas: readonly unknown[];
  /** The media types to request: of each response JSON if it has it, else all that it has. */
  readonly accept: readonly string[];
}

/**
 * Reads the responses with a status of 2xx. `default` is not read, because it describes errors too. Throws an
 * `OperationProblem`.
 */
export function successResponse(
  { operation, method }: ListedOperation,
  { references }: Description,
): SuccessResponse {
  const responses = isRecord(operation['responses']) ? operation['responses'] : {};
  const accept = new Set<string>();
  const schemas = new Set<unknown>();
  // A response to HEAD has no body.
  let isAlwaysJson = method !== 'head';
  for (const [status, given] of Object.entries(responses)) {
    if (!/^2(?:\d\d|XX)$/i.test(status)) continue;
    const response = references.follow(given);
    const content = isRecord(response) && isRecord(response['content']) ? response['content'] : {};
    const json = Object.entries(content).filter(([mediaType]) => isJsonMediaType(mediaType));
    if (json.length === 0) isAlwaysJson = false;
    for (const mediaType of Object.keys(json.length === 0 ? content : Object.fromEntries(json)))
      accept.add(mediaType);
    for (const [, media] of json) schemas.add(isRecord(media) ? media['schema'] : undefined);
  }
  const isDescribed = isAlwaysJson && !schemas.has(undefined);
  return { schemas: isDescribed ? [...schemas] : [], accept: [...accept] };
}
