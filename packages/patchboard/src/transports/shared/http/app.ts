import { reason } from '@patchboard/wire';
import { maxHeaderSize, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  fastify,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchemaCompiler,
  type FastifyServerOptions,
} from 'fastify';
import { failure, type Failure } from '../../../core/failures.ts';
import { LedgerVerifier } from '../../../core/ledger/ledger-check.ts';
import { pathFinder, type ServedPath } from '../routes/served-path.ts';
import { compress, isCompressible } from './compressed-response.ts';
import { Connections } from './connections.ts';
import type { HttpContext, HttpParts } from './context.ts';
import { HostOriginGuard } from './host-origin-guard.ts';
import { ArrivingBodies } from './arriving-bodies.ts';
import { HeldBodies } from './held-bodies.ts';
import { HeldResponses } from './held-responses.ts';
import { resolveHttpLimits, type HttpLimits } from './http-limits.ts';
import { acceptJsonOnly } from './json-body.ts';
import { EventLoopTurns } from './event-loop-turns.ts';
import { HttpMetrics } from './metrics.ts';
import { mount } from './mount.ts';
import { openApi } from '../routes/openapi.ts';
import type { Schema } from '../routes/routes.ts';
import { partValidator } from '../routes/validation.ts';
import { EventStreamCaps } from '../streams/event-stream-caps.ts';
import { OpenStreams } from '../streams/open-streams.ts';
import { refuseUnderPressure } from './pressure.ts';
import { failureOfError, PATH_PART_LENGTH } from './request-failure.ts';
import { HTTP_STATUS, problemJson, PROBLEM_TYPE, sendProblem } from '../routes/problem.ts';
import { API_HEADER_NAMES, API_HEADERS, corsHeaders, preflightHeaders } from './security-headers.ts';
import { Streams } from '../streams/streams.ts';
import { Tickets } from './tickets.ts';
import { Prompts } from '../views/prompts.ts';
import { ToolLists } from '../views/tool-lists.ts';
import { Upgrades } from './upgrades.ts';

const LATE_REQUESTS_EVERY_MS = 1000;
const compileValidator: FastifySchemaCompiler<Schema> = ({ schema, httpPart }) =>
  partValidator(schema, httpPart ?? 'body');
/** Instead of Fastify's compilers, which load Ajv. Response schemas only document; handlers serialize. */
const SCHEMA_CONTROLLER: NonNullable<FastifyServerOptions['schemaController']> = {
  compilersFactory: {
    // Its declared type is that of Ajv's compiler, but Fastify calls it as any other validator compiler.
    buildValidator: () => compileValidator as never,
    buildSerializer: () => () => (value) => JSON.stringify(value),
  },
};
/** Share of the heap for each of: parsed bodies of requests in progress, bodies being received, responses not yet sent. */
const MEMORY_SHARE = 1 / 6;

/** Creates the HTTP server of all APIs, ready to listen. `close()` ends streams and long polls first. */
export function createHttpApp(parts: HttpParts): FastifyInstance {
  const limits = resolveHttpLimits(parts.limits);
  const guard = new HostOriginGuard(parts.hostOrigin);
  const app = newApp(limits, guard, parts);
  const context = contextOf(app, limits, parts);
  guardHostAndOrigin(app, guard);
  finishResponses(app, context.metrics, new HeldResponses(memoryShare(limits, parts)));
  refuseUnderPressure(app, limits, parts.heap);
  refuseUnrouted(app, parts);
  acceptJsonOnly(app, { depth: limits.jsonDepth, values: limits.jsonValues }, context.bodies);
  releaseOnClose(app, context);
  // A plugin, so that the OpenAPI collector is registered before the routes.
  app.register((scope, _options, done) => {
    mount(scope, context, parts);
    done();
  });
  return app;
}

function memoryShare({ heldBodyBytes }: HttpLimits, { heap }: HttpParts): number {
  return Math.min(heldBodyBytes, heap.limitBytes * MEMORY_SHARE);
}

function contextOf(app: FastifyInstance, limits: Readonly<HttpLimits>, parts: HttpParts): HttpContext {
  const { engine, store, clock, log, digest, nodes, version } = parts;
  const openStreams = new OpenStreams(clock);
  const streams = new Streams(clock, limits, openStreams);
  const eventStreams = new EventStreamCaps(engine.limits, log);
  const toolLists = new ToolLists(engine);
  const bodyBytes = memoryShare(limits, parts);
  const connections = new Connections(app.server, { max: limits.connections, clock, log });
  return {
    ...parts,
    limits,
    resources: parts.resources ?? { jwtIssuer: null, pathPrefix: '' },
    startedAt: parts.startedAt ?? clock.now(),
    openStreams,
    bodies: new HeldBodies(bodyBytes),
    arrivingBodies: new ArrivingBodies(bodyBytes),
    streams,
    eventStreams,
    tickets: new Tickets(parts.tokens),
    upgrades: new Upgrades(app),
    ledgerVerifier: new LedgerVerifier(store, digest),
    connections,
    metrics: new HttpMetrics(engine, { store, nodes, streams, eventStreams, connections }),
    toolLists,
    prompts: new Prompts(engine, toolLists),
    turns: new EventLoopTurns(),
    openapi: openApi(app, version),
  };
}

