import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ConfigError } from '../settings/config-file.ts';
import { isLoopback } from '../settings/settings.ts';
import type { EngineContext } from './engine-context.ts';
import { CredentialAuthenticator } from '../identity/credential-authenticator.ts';
import { InternalKeys, type InternalKey } from '../identity/internal-keys.ts';
import { JwtIdentity, type JwtSettings } from '../identity/jwt-identity.ts';
import { OperatorTokenGuard } from '../identity/operator-token-guard.ts';
import { MemoryTokens } from '../core/access/memory-tokens.ts';
import { Sessions } from '../identity/sessions.ts';
import { connectionBudget, descriptorLimit } from '../runtime/descriptor-limit.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { nodeHeap } from '../runtime/node-heap.ts';
import { messageOf } from '../core/failures.ts';
import type { UpstreamReloader } from '../core/upstreams/upstream.ts';
import { agentRoutes } from '../transports/agent-api/routes.ts';
import { deviceRoutes } from '../transports/device-gateway/routes.ts';
import { consoleRoutes } from '../transports/console/routes.ts';
import { mcpRoutes } from '../transports/mcp-server/routes.ts';
import { DEFAULT_MCP_SETTINGS, type McpSettings } from '../transports/mcp-server/mcp-settings.ts';
import { internalRoutes } from '../transports/internal-api/routes.ts';
import { protectedResourceRoutes } from '../transports/mcp-server/protected-resource.ts';
import { operatorRoutes } from '../transports/operator-api/routes.ts';
import type { Route } from '../transports/shared/routes/routes.ts';
import { tenantRoutes } from '../transports/tenant-api/routes.ts';
import { createHttpApp } from '../transports/shared/http/app.ts';
import type { SandboxView } from '../transports/shared/http/context.ts';
import type { HostOriginOptions } from '../transports/shared/http/host-origin-guard.ts';
import { DEFAULT_HTTP_LIMITS } from '../transports/shared/http/http-limits.ts';
import { VERSION } from '../version.ts';
import type { SandboxReport } from './sandbox-setup.ts';

export interface ApiSettings {
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly trustProxy: boolean;
  readonly isProduction: boolean;
  readonly jwt: JwtSettings | null;
  readonly internalKeys: readonly InternalKey[];
  readonly operatorTokens: readonly string[];
  /** Whether the operator chose the token, so that it counts as a configured credential. Default: false. */
  readonly hasConfiguredToken?: boolean;
  /** False: every request needs a credential, also on loopback. Default: true. */
  readonly allowsLocalMode?: boolean;
  readonly mcp: McpSettings;
  /** Absent: the upstreams are fixed by the embedding program. */
  readonly upstreamReloader?: UpstreamReloader;
  /** Whether this node leaves its cluster and should get no new requests. Absent: it is the only one. */
  readonly isLeaving?: () => boolean;
}

/** A listening server with the network APIs of an engine. */
export interface ListeningApis {
  readonly url: string;
  /** Whether requests without a credential are accepted. */
  readonly isLocal: boolean;
  /** Returns a single-use token that opens a browser session. */
  loginToken(): string;
  /** From now on a connection is closed after its next response, so that clients and balancers open others, to other nodes. */
  closeAfterResponses(): void;
  close(): Promise<void>;
}

/** @deprecated Use `ListeningApis`. */
export type Faces = ListeningApis;

/** Settings of the routes and of their host and origin guard, for listening and mounted servers. */
export interface AppSettings extends Pick<
  ApiSettings,
  | 'allowedHosts'
  | 'allowedOrigins'
  | 'trustProxy'
  | 'jwt'
  | 'internalKeys'
  | 'operatorTokens'
  | 'mcp'
  | 'upstreamReloader'
  | 'isLeaving'
> {
  readonly mayBeLocal: boolean;
  /** Whether to serve the console pages, which work only at the root path. */
  readonly hasPages: boolean;
  readonly port: HostOriginOptions['port'];
  /** Path prefix that is stripped before routing; empty for a server of its own. */
  readonly pathPrefix: string;
}

export interface App {
  readonly fastify: FastifyInstance;
  readonly authenticator: CredentialAuthenticator;
  readonly sessions: Sessions;
}

/** The routes of one server. The MCP server has a state of its own. */
function routesOf(mcp: McpSettings, hasPages: boolean): readonly Route[] {
  return [
    ...agentRoutes,
    ...mcpRoutes(mcp, { hasPages }),
    ...protectedResourceRoutes,
    ...internalRoutes,
    ...deviceRoutes,
    ...tenantRoutes,
    ...operatorRoutes,
    ...(hasPages ? consoleRoutes : []),
  ];
}

/** All routes. The reference documents them, and a test requests each with every kind of credential. */
export const ROUTES: readonly Route[] = routesOf(DEFAULT_MCP_SETTINGS, true);

