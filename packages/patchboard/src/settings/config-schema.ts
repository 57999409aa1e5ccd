import { PEER_ID_PATTERN } from '@patchboard/wire';
import { DEFAULT_LIMITS } from '../core/limits.ts';
import type { TenantText } from '../core/access/tenant-text.ts';
import { DEFAULT_COMMAND_LIMITS } from '../sandbox/command-limits.ts';
import { MAX_HOLD_SECONDS } from '../transports/mcp-server/mcp-settings.ts';
import type { CommandLimits } from '../sandbox/enclosure.ts';
import { UPSTREAM_DEFINITIONS, UPSTREAM_PROPERTIES, type UpstreamsConfig } from './upstream-config.ts';

/** The config file as written; `resolveSettings` turns it into complete settings. */
export interface ConfigFile extends UpstreamsConfig {
  readonly http?: {
    readonly allowed_hosts?: readonly string[];
    readonly allowed_origins?: readonly string[];
    /** Whether to trust the forwarding headers of a reverse proxy. */
    readonly trust_proxy?: boolean;
    /** How long a node that leaves still serves requests while it is not ready. */
    readonly drain_delay_ms?: number;
  };
  readonly tools?: Readonly<Record<string, ToolConfig>>;
  readonly limits?: Readonly<Record<string, number>>;
  readonly retention?: { readonly calls_days?: number };
  readonly mcp?: McpConfig;
  readonly auth?: { readonly jwt?: JwtConfig; readonly internal_keys?: readonly InternalKeyConfig[] };
  /** Default: one tenant, for demonstration. */
  readonly tenants?: Readonly<Record<string, TenantText>>;
  /** Paths of modules that export a pack. */
  readonly packs?: readonly string[];
  /** Validated by the engine's policy decoder, not by this schema. */
  readonly policy?: Readonly<Record<string, unknown>>;
  readonly devices?: { readonly registerable?: readonly string[] };
  readonly rates?: Readonly<Partial<Record<'principal' | 'tenant' | 'tool', RateConfig | null>>>;
  /** Names of members whose values are redacted before they are stored. */
  readonly redact?: readonly string[];
  /** Paths of modules that export hooks. */
  readonly hooks?: readonly string[];
  readonly workspace?: WorkspaceConfig;
  readonly store?: StoreConfig;
  readonly nats?: NatsConfig;
}

/** PostgreSQL. Default: SQLite in the data folder. */
export interface StoreConfig {
  readonly url?: string;
  readonly listen_url?: string;
  readonly prepare?: boolean;
  readonly schema?: string;
}

/** NATS between several nodes on PostgreSQL. Default: LISTEN and NOTIFY of the database. */
export interface NatsConfig {
  readonly url?: string;
  /** Paths of PEM files. */
  readonly ca_file?: string;
  readonly cert_file?: string;
  readonly key_file?: string;
}

/** The MCP server. */
interface McpConfig {
  readonly hold_ms?: number;
  readonly task_after_ms?: number;
  readonly names?: 'wire' | 'canonical';
}

interface WorkspaceConfig {
  readonly root?: string;
  readonly shared?: string;
  readonly network?: boolean;
  /** Names of environment variables that are passed to commands. */
  readonly environment?: readonly string[];
  readonly readable?: readonly string[];
  readonly limits?: Readonly<Record<string, number>>;
}

export interface JwtConfig {
  readonly issuer: string;
  readonly audience: string | readonly string[];
  /** Name of the variable that holds the HS256 secret. */
  readonly secret_env?: string;
  readonly jwks_url?: string;
  readonly jwks_file?: string;
}

interface InternalKeyConfig {
  readonly tenant: string;
  /** Name of the variable that holds the key. */
  readonly key_env: string;
}

interface RateConfig {
  readonly burst: number;
  readonly per_second: number;
}

export interface ToolConfig {
  readonly timeout_ms?: number;
  /** Cache lifetime of results, for a read-only tool. */
  readonly cache_ttl_ms?: number;
  /** Rate limit for the calls of one tenant. */
  readonly rate?: RateConfig;
  /** database.query only: a SQLite file or a postgres:// URL. */
  readonly database?: string;
}

export const MAX_DRAIN_DELAY_MS = 600_000;