function releaseOnClose(app: FastifyInstance, context: HttpContext): void {
  const { openStreams, metrics, services, connections } = context;
  app.addHook('preClose', (done) => {
    openStreams.endAll();
    // Mounted in another server, this one never listens and owns no connections.
    if (app.server.listening) connections.drain();
    done();
  });
  // A stream ends with the credential that opened it.
  const stopWatching = [
    services.keys.index.onRevoked((keyId) => openStreams.endOf(keyId)),
    services.keys.index.onFirst(() => openStreams.endOf(null)),
    services.sessions.onClosed((credentialId) => openStreams.endOf(credentialId)),
  ];
  app.addHook('onClose', async () => {
    for (const stop of stopWatching) stop();
    metrics.close();
    await services.keys.uses.flush();
  });
}

function newApp(limits: HttpLimits, guard: HostOriginGuard, parts: HttpParts): FastifyInstance {
  const { log } = parts;
  const app = fastify({
    logger: false,
    // Trusts one proxy: it appends the last address in the list; the client may have written all others.
    trustProxy: parts.trustProxy === true ? (_address, hop) => hop === 0 : false,
    bodyLimit: parts.engine.limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    connectionTimeout: limits.socketIdleMs,
    keepAliveTimeout: limits.keepAliveMs,
    // Node checks request timeouts at this interval (default 30 s); shorter timeouts would fire late.
    http: { connectionsCheckingInterval: LATE_REQUESTS_EVERY_MS },
    // While the server closes, the engine returns `overloaded` as a problem response.
    return503OnClosing: false,
    schemaController: SCHEMA_CONTROLLER,
    routerOptions: { maxParamLength: PATH_PART_LENGTH },
    frameworkErrors: (error, request, reply) => {
      request.refusal = null;
      reply.headers(API_HEADERS);
      const refused = guard.check(request.raw) ?? failureOfError(error, request as FastifyRequest, log);
      sendProblem(reply as FastifyReply, refused);
    },
    clientErrorHandler: respondToBrokenRequest,
  });
  app.server.headersTimeout = limits.headersTimeoutMs;
  app.decorateRequest('principal', null);
  app.decorateRequest('counter', null);
  app.decorateRequest('refusal', null);
  app.decorateRequest('response', null);
  app.decorateRequest('heldBytes', 0);
  app.setErrorHandler((error, request, reply) => {
    sendProblem(reply, failureOfError(error, request, log));
  });
  app.addHook('onListen', (done) => {
    const address = app.server.address();
    if (address !== null && typeof address === 'object') guard.bind((address satisfies AddressInfo).port);
    done();
  });
  return app;
}

/** Refuses a request without a route before its body is read. */
function refuseUnrouted(app: FastifyInstance, { routes }: Pick<HttpParts, 'routes'>): void {
  const find = pathFinder(routes);
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) sendUnrouted(request, reply, find);
    else done();
  });
}

/** Sends 404 or 405. Needs no credential: `/openapi.json` lists the routes publicly. */
function sendUnrouted(
  { method, url }: FastifyRequest,
  reply: FastifyReply,
  find: (path: string) => ServedPath,
): void {
  const [path = '/'] = url.split('?');
  const { methods, refuse } = find(path);
  const recommendations = ['GET /openapi.json lists the routes'];
  if (methods.length === 0) {
    sendProblem(
      reply,
      failure('route_not_found', reason('route_unknown', { method, path }), { recommendations }),
    );
    return;
  }
  reply.header('allow', methods.join(', '));
  const why = reason('route_takes_methods', { path, methods: methods.join(' or '), method });
  sendProblem(reply, failure('method_not_allowed', why, { recommendations }), {}, refuse);
}

function guardHostAndOrigin(app: FastifyInstance, guard: HostOriginGuard): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { headers } = request;
    const refused = guard.check(request.raw);
    if (refused !== null) {
      sendProblem(reply, refused);
      return;
    }
    const { origin } = headers;
    if (origin !== undefined && guard.allowsOrigin(origin)) {
      reply.headers(corsHeaders(origin));
      if (request.method === 'OPTIONS' && headers['access-control-request-method'] !== undefined) {
        reply.code(204).headers(preflightHeaders(headers['access-control-request-headers'])).send();
        return;
      }
    }
    done();
  });
}

/** Adds headers to, counts and compresses every response, except streams and receipts, which bypass Fastify. */
function finishResponses(app: FastifyInstance, metrics: HttpMetrics, responses: HeldResponses): void {
  const unmatched = metrics.route('*', '(none)');
  app.addHook('onSend', (request, reply, payload, done) => {
    const body = typeof payload === 'string' ? responses.admit(reply, payload) : payload;
    for (const name of API_HEADER_NAMES) {
      if (!reply.hasHeader(name)) reply.header(name, API_HEADERS[name]);
    }
    (request.counter ?? unmatched).count(reply.statusCode);
    if (request.refusal !== null) metrics.refused(request.refusal);
    if (typeof body === 'string' && isCompressible(request, body)) compress(reply, body, done);
    else done(null, body);
  });
}

const BROKEN: Readonly<Record<string, { status: number; failure: Failure }>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    failure: failure('too_large', reason('headers_over_limit', { bytes: maxHeaderSize })),
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    // Nothing of it was executed: the sender, the network or this process was too slow.
    failure: failure('body_invalid', reason('request_not_in_time'), { retryable: true }),
  },
};

/** Sends a problem response to a request that Node could not parse, and closes the connection. */
function respondToBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const { status, failure: failed } = BROKEN[error.code ?? ''] ?? {
    status: HTTP_STATUS.body_invalid,
    failure: failure('body_invalid', reason('request_not_http')),
  };
  const body = problemJson(failed, { status });
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${PROBLEM_TYPE}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
