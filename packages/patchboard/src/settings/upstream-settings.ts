import { isAbsolute, resolve } from 'node:path';
import type { UpstreamSettings } from '../core/upstreams/upstream.ts';
import type {
  HttpTransportSettings,
  McpUpstreamSettings,
  StdioTransportSettings,
} from '../sources/mcp/mcp-upstream-settings.ts';
import { isSecretName, type ConfigValues } from './config-values.ts';
import { httpAddress, httpHeaders } from './http-address.ts';
import { oauthSettings } from './oauth-settings.ts';
import type { McpUpstreamConfig, OpenApiConfig } from './upstream-config.ts';

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_CONCURRENCY = 8;
/** A flag of a command with its value, `--api-key=…`, or without. */
const FLAG = /^--?([A-Za-z][\w-]*)(?:=(.*))?$/s;

/** Resolves the config of one MCP server. Throws a `ConfigError`. */
export function mcpUpstreamSettings(
  values: ConfigValues,
  name: string,
  config: McpUpstreamConfig,
): McpUpstreamSettings {
  const place = ['upstreams', name];
  return {
    kind: 'mcp',
    ...commonSettings(name, config),
    transport: transportOf(values, config, place),
    tools: config.tools ?? ['*'],
    protocol: config.protocol ?? 'auto',
    hints: config.hints ?? 'believe',
    inputRequests: config.input_requests ?? true,
    sampling: config.sampling ?? false,
  };
}

/** The settings that every kind of upstream has. */
export function commonSettings(
  name: string,
  config: McpUpstreamConfig | OpenApiConfig,
): Omit<UpstreamSettings, 'kind'> {
  return {
    name,
    tenants: config.tenants ?? null,
    onChange: config.on_change ?? 'ask',
    concurrency: config.concurrency ?? DEFAULT_CONCURRENCY,
    timeoutMs: config.timeout_ms ?? DEFAULT_TIMEOUT_MS,
  };
}

function transportOf(
  values: ConfigValues,
  config: McpUpstreamConfig,
  place: readonly string[],
): HttpTransportSettings | StdioTransportSettings {
  const { url, command, sandbox } = config;
  if (url !== undefined)
    return {
      kind: 'http',
      url: httpAddress(values, url, [...place, 'url']),
      headers: httpHeaders(values, config.headers, [...place, 'headers']),
      auth: oauthSettings(values, config.auth, [...place, 'auth']),
    };
  return {
    kind: 'stdio',
    command: commandOf(values, command ?? ''),
    args: argumentsOf(values, config.args ?? [], [...place, 'args']),
    env: values.filledRecord(config.env, [...place, 'env']),
    cwd: config.cwd === undefined ? null : resolve(values.folder, config.cwd),
    sandbox:
      sandbox === undefined
        ? null
        : {
            network: sandbox.network ?? false,
            readable: (sandbox.readable ?? []).map((path) => resolve(values.folder, path)),
          },
  };
}

/** A command without a slash is found in `PATH`. */
function commandOf({ folder }: ConfigValues, command: string): string {
  return /[/\\]/.test(command) && !isAbsolute(command) ? resolve(folder, command) : command;
}

/** Arguments after a flag such as `--api-key` are secrets. */
function argumentsOf(
  values: ConfigValues,
  args: readonly string[],
  place: readonly string[],
): readonly string[] {
  const filled = args.map((text, index) => values.filled(text, [...place, String(index)]));
  for (const [index, text] of filled.entries()) {
    const [, flag = '', value = filled[index + 1]] = FLAG.exec(text) ?? [];
    if (isSecretName(flag) && value !== undefined && !value.startsWith('-')) values.addSecret(value);
  }
  return filled;
}
