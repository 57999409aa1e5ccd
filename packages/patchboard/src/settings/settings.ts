import { DEFAULT_MCP_SETTINGS, type McpSettings } from '../transports/mcp-server/mcp-settings.ts';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { resolveLimits, tooSmall, type Limits } from '../core/limits.ts';
import { decodePolicy } from '../core/access/policy/document.ts';
import { DEFAULT_RATES, type Rates } from '../core/access/rate-limits.ts';
import type { TenantSettings } from '../core/access/tenant-directory.ts';
import { rateOf } from '../core/access/tenant-text.ts';
import type { Rate } from '../core/access/token-buckets.ts';
import type { InternalKey } from '../identity/internal-keys.ts';
import type { JwtSettings } from '../identity/jwt-identity.ts';
import type { LogLevel } from '../runtime/log.ts';
import { resolveWorkspace, type WorkspaceSettings } from '../wiring/sandbox-setup.ts';
import { busSettings, type BusSettings } from './bus-settings.ts';
import { ConfigError, readConfig } from './config-file.ts';
import { COMMAND_LIMIT_KEYS, LIMIT_KEYS, type ConfigFile, type JwtConfig } from './config-schema.ts';
import { drainDelayMs } from './drain-delay.ts';
import { isSet, type Environment } from './environment.ts';
import { internalKeysOf, tenantsOf } from './tenant-settings.ts';
import { fileProblem } from './file-problem.ts';
import { storeSettings, type StoreSettings } from './store-settings.ts';
import { operatorTokensOf } from './operator-tokens.ts';
import { readUpstreams, resolveUpstreams, type UpstreamsSettings } from './read-upstreams.ts';
import { upstreamNames } from './upstream-config.ts';
import { readUpstreamFile } from './upstream-file.ts';

/** The complete settings of a server, with all defaults applied. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly dataFolder: string;
  readonly store: StoreSettings;
  /** Null: a store of one process. */
  readonly bus: BusSettings | null;
  readonly logLevel: LogLevel;
  readonly limits: Readonly<Limits>;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly weather: { readonly forecastUrl: string; readonly geocodingUrl: string };
  /** Null: use the included sample database. */
  readonly queryDatabase: string | null;
  readonly toolTimeoutsMs: ReadonlyMap<string, number>;
  /** Null: keep calls indefinitely. */
  readonly keepCallsMs: number | null;
  readonly isProduction: boolean;
  /** Null: the token of the data folder. */
  readonly operatorTokens: readonly string[] | null;
  readonly trustProxy: boolean;
  /** How long a node that leaves still serves requests, so that balancers can see that it is not ready. */
  readonly drainDelayMs: number;
  /** Null: accept no JWTs. */
  readonly jwt: JwtSettings | null;
  /** The policy document the server starts with; operators may replace it. */
  readonly policy: unknown;
  readonly rates: Rates;
  readonly redact: readonly string[];
  /** Module paths, relative to the working directory of the server. */
  readonly hookModules: readonly string[];
  /** Module paths, relative to the working directory of the server. */
  readonly packModules: readonly string[];
  readonly internalKeys: readonly InternalKey[];
  readonly tenants: ReadonlyMap<string, TenantSettings>;
  /** Whether the config has no `tenants`, so that the demonstration tenant is used. */
  readonly isDemonstration: boolean;
  /** Cache lifetime of results, per read-only tool. */
  readonly toolCacheMs: ReadonlyMap<string, number>;
  readonly workspace: WorkspaceSettings;
  readonly mcp: McpSettings;
  readonly upstreams: UpstreamsSettings;
  /** Reads the upstreams again, from the same config file, data folder and environment. Throws a `ConfigError`. */
  readonly readUpstreams: () => UpstreamsSettings;
}

/** Flags take precedence over the environment, and the environment over the config file. */
export interface ServeFlags {
  readonly port?: string;
  readonly host?: string;
  readonly data?: string;
  readonly config?: string;
  readonly unsafeNoSandbox?: boolean;
}

const DAY_MS = 86_400_000;
const LOG_LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error', 'silent'];

