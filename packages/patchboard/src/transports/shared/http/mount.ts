import { type FailureCode, reason } from '@patchboard/wire';
import { isRecord } from '@patchboard/wire/json';
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  RouteShorthandOptions,
} from 'fastify';
import type { Authenticator } from '../../../core/access/authenticator.ts';
import { denied, failure, type Failure } from '../../../core/failures.ts';
import { andThen, type MaybePromise } from '../../../core/maybe-promise.ts';
import type { Principal } from '../../../core/access/principal.ts';
import type { Scope } from '../../../core/access/scopes.ts';
import { SMALL_BODY_BYTES } from './arriving-bodies.ts';
import type { Connections } from './connections.ts';
import type { HttpContext } from './context.ts';
import { isFailure } from '../routes/caller.ts';
import type { RouteCounter } from './metrics.ts';
import { challengeOf } from '../routes/challenge.ts';
import { HTTP_STATUS, PROBLEM_FORMAT, RequestRefused, sendProblem } from '../routes/problem.ts';
import { failureOfError } from './request-failure.ts';
import { supportsHead, type Route, type RouteResponse, type Schema } from '../routes/routes.ts';
import { COMPONENTS } from '../routes/components.ts';

/** Registers the declared routes with Fastify. */
export function mount(
  app: FastifyInstance,
  context: HttpContext,
  given: { readonly routes: readonly Route[]; readonly authenticator: Authenticator },
): void {
  for (const component of COMPONENTS) app.addSchema(component);
  for (const route of given.routes) {
    const counter = context.metrics.route(route.method, route.url);
    app.route({
      method: route.method,
      url: route.url,
      schema: schemaOf(route),
      config: refusalConfig(route, context),
      exposeHeadRoute: supportsHead(route),
      ...bodyRules(route, context),
      ...(route.onBadBody === undefined ? {} : { errorHandler: badBodyHandler(route, context, given) }),
      onRequest: identify(route, counter, given.authenticator, context),
      handler: (request, reply) => {
        if (isStillValid(request, given.authenticator)) run(route, context, request, reply);
        else sendProblem(reply, failure('auth_required', reason('credential_revoked')));
      },
    });
  }
}

/** `sendProblem` reads this: app-level hooks refuse requests before the route's own hooks run. */
function refusalConfig(route: Route, { resources }: HttpContext): FastifyContextConfig {
  const challenge = challengeOf(route, resources);
  return {
    ...(route.refuse === undefined ? {} : { refuse: route.refuse }),
    ...(challenge === null ? {} : { challenge }),
  };
}

/** Routes that need no credential, or no body, accept small bodies only; other bodies are counted while they arrive. */
function bodyRules(
  route: Route,
  { arrivingBodies }: HttpContext,
): Pick<RouteShorthandOptions, 'bodyLimit' | 'preParsing'> {
  if (route.scope === null || route.body === undefined) return { bodyLimit: SMALL_BODY_BYTES };
  return {
    preParsing: (request, _reply, payload, done) => {
      arrivingBodies.watch(request);
      done(null, payload);
    },
  };
}

function run(route: Route, context: HttpContext, request: FastifyRequest, reply: FastifyReply): void {
  const work = route.handle(context, request, reply);
  if (work !== undefined) work.catch((error: unknown) => fail(reply, error));
}

/** Calls the route's `onBadBody` before the refusal of a body is sent. */
function badBodyHandler(
  route: Route,
  context: HttpContext,
  { authenticator }: { readonly authenticator: Authenticator },
): (error: unknown, request: FastifyRequest, reply: FastifyReply) => void {
  const { onBadBody } = route;
  return (error, request, reply) => {
    const refused = failureOfError(error, request, context.log);
    if (onBadBody === undefined || !isBadBody(error) || !isStillValid(request, authenticator)) {
      sendProblem(reply, refused);
      return;
    }
    onBadBody(context, request, error).then(
      (more) => sendProblem(reply, refused, more),
      (failed: unknown) => sendProblem(reply, failureOfError(failed, request, context.log)),
    );
  };
}

/** Whether the body is at fault, and not headers, query or path. */
function isBadBody(error: unknown): error is RequestRefused {
  if (!(error instanceof RequestRefused)) return false;
  const { validationContext } = error as { validationContext?: unknown };
  return error.text !== undefined || validationContext === 'body';
}

/** Sends the error as a problem, or destroys the connection if headers were sent already. */
function fail(reply: FastifyReply, error: unknown): void {
  if (reply.sent || reply.raw.headersSent) reply.raw.destroy();
  else reply.send(error instanceof Error ? error : new Error('a handler threw something else than an error'));
}