const count = { type: 'integer', minimum: 1 };
const text = { type: 'string', minLength: 1 };
const names = { type: 'array', items: { type: 'string', minLength: 1 } };
/** One text or several. */
const audience = { ...text, ...names, type: ['string', 'array'], minItems: 1 };
const id = { type: 'string', pattern: PEER_ID_PATTERN.source };
const rate = {
  type: 'object',
  additionalProperties: false,
  required: ['burst', 'per_second'],
  properties: { burst: count, per_second: { type: 'number', exclusiveMinimum: 0 } },
};

/** Maps the limits as written in the file, in snake_case, to the engine's names. */
export const LIMIT_KEYS: ReadonlyMap<string, keyof typeof DEFAULT_LIMITS> = keysOf(DEFAULT_LIMITS);
export const COMMAND_LIMIT_KEYS: ReadonlyMap<string, keyof CommandLimits> = keysOf(DEFAULT_COMMAND_LIMITS);

export const CONFIG_SCHEMA: Readonly<Record<string, unknown>> = {
  type: 'object',
  additionalProperties: false,
  properties: {
    http: {
      type: 'object',
      additionalProperties: false,
      properties: {
        allowed_hosts: names,
        allowed_origins: names,
        trust_proxy: { type: 'boolean' },
        drain_delay_ms: { type: 'integer', minimum: 0, maximum: MAX_DRAIN_DELAY_MS },
      },
    },
    tools: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          timeout_ms: { ...count, maximum: DEFAULT_LIMITS.maxTimeoutMs },
          cache_ttl_ms: { ...count, maximum: DEFAULT_LIMITS.maxTimeoutMs },
          database: text,
          rate,
        },
      },
    },
    limits: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries([...LIMIT_KEYS.keys()].map((key) => [key, count])),
    },
    auth: {
      type: 'object',
      additionalProperties: false,
      properties: {
        jwt: {
          type: 'object',
          additionalProperties: false,
          required: ['issuer', 'audience'],
          properties: { issuer: text, audience, secret_env: text, jwks_url: text, jwks_file: text },
        },
        internal_keys: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['tenant', 'key_env'],
            properties: { tenant: id, key_env: text },
          },
        },
      },
    },
    tenants: {
      type: 'object',
      propertyNames: id,
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          sites: { type: 'array', items: id },
          packs: names,
          limits: {
            type: 'object',
            additionalProperties: false,
            properties: { calls: rate, tools: { type: 'object', additionalProperties: rate } },
          },
        },
      },
    },
    packs: names,
    policy: { type: 'object' },
    devices: { type: 'object', additionalProperties: false, properties: { registerable: names } },
    rates: {
      type: 'object',
      additionalProperties: false,
      properties: {
        principal: { anyOf: [rate, { type: 'null' }] },
        tenant: { anyOf: [rate, { type: 'null' }] },
        tool: { anyOf: [rate, { type: 'null' }] },
      },
    },
    redact: names,
    hooks: names,
    workspace: {
      type: 'object',
      additionalProperties: false,
      properties: {
        root: text,
        shared: text,
        network: { type: 'boolean' },
        environment: names,
        readable: names,
        limits: {
          type: 'object',
          additionalProperties: false,
          properties: Object.fromEntries([...COMMAND_LIMIT_KEYS.keys()].map((key) => [key, count])),
        },
      },
    },
    mcp: {
      type: 'object',
      additionalProperties: false,
      properties: {
        hold_ms: { ...count, maximum: MAX_HOLD_SECONDS * 1000 },
        task_after_ms: { ...count, maximum: MAX_HOLD_SECONDS * 1000 },
        names: { enum: ['wire', 'canonical'] },
      },
    },
    store: {
      type: 'object',
      additionalProperties: false,
      properties: { url: text, listen_url: text, prepare: { type: 'boolean' }, schema: text },
    },
    nats: {
      type: 'object',
      additionalProperties: false,
      properties: { url: text, ca_file: text, cert_file: text, key_file: text },
    },
    ...UPSTREAM_PROPERTIES,
    retention: { type: 'object', additionalProperties: false, properties: { calls_days: count } },
  },
  $defs: UPSTREAM_DEFINITIONS,
};

function keysOf<Names extends object>(defaults: Names): ReadonlyMap<string, keyof Names> {
  return new Map((Object.keys(defaults) as (keyof Names & string)[]).map((name) => [snakeCase(name), name]));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
