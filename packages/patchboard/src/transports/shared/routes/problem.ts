import { byFailureCode, HTTP_HINTS, type CallStateName, type FailureCode } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FAILURES, type Failure, type RateRefusal } from '../../../core/failures.ts';
import { bearerChallenge } from './challenge.ts';
import type { Schema } from './routes.ts';
import { ref } from './components.ts';

/** The HTTP status of each failure code. */
export const HTTP_STATUS: Readonly<Record<FailureCode, number>> = byFailureCode(({ status }) => status);

/** Members of a problem in addition to the failure. */
export interface ProblemContext {
  /** Overrides the status of the failure code. */
  readonly status?: number;
  readonly toolCallId?: string;
  readonly state?: CallStateName;
  /** Further members of the API's own format. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** How an API encodes the body of a refusal. Status and headers follow from the failure code in every API. */
export interface RefusalFormat {
  /** Media type without parameters. */
  readonly contentType: string;
  /** Schema of the body in `/openapi.json`. */
  readonly schema: Schema;
  readonly write: (failed: Failure, context: ProblemContext) => string;
}

/** The problem format of RFC 9457. */
export const PROBLEM_FORMAT: RefusalFormat = {
  contentType: 'application/problem+json',
  schema: ref('Problem'),
  write: problemJson,
};

export const PROBLEM_TYPE: string = `${PROBLEM_FORMAT.contentType}; charset=utf-8`;

export function problemJson(failed: Failure, context: ProblemContext = {}): string {
  return JSON.stringify({
    type: `urn:patchboard:problem:${failed.code}`,
    title: FAILURES[failed.code].summary,
    status: context.status ?? HTTP_STATUS[failed.code],
    detail: failed.message,
    reasons: failed.reasons,
    code: failed.code,
    retryable: failed.retryable,
    recommendations: failed.recommendations ?? hintsFor(failed.code),
    tool_call_id: context.toolCallId,
    errors: failed.issues,
    state: context.state,
    ...context.more,
  });
}

/** `auth_required` has no default hint: only the caller knows whether a credential is missing or wrong. */
function hintsFor(code: FailureCode): readonly string[] | undefined {
  return code !== 'auth_required' && code in HTTP_HINTS
    ? HTTP_HINTS[code as keyof typeof HTTP_HINTS]
    : undefined;
}

/** Sends a refusal in the format of the request's route. */
export function sendProblem(
  reply: FastifyReply,
  failed: Failure,
  context: ProblemContext = {},
  format: RefusalFormat = formatOf(reply.request),
): void {
  reply.send(prepareProblem(reply, failed, context, format));
}

/** Sets status and headers of a refusal, and returns its body. */
export function prepareProblem(
  reply: FastifyReply,
  failed: Failure,
  context: ProblemContext = {},
  format: RefusalFormat = formatOf(reply.request),
): string {
  const status = HTTP_STATUS[failed.code];
  reply.code(status).header('content-type', `${format.contentType}; charset=utf-8`);
  if (status === 401) reply.header('www-authenticate', challengeFor(reply.request));
  if (status === 429 || status === 503) reply.header('retry-after', retryAfterSeconds(failed));
  if (failed.rate !== undefined) reply.headers(rateFields(failed.rate));
  if (hasUnreadBody(reply.request) || isUpgrade(reply.request)) reply.header('connection', 'close');
  reply.request.refusal = failed.code;
  return format.write(failed, context);
}

/** A request with a malformed URL has no route. */
function formatOf({ routeOptions }: FastifyRequest): RefusalFormat {
  return routeOptions.config?.refuse ?? PROBLEM_FORMAT;
}

/** RFC 6750: `invalid_token` if a token was sent; no error code otherwise. */
function challengeFor(request: FastifyRequest): string {
  const challenge = request.routeOptions.config?.challenge ?? bearerChallenge;
  return challenge(request, request.headers.authorization === undefined ? null : 'invalid_token');
}

/** Whether a body is still being sent, which the server would only discard. */
function hasUnreadBody({ raw, headers }: FastifyRequest): boolean {
  if (raw.complete) return false;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** The connection of a refused upgrade is not reused. */
function isUpgrade({ headers }: FastifyRequest): boolean {
  return headers.upgrade !== undefined;
}

/** The header fields of draft-ietf-httpapi-ratelimit-headers. */
export function rateFields({
  policy,
  limit,
  windowMs,
  remaining,
  retryAfterMs,
}: RateRefusal): Record<string, string> {
  const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));
  return {
    'ratelimit-policy': `"${policy}";q=${limit};w=${seconds(windowMs)}`,
    ratelimit: `"${policy}";r=${remaining};t=${seconds(retryAfterMs)}`,
  };
}

/** From the rate limit if there is one; otherwise one second. */
function retryAfterSeconds({ rate }: Failure): number {
  return Math.max(1, Math.ceil((rate?.retryAfterMs ?? 0) / 1000));
}

/** Thrown where a reply cannot be sent directly, such as in a body parser. The error handler sends the failure. */
export class RequestRefused extends Error {
  readonly failure: Failure;
  /** The body, if it could not be parsed. */
  readonly text: string | undefined;

  constructor(failed: Failure, text?: string) {
    super(failed.message);
    this.name = 'RequestRefused';
    this.failure = failed;
    this.text = text;
  }
}
