import type { FailureCode } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '../../../core/access/scopes.ts';
import type { HttpContext } from '../http/context.ts';
import type { ProblemContext, RefusalFormat, RequestRefused } from './problem.ts';

declare const VALUE: unique symbol;

/**
 * A JSON Schema. `Value`, which only the compiler knows, is the type of the values that it accepts. The building blocks in
 * `schemas.ts` derive it; the annotation of a literal is not checked.
 */
export interface Schema<Value = unknown> extends Readonly<Record<string, unknown>> {
  readonly [VALUE]?: Value;
}

/** The values that a schema accepts. */
export type ValueOf<Of extends Schema> = Of extends Schema<infer Value> ? Value : unknown;

/** A request with these parts, which the schemas of its route have accepted. */
export type RequestWith<Parts> = FastifyRequest & {
  readonly [Part in keyof Parts]: Part extends 'body' ? Sent<Parts[Part]> : Parts[Part];
};

/** A body without required properties may be omitted. */
type Sent<Body> = Partial<Body> extends Body ? Body | null | undefined : Body;

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
export interface Route<Params = unknown, Query = unknown, Body = unknown> {
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
  readonly params?: Schema<Params>;
  readonly query?: Schema<Query>;
  readonly headers?: Schema;
  /** The body may be omitted if no property is required. */
  readonly body?: Schema<Body>;
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
  /**
   * Called before a malformed body is refused; the result is added to the problem. The params of a body that is no JSON
   * are not validated.
   */
  readonly onBadBody?: (
    context: HttpContext,
    request: NoInfer<RequestWith<{ params: Params }>>,
    refused: RequestRefused,
  ) => Promise<ProblemContext>;
  /** Decodes the request, calls the engine, sends the response. A thrown error is sent as a problem. */
  readonly handle: (
    context: HttpContext,
    request: NoInfer<RequestWith<{ params: Params; query: Query; body: Body }>>,
    reply: FastifyReply,
  ) => Promise<void> | undefined;
}

/** Declares a route whose handler reads params, query or body: the compiler checks that the schemas fit what it reads. */
export function route<Params, Query, Body>(declared: Route<Params, Query, Body>): Route {
  // The schemas validate every request before it reaches the handler.
  return declared as Route;
}

/** Whether the route serves `HEAD` beside its own method. */
export function supportsHead({ method, isStream }: Route): boolean {
  return method === 'GET' && isStream !== true;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** A request to a route with `ID_PARAMS`. */
export type IdRequest = RequestWith<{ params: { readonly id: string } }>;

export function idOf({ params }: IdRequest): string {
  return params.id;
}

/** Sends serialized JSON. */
export function sendJson(reply: FastifyReply, status: number, json: string): void {
  reply.code(status).header('content-type', JSON_TYPE).send(json);
}
