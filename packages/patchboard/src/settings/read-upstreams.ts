import { dirname, resolve } from 'node:path';
import type { McpUpstreamSettings } from '../sources/mcp/mcp-upstream-settings.ts';
import type { OpenApiSettings } from '../sources/openapi/openapi-settings.ts';
import { ConfigError, readConfig, type ConfigText } from './config-file.ts';
import { ConfigValues } from './config-values.ts';
import type { Environment } from './environment.ts';
import { openApiSettings } from './openapi-settings.ts';
import { upstreamNames } from './upstream-config.ts';
import { readUpstreamFile, type UpstreamFile } from './upstream-file.ts';
import { mcpUpstreamSettings } from './upstream-settings.ts';

/** The settings of an upstream of any kind. */
export type AnyUpstreamSettings = McpUpstreamSettings | OpenApiSettings;

/** All upstreams, with secrets filled in. */
export interface UpstreamsSettings {
  readonly mcp: readonly McpUpstreamSettings[];
  readonly openapi: readonly OpenApiSettings[];
  /** The values that are masked in everything that leaves an upstream. */
  readonly secretValues: readonly string[];
}

/** Returns the upstreams of every kind. */
export function allUpstreams({
  mcp,
  openapi,
}: Pick<UpstreamsSettings, 'mcp' | 'openapi'>): readonly AnyUpstreamSettings[] {
  return [...mcp, ...openapi];
}

/** Reads the upstreams of the config file and of the data folder, without the other settings. Throws a `ConfigError`. */
export function readUpstreams(
  given: Environment,
  configFile: string | null,
  dataFolder: string,
): UpstreamsSettings {
  const added = readUpstreamFile(dataFolder);
  const config = configFile === null ? null : readConfig(configFile, upstreamNames(added.value));
  return resolveUpstreams(given, config, added);
}

export function resolveUpstreams(
  given: Environment,
  config: ConfigText | null,
  added: UpstreamFile,
): UpstreamsSettings {
  if (config !== null) refuseSharedNames(config, added);
  const secrets = new Set<string>();
  const sources = config === null ? [added] : [config, added];
  const resolved = sources.map(({ file, value, lineOf }) => {
    const values = new ConfigValues(given, { file, folder: resolve(dirname(file)), lineOf }, secrets);
    const { upstreams = {}, openapi = {} } = value;
    return {
      mcp: Object.entries(upstreams).map(([name, one]) => mcpUpstreamSettings(values, name, one)),
      openapi: Object.entries(openapi).map(([name, one]) => openApiSettings(values, name, one)),
    };
  });
  return {
    mcp: resolved.flatMap(({ mcp }) => mcp),
    openapi: resolved.flatMap(({ openapi }) => openapi),
    secretValues: [...secrets],
  };
}

function refuseSharedNames(config: ConfigText, added: UpstreamFile): void {
  const ours = upstreamNames(added.value);
  const name = upstreamNames(config.value).find((one) => ours.includes(one));
  if (name === undefined) return;
  const placeIn = ({ value, file, lineOf }: ConfigText | UpstreamFile): string => {
    const isMcp = Object.hasOwn(value.upstreams ?? {}, name);
    const place = [isMcp ? 'upstreams' : 'openapi', name];
    return `${file}:${lineOf(place)} (${place.join('.')})`;
  };
  const remove = Object.hasOwn(added.value.upstreams ?? {}, name) ? 'mcp' : 'openapi';
  throw new ConfigError(
    `the upstream ${name} is defined twice, in ${placeIn(config)} and in ${placeIn(added)}: rename the first, or run patchboard ${remove} remove ${name}`,
  );
}
