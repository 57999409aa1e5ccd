import type { FailureCode } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '../../../core/access/scopes.ts';
import type { HttpContext } from '../http/context.ts';
import type { ProblemContext, RefusalFormat, RequestRefused } from './problem.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** One way a route answers. */
export interface RouteAnswer {
  readonly description: string;
  /** Absent: no body. */
  readonly schema?: Schema;
  /** Default `application/json`. */
  readonly type?: string;
  /** The same answer in another type. */
  readonly alternative?: { readonly type: string; readonly schema: Schema };
}

/** What a route that writes refuses with when the store accepts no write. */
export const NOT_STORED: readonly FailureCode[] = ['storage_full', 'storage_unavailable'];

/**
 * A route as data: it validates by these schemas, is documented by them, and is tested against them.
 * What it may refuse with is listed by code; the status follows from the code.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly name: string;
  readonly api: 'agent' | 'internal' | 'device' | 'tenant' | 'operator' | 'console';
  readonly summary: string;
  /** What the asker's credential must be good for; null: nobody is asked who they are. */
  readonly scope: Scope | null;
  /** A ticket in the query stands for the credential of whoever asked for it. */
  readonly takesTicket?: true;
  /** `X-Internal-API-Key` is a credential for this route. */
  readonly takesInternalKey?: true;
  readonly params?: Schema;
  readonly query?: Schema;
  readonly headers?: Schema;
  /** A body none of whose properties is required may be left out. */
  readonly body?: Schema;
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  readonly refusals: readonly FailureCode[];
  /** The format of every refusal at this URL, those before the route is reached included. Default: a problem (RFC 9457). */
  readonly refuse?: RefusalFormat;
  /** Answers with an endless stream, so `HEAD` means nothing. */
  readonly isStream?: boolean;
  /** Called before a body that does not parse or does not fit is refused; what it returns is added to the problem. */
  readonly onBadBody?: (
    context: HttpContext,
    request: FastifyRequest,
    refused: RequestRefused,
  ) => Promise<ProblemContext>;
  /** Decode, call the engine, encode. What it throws is answered as a fault. */
  readonly handle: (
    context: HttpContext,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Promise<void> | undefined;
}

/** Besides its own method. */
export function answersHead({ method, isStream }: Route): boolean {
  return method === 'GET' && isStream !== true;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Of a route with `ID_PARAMS`. */
export function idOf(request: FastifyRequest): string {
  return (request.params as { id: string }).id;
}

/** Sends JSON text that is ready. */
export function sendJson(reply: FastifyReply, status: number, json: string): void {
  reply.code(status).header('content-type', JSON_TYPE).send(json);
}
