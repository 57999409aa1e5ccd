import type { FailureCode } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '../../../core/access/scopes.ts';
import type { HttpContext } from '../http/context.ts';
import type { ProblemContext, RefusalFormat, RequestRefused } from './problem.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** One success response of a route. */
export interface RouteResponse {
  readonly description: string;
  /** Absent if there is no body. */
  readonly schema?: Schema;
  /** Media type; default `application/json`. */
  readonly type?: string;
  /** The same response in another media type. */
  readonly alternative?: { readonly type: string; readonly schema: Schema };
}

/** Failure codes of every route that writes, for a store that accepts no write. */
export const NOT_STORED: readonly FailureCode[] = ['storage_full', 'storage_unavailable'];

/**
 * A route as data. The schemas validate requests, generate the documentation, and are checked by tests.
 * Refusals are listed by failure code; the status follows from the code.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly name: string;
  readonly api: 'agent' | 'mcp' | 'internal' | 'device' | 'tenant' | 'operator' | 'console';
  readonly summary: string;
  /** The scope that the credential must have; `any`: every credential will do; null if the route needs no credential. */
  readonly scope: Scope | 'any' | null;
  /** Accepts a ticket in the query as the credential. */
  readonly takesTicket?: true;
  /** Accepts `X-Internal-API-Key` as the credential. */
  readonly takesInternalKey?: true;
  readonly params?: Schema;
  readonly query?: Schema;
  readonly headers?: Schema;
  /** The body may be omitted if no property is required. */
  readonly body?: Schema;
  readonly responses: Readonly<Record<number, RouteResponse>>;
  readonly refusals: readonly FailureCode[];
  /** The format of every refusal at this URL, also before the route is reached. Default: a problem (RFC 9457). */
  readonly refuse?: RefusalFormat;
  /**
   * Path of the OAuth protected resource (RFC 9728) that the route belongs to. The `WWW-Authenticate` header of its 401
   * responses then names the scope and the metadata document, and a missing scope gets one too.
   */
  readonly protectedResource?: string;
  /** The response is an endless stream, so `HEAD` is not supported. */
  readonly isStream?: boolean;
  /** Called before a malformed body is refused; the result is added to the problem. */
  readonly onBadBody?: (
    context: HttpContext,
    request: FastifyRequest,
    refused: RequestRefused,
  ) => Promise<ProblemContext>;
  /** Decodes the request, calls the engine, sends the response. A thrown error is sent as a problem. */
  readonly handle: (
    context: HttpContext,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Promise<void> | undefined;
}

/** Whether the route serves `HEAD` beside its own method. */
export function supportsHead({ method, isStream }: Route): boolean {
  return method === 'GET' && isStream !== true;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Returns the id of a route with `ID_PARAMS`. */
export function idOf(request: FastifyRequest): string {
  return (request.params as { id: string }).id;
}

/** Sends serialized JSON. */
export function sendJson(reply: FastifyReply, status: number, json: string): void {
  reply.code(status).header('content-type', JSON_TYPE).send(json);
}
