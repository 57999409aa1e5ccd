import { PEER_ID_PATTERN } from '@patchboard/wire';
import { DEFAULT_LIMITS } from '../core/limits.ts';

/** The upstreams as written in the config file or in `upstreams.json`. */
export interface UpstreamsConfig {
  readonly upstreams?: Readonly<Record<string, McpUpstreamConfig>>;
  readonly openapi?: Readonly<Record<string, OpenApiConfig>>;
}

interface CommonConfig {
  readonly headers?: Readonly<Record<string, string>>;
  readonly tools?: readonly string[];
  readonly tenants?: readonly string[];
  readonly timeout_ms?: number;
  readonly concurrency?: number;
  readonly on_change?: 'ask' | 'run' | 'refuse';
}

/** Either `url` with `headers` and `auth`, or `command` with `args`, `env`, `cwd` and `sandbox`. */
export interface McpUpstreamConfig extends CommonConfig {
  readonly url?: string;
  readonly auth?: OAuthConfig;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly sandbox?: { readonly network?: boolean; readonly readable?: readonly string[] };
  readonly protocol?: 'auto' | 'legacy' | '2026-07-28';
  readonly hints?: 'believe' | 'ignore';
  readonly input_requests?: boolean;
  readonly sampling?: boolean;
}

export interface OpenApiConfig extends CommonConfig {
  /** A file path or an HTTP URL. */
  readonly description: string;
  readonly server?: string;
  readonly security?: Readonly<Record<string, SecurityConfig>>;
}

/** A value, a user name with a password, or OAuth. */
export interface SecurityConfig extends OAuthConfig {
  readonly value?: string;
  readonly value_env?: string;
  readonly username?: string;
  readonly username_env?: string;
  readonly password?: string;
  readonly password_env?: string;
}

/** Exactly one member is set. */
export interface OAuthConfig {
  readonly client_credentials?: TokenRequestConfig & { readonly secret_env: string };
  readonly private_key_jwt?: TokenRequestConfig & {
    readonly key_env?: string;
    readonly key_file?: string;
    readonly algorithm?: string;
    readonly audience?: string;
  };
}

interface TokenRequestConfig {
  readonly client_id: string;
  readonly scope?: string;
  readonly token_url?: string;
}

const text = { type: 'string', minLength: 1 };
const texts = { type: 'object', additionalProperties: { type: 'string' } };
const names = { type: 'array', items: text };
const count = { type: 'integer', minimum: 1 };
/** A larger number is a slip of the pen: an upstream would have no limit. */
const MOST_CONCURRENCY = 999_999;
const flag = { type: 'boolean' };
const tokenRequest = { client_id: text, scope: text, token_url: text };
const oauth = {
  client_credentials: { $ref: '#/$defs/client_credentials' },
  private_key_jwt: { $ref: '#/$defs/private_key_jwt' },
};
const common = {
  headers: texts,
  tools: { ...names, minItems: 1 },
  tenants: { type: 'array', items: { type: 'string', pattern: PEER_ID_PATTERN.source }, minItems: 1 },
  timeout_ms: { ...count, maximum: DEFAULT_LIMITS.maxTimeoutMs },
  concurrency: { ...count, maximum: MOST_CONCURRENCY },
  on_change: { enum: ['ask', 'run', 'refuse'] },
};

/** Definitions that `UPSTREAM_PROPERTIES` refers to; they belong at the root of a schema. */
export const UPSTREAM_DEFINITIONS: Readonly<Record<string, unknown>> = {
  client_credentials: {
    type: 'object',
    additionalProperties: false,
    required: ['client_id', 'secret_env'],
    properties: { ...tokenRequest, secret_env: text },
  },
  private_key_jwt: {
    type: 'object',
    additionalProperties: false,
    required: ['client_id'],
    properties: { ...tokenRequest, key_env: text, key_file: text, algorithm: text, audience: text },
  },
};

/** The members `upstreams` and `openapi` of a config. */
export const UPSTREAM_PROPERTIES: Readonly<Record<string, unknown>> = {
  upstreams: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      properties: {
        url: text,
        auth: { type: 'object', additionalProperties: false, properties: oauth },
        command: text,
        args: { type: 'array', items: { type: 'string' } },
        env: texts,
        cwd: text,
        sandbox: {
          type: 'object',
          additionalProperties: false,
          properties: { network: flag, readable: names },
        },
        ...common,
        protocol: { enum: ['auto', 'legacy', '2026-07-28'] },
        hints: { enum: ['believe', 'ignore'] },
        input_requests: flag,
        sampling: flag,
      },
    },
  },
  openapi: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      additionalProperties: false,
      required: ['description'],
      properties: {
        description: text,
        server: text,
        security: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            additionalProperties: false,
            properties: {
              value: text,
              value_env: text,
              username: text,
              username_env: text,
              password: text,
              password_env: text,
              ...oauth,
            },
          },
        },
        ...common,
      },
    },
  },
};

/** The schema of `upstreams.json`. */
export const UPSTREAM_FILE_SCHEMA: Readonly<Record<string, unknown>> = {
  type: 'object',
  additionalProperties: false,
  properties: UPSTREAM_PROPERTIES,
  $defs: UPSTREAM_DEFINITIONS,
};

/** Returns the names of all upstreams in a config. */
export function upstreamNames({ upstreams = {}, openapi = {} }: UpstreamsConfig): readonly string[] {
  return [...Object.keys(upstreams), ...Object.keys(openapi)];
}

/** Whether a tool of that name belongs to one of the upstreams. */
export function isUpstreamTool(tool: string, upstreams: readonly string[]): boolean {
  return upstreams.some((name) => tool.startsWith(`${name}.`));
}