export function resolveSettings(given: Environment, flags: ServeFlags): Settings {
  const configPath = flags.config ?? given['PATCHBOARD_CONFIG'];
  const configFile = isSet(configPath) ? configPath : null;
  const givenFolder = given['PATCHBOARD_DATA'];
  const dataFolder = resolve(flags.data ?? (isSet(givenFolder) ? givenFolder : '.patchboard'));
  const added = readUpstreamFile(dataFolder);
  const config = configFile === null ? null : readConfig(configFile, upstreamNames(added.value));
  const file = config?.value ?? {};
  const store = storeSettings(given, config);
  return Object.freeze({
    host: hostOf(flags.host ?? given['HOST']),
    port: portOf(flags.port ?? given['PORT']),
    dataFolder,
    store,
    bus: busSettings(given, config, store),
    logLevel: logLevelOf(given['PATCHBOARD_LOG']),
    limits: limitsOf(file),
    allowedHosts: file.http?.allowed_hosts ?? [],
    allowedOrigins: file.http?.allowed_origins ?? [],
    weather: {
      forecastUrl: originOf(given, 'OPEN_METEO_URL', 'https://api.open-meteo.com'),
      geocodingUrl: originOf(given, 'OPEN_METEO_GEOCODING_URL', 'https://geocoding-api.open-meteo.com'),
    },
    queryDatabase: file.tools?.['database.query']?.database ?? null,
    toolTimeoutsMs: toolNumbers(file, 'timeout_ms'),
    keepCallsMs: keepCallsMs(file),
    isProduction: given['NODE_ENV'] === 'production',
    operatorTokens: operatorTokensOf(given, store),
    trustProxy: file.http?.trust_proxy ?? false,
    drainDelayMs: drainDelayMs(given, file),
    jwt: file.auth?.jwt === undefined ? null : jwtOf(file.auth.jwt, given),
    policy: policyOf(file),
    rates: ratesOf(file),
    redact: file.redact ?? [],
    hookModules: file.hooks ?? [],
    packModules: file.packs ?? [],
    internalKeys: internalKeysOf(file, given),
    tenants: tenantsOf(file),
    isDemonstration: file.tenants === undefined,
    toolCacheMs: toolNumbers(file, 'cache_ttl_ms'),
    workspace: workspaceOf(file, given, flags.unsafeNoSandbox ?? false),
    mcp: mcpOf(file),
    upstreams: resolveUpstreams(given, config, added),
    readUpstreams: () => readUpstreams(given, configFile, dataFolder),
  });
}

function mcpOf(file: ConfigFile): McpSettings {
  const { hold_ms: holdMs, task_after_ms: taskAfterMs, names } = file.mcp ?? {};
  return {
    holdMs: holdMs ?? DEFAULT_MCP_SETTINGS.holdMs,
    taskAfterMs: taskAfterMs ?? DEFAULT_MCP_SETTINGS.taskAfterMs,
    names: names ?? DEFAULT_MCP_SETTINGS.names,
    keepCallsMs: keepCallsMs(file),
  };
}

function keepCallsMs({ retention }: ConfigFile): number | null {
  return retention?.calls_days === undefined ? null : retention.calls_days * DAY_MS;
}

export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

function hostOf(given: string | undefined): string {
  return isSet(given) ? given : '127.0.0.1';
}

function policyOf(file: ConfigFile): unknown {
  const document = { ...file.policy, ...(file.devices === undefined ? {} : { devices: file.devices }) };
  const decoded = decodePolicy(document);
  if (decoded.ok) return document;
  const [first] = decoded.problems;
  throw new ConfigError(`policy${first?.path ?? ''} ${first?.message ?? 'is not valid'}`);
}

function jwtOf(config: JwtConfig, given: Environment): JwtSettings {
  const { issuer, audience } = config;
  const sources = [config.secret_env, config.jwks_url, config.jwks_file].filter(
    (source) => source !== undefined,
  );
  if (sources.length !== 1) {
    throw new ConfigError('auth.jwt needs exactly one of secret_env, jwks_url and jwks_file');
  }
  if (config.jwks_url !== undefined)
    return { issuer, audience, keys: { kind: 'jwks_url', url: config.jwks_url } };
  if (config.jwks_file !== undefined)
    return { issuer, audience, keys: { kind: 'jwks', jwks: jwksOf(config.jwks_file) } };
  const secret = given[config.secret_env ?? ''];
  if (secret !== undefined && secret.length >= 32)
    return { issuer, audience, keys: { kind: 'secret', secret } };
  throw new ConfigError(
    `auth.jwt.secret_env: the variable ${config.secret_env} must hold at least 32 characters`,
  );
}

