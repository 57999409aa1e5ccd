import type { Limits } from '../core/limits.ts';
import type { Clock, Log, Schemas } from '../core/ports.ts';
import type { Upstream } from '../core/upstreams/upstream.ts';
import { timeOrderedIds } from '../runtime/ids.ts';
import { nodeClock } from '../runtime/node-clock.ts';
import type { Environment } from '../settings/environment.ts';
import type { AnyUpstreamSettings } from '../settings/read-upstreams.ts';
import { guardedFetch, type GuardedFetch } from '../sources/shared/guarded-fetch.ts';
import type { SecretMask } from '../sources/shared/secret-mask.ts';
import type { AccessTokens } from '../sources/mcp/http-exchange.ts';
import type { McpUpstreamSettings } from '../sources/mcp/mcp-upstream-settings.ts';
import type { WorkspaceSettings } from './sandbox-setup.ts';
import { upstreamSandbox } from './upstream-sandbox.ts';

/** What upstreams need of the server. */
export interface UpstreamSurroundings {
  readonly log: Log;
  readonly clock: Clock;
  readonly mask: SecretMask;
  readonly limits: Readonly<Limits>;
  /** Those of the engine: a schema is compiled once. */
  readonly schemas: Schemas;
  /** The environment of this process. A child process gets a few variables of it. */
  readonly environment: Environment;
  readonly workspace: WorkspaceSettings;
  readonly dataFolder: string;
  /** The id that this server declares to its own MCP clients: an upstream that declares it is refused. */
  readonly instanceId: string;
}

/** Only for random numbers. */
const ids = timeOrderedIds(nodeClock);
const random = (): number => ids.random();

/**
 * Builds an upstream that is not connected yet. The libraries of its kind are loaded here: a server without upstreams does
 * not need them. Throws a `ConfigError`.
 */
export async function makeUpstream(
  settings: AnyUpstreamSettings,
  surroundings: UpstreamSurroundings,
): Promise<Upstream> {
  if (settings.kind === 'mcp') return await makeMcpUpstream(settings, surroundings);
  const { OpenApiUpstream } = await import('../sources/openapi/openapi-upstream.ts');
  const { clock, mask, limits, schemas } = surroundings;
  return new OpenApiUpstream(settings, { clock, mask, schemas, limits, random });
}

async function makeMcpUpstream(
  settings: McpUpstreamSettings,
  surroundings: UpstreamSurroundings,
): Promise<Upstream> {
  const [{ McpUpstream }, { ReconnectingConnection }] = await Promise.all([
    import('../sources/mcp/mcp-upstream.ts'),
    import('../sources/mcp/reconnecting-connection.ts'),
  ]);
  const { clock, mask, log, environment, instanceId } = surroundings;
  const { transport, name } = settings;
  const fetch = guardedFetch({ allowedOrigins: configuredOrigins(transport) });
  const wrapCommand =
    transport.kind === 'stdio' ? await upstreamSandbox(name, transport, surroundings) : null;
  const connection = new ReconnectingConnection(settings, {
    clock,
    random,
    log: mask.log(log),
    fetch,
    accessTokens: await accessTokens(settings, fetch, surroundings),
    mask: (text) => mask.text(text),
    environment,
    instanceId,
    ...(wrapCommand === null ? {} : { wrapCommand }),
  });
  const release = () => fetch.close();
  return new McpUpstream(settings, { connection, clock, mask, instanceId, release });
}

/** Null: the headers contain all credentials. */
async function accessTokens(
  { transport }: McpUpstreamSettings,
  fetch: GuardedFetch,
  { mask, clock }: Pick<UpstreamSurroundings, 'mask' | 'clock'>,
): Promise<AccessTokens | null> {
  if (transport.kind !== 'http' || transport.auth === null) return null;
  const { OAuthClient } = await import('../sources/shared/oauth-client.ts');
  const { url, auth } = transport;
  const client = new OAuthClient({ settings: auth, resource: url, fetch, mask, clock });
  return {
    token: () => client.token(),
    renew: async () => client.forget(),
  };
}

/** The addresses that the operator wrote: they may be private. */
function configuredOrigins(transport: McpUpstreamSettings['transport']): readonly string[] {
  if (transport.kind === 'stdio') return [];
  const tokenUrl = transport.auth?.tokenUrl ?? null;
  return tokenUrl === null ? [transport.url] : [transport.url, tokenUrl];
}
