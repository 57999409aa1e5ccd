import { reason } from '@patchboard/wire';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { duplexPair, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { failure } from '../core/failures.ts';
import type { EngineContext } from './engine-context.ts';
import { buildApp, type AppSettings } from './apis.ts';
import { DEFAULT_MCP_SETTINGS, type McpSettings } from '../transports/mcp-server/mcp-settings.ts';
import type { JwtSettings } from '../identity/jwt-identity.ts';
import { HTTP_STATUS, problemJson, PROBLEM_TYPE } from '../transports/shared/routes/problem.ts';
import { API_HEADERS } from '../transports/shared/http/security-headers.ts';

/** HTTP options of a board, with its own server or mounted in another. */
export interface HttpOptions {
  /** Allowed `Host` values, besides the loopback names with the port of the connection. */
  readonly allowedHosts?: readonly string[];
  /** Allowed `Origin` values, besides the server's own. */
  readonly allowedOrigins?: readonly string[];
  /** Whether to trust the forwarding headers of the proxy in front (of several, the last). Default: false. */
  readonly trustProxy?: boolean;
  /** Accepts JWTs of an issuer as credentials. */
  readonly jwt?: JwtSettings;
  /** How the MCP server at `/mcp` waits for results, and names tools. */
  readonly mcp?: Partial<Pick<McpSettings, 'holdMs' | 'taskAfterMs' | 'names'>>;
  /**
   * Path prefix to strip, such as `/api/board`, if the framework does not. Express strips its own mount path. Set it there
   * too if MCP clients use OAuth: the URLs in the metadata of `/mcp` contain it.
   */
  readonly prefix?: string;
}

/** The APIs mounted in another server. */
export interface MountedApis {
  handler(request: IncomingMessage, response: ServerResponse): void;
  fetch(request: Request): Promise<Response>;
  close(): Promise<void>;
}

/** Statuses without a body; the `Response` constructor throws for a body with them. */
const WITHOUT_BODY: readonly number[] = [204, 205, 304];
/** Hop-by-hop headers belong to one connection and are not forwarded. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect', 'te', 'trailer'];

type HttpSettings = Pick<
  AppSettings,
  'allowedHosts' | 'allowedOrigins' | 'trustProxy' | 'jwt' | 'mcp' | 'internalKeys'
>;

/** The settings of either server of a board, with defaults. */
export function httpSettings(options: HttpOptions): HttpSettings {
  const { allowedHosts = [], allowedOrigins = [], trustProxy = false, jwt = null } = options;
  const mcp = { ...DEFAULT_MCP_SETTINGS, ...options.mcp };
  return { allowedHosts, allowedOrigins, trustProxy, jwt, mcp, internalKeys: [] };
}

/**
 * Local mode is off, because the address of the other server is unknown: every request needs a credential.
 * The host and origin guard is the same as for our own server.
 */
export function mountApis(context: EngineContext, options: HttpOptions, operatorToken: string): MountedApis {
  const { prefix = '' } = options;
  if (prefix !== '' && !/^(\/[^/?#\s"\\]+)+$/.test(prefix))
    throw new TypeError(`http.prefix must begin with / and not end with it, such as /api/board: ${prefix}`);
  const { fastify } = buildApp(context, {
    ...httpSettings(options),
    operatorTokens: [operatorToken],
    mayBeLocal: false,
    hasPages: false,
    port: 'of each connection',
    pathPrefix: prefix,
  });
  const ready = fastify.ready();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    await ready;
    fastify.routing(request, response);
  };
  return {
    handler: (request, response) => {
      if (wasRead(request)) {
        refuseReadBody(response);
        return;
      }
      request.url = withoutPrefix(request.url ?? '/', prefix);
      serve(request, response).catch((error: unknown) => response.destroy(error as Error));
    },
    fetch: async (request) => {
      await ready;
      return await exchange((socket) => fastify.server.emit('connection', socket), request, prefix);
    },
    close: async () => await fastify.close(),
  };
}

/**
 * Sends the request over an in-memory HTTP connection, so that limits, slow readers and disconnecting clients behave as
 * on a socket.
 */
async function exchange(
  connect: (serverSide: NodeJS.ReadWriteStream) => void,
  request: Request,
  prefix: string,
): Promise<Response> {
  const [ours, theirs] = duplexPair();
  // As on a socket: closing one side closes the other.
  ours.once('close', () => theirs.destroy());
  theirs.once('close', () => ours.end());
  const { protocol, pathname, search, host } = new URL(request.url);
  // As on a TLS socket: secure cookies depend on it.
  if (protocol === 'https:') Object.assign(theirs, { encrypted: true });
  connect(theirs);
  const outgoing = httpRequest({
    createConnection: () => ours as never,
    method: request.method,
    path: withoutPrefix(pathname + search, prefix),
    headers: outgoingHeaders(request, host),
    signal: request.signal,
  });
  const responded = new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve).once('error', reject);
  });
  if (request.body === null) outgoing.end();
  // The server may respond and close before it has read the whole body: ignore the write error, use the response.
  else pipeline(Readable.fromWeb(request.body as never), outgoing).catch(() => undefined);
  return toResponse(await responded);
}

function outgoingHeaders(request: Request, host: string): Record<string, string> {
  const headers: Record<string, string> = { host };
  for (const [name, value] of request.headers) if (!HOP_BY_HOP.includes(name)) headers[name] = value;
  return { ...headers, connection: 'close' };
}

function toResponse(incoming: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
    if (!HOP_BY_HOP.includes(name)) for (const value of values) headers.append(name, value);
  }
  const status = incoming.statusCode ?? 500;
  if (!WITHOUT_BODY.includes(status))
    return new Response(Readable.toWeb(incoming) as ReadableStream, { status, headers });
  incoming.resume();
  return new Response(null, { status, headers });
}

function withoutPrefix(url: string, prefix: string): string {
  if (prefix === '' || !url.startsWith(prefix)) return url;
  const rest = url.slice(prefix.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}

/** Whether a body parser in front has already consumed the body. */
function wasRead(request: IncomingMessage): boolean {
  const { headers } = request;
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  return hasBody && (request.readableEnded || request.readableDidRead);
}

function refuseReadBody(response: ServerResponse): void {
  const refused = failure('internal', reason('body_read_before_board'), {
    retryable: false,
    recommendations: ['mount the board before express.json() and other body parsers'],
  });
  response.writeHead(HTTP_STATUS.internal, { ...API_HEADERS, 'content-type': PROBLEM_TYPE });
  response.end(problemJson(refused));
}
