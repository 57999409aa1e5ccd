import { canonicalJson } from '@patchboard/wire/json';
import type { Digest } from '../core/ports.ts';
import type { RegisteredTool } from '../core/tools/registered-tool.ts';
import type { Settings } from '../settings/settings.ts';

/** Settings that decide what happens to a call, whichever node takes it. They hold no secrets. */
const COMPARED: readonly (keyof Settings)[] = [
  'isProduction',
  'keepCallsMs',
  'limits',
  'mcp',
  'policy',
  'queryDatabase',
  'rates',
  'redact',
  'tenants',
  'toolCacheMs',
  'toolTimeoutsMs',
  'trustProxy',
];

export interface FingerprintParts {
  readonly settings: Settings;
  readonly version: string;
  /** The tools of packs. Those of upstreams are the same if the upstreams are, once they are connected. */
  readonly tools: readonly Pick<RegisteredTool, 'name' | 'version'>[];
  readonly digest: Digest;
}

const CHARACTERS = 16;

/**
 * Returns a hash of version, configuration, and packs with the contracts of their tools: nodes of one store that show the
 * same behave the same. What may differ from node to node, such as addresses and folders, is left out.
 */
export function fingerprintOf({ settings, version, tools, digest }: FingerprintParts): string {
  const text = canonicalJson({
    version,
    settings: Object.fromEntries(COMPARED.map((name) => [name, plain(settings[name])])),
    hooks: settings.hookModules,
    packs: settings.packModules,
    mcp: settings.upstreams.mcp.map(({ name }) => name).toSorted(),
    openapi: settings.upstreams.openapi.map(({ name }) => name).toSorted(),
    issuer: settings.jwt?.issuer ?? null,
    internalKeys: settings.internalKeys.map(({ tenant }) => tenant),
    tools: Object.fromEntries(tools.map((tool) => [tool.name, tool.version])),
  });
  return digest.sha256(text).slice(0, CHARACTERS);
}

/** Maps and sets as JSON values. */
function plain(value: unknown): unknown {
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([key, one]) => [String(key), plain(one)]));
  if (value instanceof Set) return [...value].map(plain);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value === undefined ? null : value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}
