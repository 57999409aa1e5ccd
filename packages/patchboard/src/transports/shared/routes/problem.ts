import { byFailureCode, HTTP_HINTS, type CallStateName, type FailureCode } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FAILURES, type Failure, type RateRefusal } from '../../../core/failures.ts';
import type { Schema } from './routes.ts';
import { ref } from './schemas.ts';

/** Each code in the vocabulary of HTTP. */
export const HTTP_STATUS: Readonly<Record<FailureCode, number>> = byFailureCode(({ status }) => status);

/** What a problem may say besides the failure itself. */
export interface ProblemContext {
  /** Where HTTP has a word of its own for what the code is called by another. */
  readonly status?: number;
  readonly toolCallId?: string;
  readonly state?: CallStateName;
  /** What the API adds in its own words. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** How an API writes the body of a refusal. Status and headers follow from the code, whatever the API. */
export interface RefusalFormat {
  /** Without parameters. */
  readonly contentType: string;
  /** What `/openapi.json` says of the body. */
  readonly schema: Schema;
  readonly write: (failed: Failure, context: ProblemContext) => string;
}

/** RFC 9457. */
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

/** For `auth_required` only what is sure to lack a credential says how to send one. */
function hintsFor(code: FailureCode): readonly string[] | undefined {
  return code !== 'auth_required' && code in HTTP_HINTS
    ? HTTP_HINTS[code as keyof typeof HTTP_HINTS]
    : undefined;
}

/** Refuses a request, in the format of the route that it reached. */
export function sendProblem(
  reply: FastifyReply,
  failed: Failure,
  context: ProblemContext = {},
  format: RefusalFormat = formatOf(reply.request),
): void {
  reply.send(prepareProblem(reply, failed, context, format));
}

/** The same up to the body, which it returns. */
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

/** What is not even a URL that can be read has no route. */
function formatOf({ routeOptions }: FastifyRequest): RefusalFormat {
  return routeOptions.config?.refuse ?? PROBLEM_FORMAT;
}

/** RFC 6750: a token that was sent and is not accepted is named as the error; without one there is no error code. */
function challengeFor({ headers }: FastifyRequest): string {
  const realm = 'Bearer realm="patchboard"';
  return headers.authorization === undefined ? realm : `${realm}, error="invalid_token"`;
}

/** Refused before it was read: what still comes would only be thrown away. */
function hasUnreadBody({ raw, headers }: FastifyRequest): boolean {
  if (raw.complete) return false;
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Whoever wanted a socket gets no second use of the connection. */
function isUpgrade({ headers }: FastifyRequest): boolean {
  return headers.upgrade !== undefined;
}

/** draft-ietf-httpapi-ratelimit-headers: which limit it is, how much it allows in how long, and when there is more. */
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

/** A limit knows when it lets the next one through; for anything else a second is as good a guess as any. */
function retryAfterSeconds({ rate }: Failure): number {
  return Math.max(1, Math.ceil((rate?.retryAfterMs ?? 0) / 1000));
}

/** Thrown where Fastify leaves no other way out, such as a body parser; the error handler answers with the failure. */
export class RequestRefused extends Error {
  readonly failure: Failure;
  /** The body, where it could not be parsed. */
  readonly text: string | undefined;

  constructor(failed: Failure, text?: string) {
    super(failed.message);
    this.name = 'RequestRefused';
    this.failure = failed;
    this.text = text;
  }
}