/** Authenticates and authorizes the request before its body is read. */
function identify(
  route: Route,
  counter: RouteCounter,
  authenticator: Authenticator,
  context: HttpContext,
): (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void {
  const { scope } = route;
  const { connections } = context;
  return (request, reply, done) => {
    request.counter = counter;
    request.response = reply.raw;
    if (scope === null) {
      done();
      return;
    }
    const ticket = route.takesTicket === true ? ticketIn(request) : null;
    const found =
      ticket === null
        ? authenticator.authenticate(request, route.takesInternalKey === true)
        : byTicket(context, authenticator, ticket);
    if (found instanceof Promise) {
      found.then((principal) => admit({ request, reply, done, connections }, principal, scope)).catch(done);
    } else admit({ request, reply, done, connections }, found, scope);
  };
}

function ticketIn({ query }: FastifyRequest): string | null {
  const ticket = isRecord(query) ? query['ticket'] : undefined;
  return typeof ticket === 'string' ? ticket : null;
}

function byTicket(
  { tickets, engine }: HttpContext,
  authenticator: Authenticator,
  ticket: string,
): MaybePromise<Principal | Failure> {
  return andThen(tickets.redeem(ticket), (principal) => {
    const isValid = (): boolean => principal !== null && authenticator.isStillValid(principal);
    const found = (): Principal | Failure => (principal !== null && isValid() ? principal : ticketSpent());
    if (principal === null || isValid() || !engine.changes.isShared) return found();
    // Another node may have made its credential a moment ago.
    return engine.changes.afterMiss().then(found);
  });
}

function ticketSpent(): Failure {
  return failure('auth_required', reason('ticket_spent'), {
    recommendations: ['POST /v1/tickets makes one; it is good for one connection'],
  });
}

/** Checks again that the credential is valid: it may have been revoked while a body arrived, also one that no route takes. */
function isStillValid({ principal }: FastifyRequest, authenticator: Authenticator): boolean {
  return principal === null || authenticator.isStillValid(principal);
}

function admit(
  exchange: { request: FastifyRequest; reply: FastifyReply; done: () => void; connections: Connections },
  principal: Principal | Failure,
  scope: Scope | 'any',
): void {
  const { request, reply, done, connections } = exchange;
  if (isFailure(principal)) {
    sendProblem(reply, principal);
    return;
  }
  connections.identified(request.raw.socket);
  if (scope !== 'any' && !principal.scopes.has(scope)) {
    const { challenge } = request.routeOptions.config;
    if (challenge !== undefined) reply.header('www-authenticate', challenge(request, 'insufficient_scope'));
    sendProblem(reply, outOfScope(principal, scope));
    return;
  }
  request.principal = principal;
  done();
}

function outOfScope({ kind }: Principal, scope: Scope): Failure {
  if (kind === 'local') {
    return failure('permission_denied', denied(reason('scope_not_local', { scope })), {
      recommendations: [
        'this is for an operator, who sends the operator token; see "Authentication" in the README',
      ],
    });
  }
  return failure('permission_denied', denied(reason('scope_missing', { scope })), {
    recommendations: [`send a credential with the scope ${scope}: a key that has it, or the operator token`],
  });
}

function schemaOf(route: Route): FastifySchema {
  const responses = Object.entries(route.responses).map(([status, response]) => [
    status,
    responseSchema(response),
  ]);
  return {
    operationId: route.name,
    tags: [route.api],
    summary: route.summary,
    ...(route.params === undefined ? {} : { params: route.params }),
    ...(route.query === undefined ? {} : { querystring: route.query }),
    ...(route.headers === undefined ? {} : { headers: route.headers }),
    ...(route.body === undefined ? {} : { body: route.body }),
    response: { ...Object.fromEntries(responses), ...problemsOf(route) },
  } as FastifySchema;
}

function responseSchema({ description, schema, type, alternative }: RouteResponse): Schema {
  if (schema === undefined) return { description, type: 'null' };
  const content: Record<string, { schema: Schema }> = { [type ?? 'application/json']: { schema } };
  if (alternative !== undefined) content[alternative.type] = { schema: alternative.schema };
  return { description, content };
}

/** The problem responses of a route, by status. */
function problemsOf(route: Route): Record<string, Schema> {
  const { contentType, schema } = route.refuse ?? PROBLEM_FORMAT;
  const byStatus = new Map<number, FailureCode[]>();
  for (const code of refusalsOf(route)) {
    const status = HTTP_STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\``).join(', '),
        content: { [contentType]: { schema } },
      },
    ]),
  );
}

/** The failure codes of a route, with those of the host and origin guard, the body parser and the load limits. */
export function refusalsOf(route: Route): readonly FailureCode[] {
  const codes: FailureCode[] = ['misdirected', 'permission_denied', 'overloaded', 'internal'];
  // 429: too many wrong operator tokens.
  if (route.scope !== null) codes.push('auth_required', 'rate_limited');
  if (route.params ?? route.query ?? route.headers ?? route.body) codes.push('body_invalid');
  if (route.body !== undefined) codes.push('content_type', 'too_large');
  return [...new Set([...route.refusals, ...codes])];
}
