import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { resolveLimits, type Limits } from '../core/limits.ts';
import type { LogLevel } from '../runtime/log.ts';
import { ConfigError, LIMIT_KEYS, readConfigFile, type ConfigFile } from './config-file.ts';
import type { Environment } from './config.ts';

/** Everything the server needs to know, complete: below this line nothing is optional. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly dataFolder: string;
  readonly logLevel: LogLevel;
  readonly limits: Readonly<Limits>;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly weather: { readonly forecastUrl: string; readonly geocodingUrl: string };
  /** Null: the shipped sample. */
  readonly queryDatabase: string | null;
  readonly toolTimeoutsMs: ReadonlyMap<string, number>;
  /** Null: calls are kept for ever. */
  readonly keepCallsMs: number | null;
}

/** Flags win over the environment, the environment over the file. */
export interface ServeFlags {
  readonly port?: string;
  readonly host?: string;
  readonly data?: string;
  readonly config?: string;
}

const DAY_MS = 86_400_000;
const LOG_LEVELS: readonly string[] = ['debug', 'info', 'warn', 'error', 'silent'];

export function resolveSettings(given: Environment, flags: ServeFlags): Settings {
  for (const name of ['DATABASE_URL', 'NATS_URL']) {
    if (isSet(given[name]))
      throw new ConfigError(`${name} is set, but only the embedded store is built in yet: unset it`);
  }
  const configPath = flags.config ?? given['PATCHBOARD_CONFIG'];
  const file = isSet(configPath) ? readConfigFile(configPath) : {};
  return Object.freeze({
    host: hostOf(flags.host ?? given['HOST']),
    port: portOf(flags.port ?? given['PORT']),
    dataFolder: resolve(flags.data ?? given['PATCHBOARD_DATA'] ?? '.patchboard'),
    logLevel: logLevelOf(given['PATCHBOARD_LOG']),
    limits: limitsOf(file),
    allowedHosts: file.http?.allowed_hosts ?? [],
    allowedOrigins: file.http?.allowed_origins ?? [],
    weather: {
      forecastUrl: originOf(given, 'OPEN_METEO_URL', 'https://api.open-meteo.com'),
      geocodingUrl: originOf(given, 'OPEN_METEO_GEOCODING_URL', 'https://geocoding-api.open-meteo.com'),
    },
    queryDatabase: file.tools?.['database.query']?.database ?? null,
    toolTimeoutsMs: timeoutsOf(file),
    keepCallsMs: file.retention?.calls_days === undefined ? null : file.retention.calls_days * DAY_MS,
  });
}

export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}

function hostOf(given: string | undefined): string {
  const host = isSet(given) ? given : '127.0.0.1';
  if (isLoopback(host)) return host;
  throw new ConfigError(
    `HOST=${host} is not a loopback address, and no credentials are configured: anybody could call every tool`,
  );
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

function originOf(given: Environment, name: string, standard: string): string {
  const text = given[name];
  if (!isSet(text)) return standard;
  if (URL.canParse(text) && /^https?:/.test(text)) return text.replace(/\/+$/, '');
  throw new ConfigError(`${name} must be an http or https URL, not "${text}"`);
}

function limitsOf(file: ConfigFile): Readonly<Limits> {
  const limits: Partial<Record<keyof Limits, number>> = {};
  for (const [key, value] of Object.entries(file.limits ?? {})) {
    const name = LIMIT_KEYS.get(key);
    if (name !== undefined) limits[name] = value;
  }
  return resolveLimits(limits);
}

function timeoutsOf(file: ConfigFile): ReadonlyMap<string, number> {
  const timeouts = new Map<string, number>();
  for (const [name, tool] of Object.entries(file.tools ?? {})) {
    if (tool.timeout_ms !== undefined) timeouts.set(name, tool.timeout_ms);
  }
  return timeouts;
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