export async function openApis(context: EngineContext, settings: ApiSettings): Promise<ListeningApis> {
  const { host, trustProxy, isProduction, allowsLocalMode = true } = settings;
  refuseOpenServer(context, settings);
  const mayBeLocal = allowsLocalMode && isLoopback(host) && !isProduction && !trustProxy;
  const { fastify, authenticator, sessions } = buildApp(context, {
    ...settings,
    port: undefined,
    mayBeLocal,
    hasPages: true,
    pathPrefix: '',
  });
  const url = await listen(fastify, settings);
  return {
    url,
    isLocal: authenticator.isLocal,
    loginToken: () => {
      const { token, stored } = sessions.issueLoginToken();
      Promise.resolve(stored).catch((error: unknown) =>
        context.log.error('session.link_not_stored', { error: messageOf(error) }),
      );
      return token;
    },
    closeAfterResponses: () => {
      // Before Fastify's own listener. Without the listener, no request of a server that stays pays for it.
      fastify.server.prependListener('request', (_request, response) =>
        response.setHeader('connection', 'close'),
      );
    },
    close: async () => await fastify.close(),
  };
}

/** Builds the app with all routes and the host and origin guard. It does not listen yet. */
export function buildApp(context: EngineContext, settings: AppSettings): App {
  const { engine, store, log, clock, nodes, keys, grants, policies, tenants } = context;
  const { allowedHosts, allowedOrigins, trustProxy, mayBeLocal, port } = settings;
  const jwt = settings.jwt === null ? null : new JwtIdentity(settings.jwt, clock);
  const internalKeys = new InternalKeys(settings.internalKeys, nodeDigest);
  const operatorToken = new OperatorTokenGuard({
    tokens: settings.operatorTokens,
    clock,
    store,
    log,
  });
  const { changes } = engine;
  const tokens = (changes.isShared ? store.tokens : undefined) ?? new MemoryTokens(clock);
  const sessions = new Sessions({
    operatorToken,
    keys,
    clock,
    digest: nodeDigest,
    tokens,
    store,
    changes,
  });
  const authenticator = new CredentialAuthenticator({
    keys,
    jwt,
    operatorToken,
    sessions,
    internalKeys,
    changes,
    mayBeLocal,
    log,
  });
  const fastify = createHttpApp({
    engine,
    store,
    log,
    digest: nodeDigest,
    services: { keys, grants, policies, tenants, sessions },
    tokens,
    nodes,
    authenticator,
    hostOrigin: { allowedHosts, allowedOrigins, port },
    limits: { connections: affordableConnections() },
    trustProxy,
    resources: { jwtIssuer: settings.jwt?.issuer ?? null, pathPrefix: settings.pathPrefix },
    sandbox: sandboxView(context.sandbox),
    upstreamReloader: settings.upstreamReloader,
    version: VERSION,
    clock,
    isLeaving: settings.isLeaving,
    heap: nodeHeap,
    routes: routesOf(settings.mcp, settings.hasPages),
  });
  fastify.addHook('onReady', () => sessions.load());
  return { fastify, authenticator, sessions };
}

/** Limits connections, so that file descriptors remain for everything else. */
function affordableConnections(): number {
  return Math.min(DEFAULT_HTTP_LIMITS.connections, connectionBudget(descriptorLimit()));
}

function sandboxView(report: SandboxReport | null): SandboxView | null {
  if (report === null) return null;
  const canary = Object.fromEntries(
    report.canary.map(({ check, held }) => [check, held ? 'held' : 'broken']),
  );
  return { provider: report.provider, canary, off: report.isOff, notice: noticeOf(report) };
}

/** Does not contain the user name, because `/healthz` needs no credential. */
function noticeOf({ provider, isOff }: SandboxReport): string | null {
  if (provider !== 'none') return null;
  return isOff
    ? 'nothing encloses commands, so commands and writes are off'
    : 'nothing encloses commands: they run as the user of the server, with its files and the network, and each one asks';
}

async function listen(app: FastifyInstance, { host, port }: ApiSettings): Promise<string> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    throw listenProblem(error, host, port);
  }
  const address = app.server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${name}:${address.port}`;
}

/** Converts errors that the operator can fix to `ConfigError`; returns all others unchanged. */
function listenProblem(error: unknown, host: string, port: number): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new ConfigError(
        `port ${port} is in use: stop the other server, or set PORT=${port === 65_535 ? 8080 : port + 1} or --port (0 picks a free one)`,
      );
    case 'EACCES':
      return new ConfigError(
        `port ${port} is not permitted for this user: set PORT or --port to 1024 or more`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new ConfigError(
        `HOST=${host} is not an address of this machine: unset it, or set it to one that is`,
      );
    default:
      return error;
  }
}

/** Refuses to listen beyond loopback without any configured credential, where every client could call every tool. */
export function refuseOpenServer(
  { keys }: EngineContext,
  {
    host,
    jwt,
    internalKeys,
    hasConfiguredToken = false,
  }: Pick<ApiSettings, 'host' | 'jwt' | 'internalKeys' | 'hasConfiguredToken'>,
): void {
  if (isLoopback(host) || jwt !== null || keys.index.size > 0 || internalKeys.length > 0) return;
  if (hasConfiguredToken) return;
  throw new ConfigError(
    `HOST=${host} is not a loopback address, and no credential is configured, so every client on the network could call every tool: ` +
      'make a key first (patchboard keys create --kind operator --name NAME), set PATCHBOARD_OPERATOR_TOKEN, or set auth.jwt in the config',
  );
}
