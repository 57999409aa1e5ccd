import { reason } from '@patchboard/wire';
import { errorCodes, type FastifyRequest } from 'fastify';
import { failure, messageOf, storeFailure, type Failure } from '../../../core/failures.ts';
import { BadCursor, type Log } from '../../../core/ports.ts';
import { RequestRefused } from '../routes/problem.ts';

type Request = Pick<FastifyRequest, 'routeOptions'>;

/**
 * The failure for each Fastify error that a request can cause. All other Fastify errors are server errors (`internal`).
 * A test checks this against every Fastify error code: none of them is ever sent.
 */
const BY_REQUEST: Readonly<Partial<Record<keyof typeof errorCodes, (request: Request) => Failure>>> = {
  FST_ERR_NOT_FOUND: () => failure('route_not_found'),
  FST_ERR_VALIDATION: () => failure('body_invalid'),
  FST_ERR_CTP_BODY_TOO_LARGE: ({ routeOptions }) =>
    failure('too_large', reason('body_over_limit', { bytes: routeOptions.bodyLimit })),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => failure('content_type'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () => failure('body_invalid', reason('body_length_differs')),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => failure('body_invalid', reason('body_empty')),
  FST_ERR_CTP_INVALID_JSON_BODY: () => failure('body_invalid', reason('body_of_no_json')),
  FST_ERR_BAD_URL: () => failure('body_invalid', reason('url_bad_escape')),
  FST_ERR_MAX_PARAM_LENGTH: () =>
    failure('body_invalid', reason('url_part_too_long', { characters: PATH_PART_LENGTH })),
  FST_ERR_ASYNC_CONSTRAINT: () => failure('body_invalid', reason('url_unreadable')),
  FST_ERR_INVALID_URL: () => failure('body_invalid', reason('url_unreadable')),
  FST_ERR_HANDLER_TIMEOUT: () => failure('overloaded', reason('request_took_too_long')),
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: () => failure('content_type'),
  FST_ERR_ROUTE_MISSING_CONTENT: () => failure('body_invalid', reason('body_missing')),
};

/** Upper bound in characters on one path parameter; tool names and ids are shorter. */
export const PATH_PART_LENGTH = 500;

/** Returns the failure for a thrown error. Server errors are logged and sent as `internal`, without details. */
export function failureOfError(error: unknown, request: FastifyRequest, log: Log): Failure {
  const refused = requestFailure(error, request);
  if (refused !== null) return refused;
  log.error('http.failed', {
    method: request.method,
    route: request.counter?.route ?? null,
    error: messageOf(error),
    stack: error instanceof Error ? error.stack : undefined,
  });
  return failure('internal');
}

/** Returns the failure if the request caused the error; null for a server error. */
export function requestFailure(error: unknown, request: Request): Failure | null {
  if (error instanceof RequestRefused) return error.failure;
  if (error instanceof BadCursor) {
    const problem = [reason('cursor_unknown')];
    return failure('body_invalid', reason('at_place', { place: 'query/cursor', problem }));
  }
  const ofStore = storeFailure(error);
  if (ofStore !== null) return ofStore;
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  const toFailure = isFastifyCode(code) ? BY_REQUEST[code] : undefined;
  if (toFailure !== undefined) return toFailure(request);
  if (isFastifyCode(code) || typeof statusCode !== 'number') return null;
  return statusCode >= 400 && statusCode < 500 ? failure('body_invalid') : null;
}

function isFastifyCode(code: unknown): code is keyof typeof errorCodes {
  return typeof code === 'string' && Object.hasOwn(errorCodes, code);
}