function jwksOf(file: string): { keys: Record<string, unknown>[] } {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8')) as { keys?: unknown };
    if (Array.isArray(value.keys)) return { keys: value.keys as Record<string, unknown>[] };
  } catch (error) {
    throw new ConfigError(`auth.jwt.jwks_file: ${fileProblem(error)}`);
  }
  throw new ConfigError(`auth.jwt.jwks_file: ${file} has no array "keys"`);
}

function ratesOf({ rates = {}, tools = {} }: ConfigFile): Rates {
  const pick = (name: 'principal' | 'tenant' | 'tool'): Rate | null => {
    const config = rates[name];
    return config === undefined ? DEFAULT_RATES[name] : config === null ? null : rateOf(config);
  };
  const ofTools = Object.entries(tools).flatMap(([name, tool]): [string, Rate][] =>
    tool.rate === undefined ? [] : [[name, rateOf(tool.rate)]],
  );
  return {
    principal: pick('principal'),
    tenant: pick('tenant'),
    tool: pick('tool'),
    tools: new Map(ofTools),
  };
}

function portOf(given: string | undefined): number {
  const port = isSet(given) ? Number(given) : 8080;
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new ConfigError(`PORT must be a number from 0 to 65535, not "${given}"`);
}

function logLevelOf(given: string | undefined): LogLevel {
  const level = isSet(given) ? given : 'info';
  if (LOG_LEVELS.includes(level)) return level as LogLevel;
  throw new ConfigError(`PATCHBOARD_LOG must be one of ${LOG_LEVELS.join(', ')}, not "${level}"`);
}

function originOf(given: Environment, name: string, fallback: string): string {
  const text = given[name];
  if (!isSet(text)) return fallback;
  if (URL.canParse(text) && /^https?:/.test(text)) return text.replace(/\/+$/, '');
  throw new ConfigError(`${name} must be an http or https URL, not "${text}"`);
}

function limitsOf(file: ConfigFile): Readonly<Limits> {
  const limits = namedLimits(file.limits ?? {}, LIMIT_KEYS);
  const small = tooSmall(limits);
  if (small === null) return resolveLimits(limits);
  const key = [...LIMIT_KEYS].find(([, name]) => name === small.name)?.[0] ?? small.name;
  throw new ConfigError(
    `limits.${key} is ${limits[small.name]} and must be at least ${small.least}, so that a result of limits.result_bytes fits in; raise it, or lower limits.result_bytes`,
  );
}

function toolNumbers(file: ConfigFile, key: 'timeout_ms' | 'cache_ttl_ms'): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (const [name, { [key]: value }] of Object.entries(file.tools ?? {})) {
    if (value !== undefined) numbers.set(name, value);
  }
  return numbers;
}

function workspaceOf(
  { workspace = {} }: ConfigFile,
  given: Environment,
  unsafeNoSandbox: boolean,
): WorkspaceSettings {
  const { environment = [], limits = {}, ...rest } = workspace;
  const values = environment.flatMap((name): [string, string][] => {
    const value = given[name];
    return value === undefined ? [] : [[name, value]];
  });
  return resolveWorkspace({
    ...rest,
    // A server creates its folders at the first start.
    create: true,
    environment: Object.fromEntries(values),
    limits: namedLimits(limits, COMMAND_LIMIT_KEYS),
    unsafeNoSandbox,
    ...(given['PATH'] === undefined ? {} : { searchPath: given['PATH'] }),
  });
}

/** `names`: the names of the limits, by their keys in the file. */
function namedLimits<Name extends string>(
  given: Readonly<Record<string, number>>,
  names: ReadonlyMap<string, Name>,
): Partial<Record<Name, number>> {
  const limits: Partial<Record<Name, number>> = {};
  for (const [key, value] of Object.entries(given)) {
    const name = names.get(key);
    if (name !== undefined) limits[name] = value;
  }
  return limits;
}
