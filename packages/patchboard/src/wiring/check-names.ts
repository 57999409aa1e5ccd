import type { Pack } from '../core/tools/server-tool.ts';
import { ConfigError } from '../settings/config-file.ts';
import { allUpstreams, type UpstreamsSettings } from '../settings/read-upstreams.ts';
import type { Settings } from '../settings/settings.ts';
import { isUpstreamTool } from '../settings/upstream-config.ts';

/** The packs, as far as names are compared with them. */
export type NamedPack = Pick<Pack, 'name' | 'toolSource'> & {
  readonly tools: readonly { readonly name: string }[];
};

type NamedSettings = Pick<Settings, 'tenants' | 'toolTimeoutsMs' | 'toolCacheMs' | 'upstreams'>;

/**
 * Checks that packs and tools named in the config exist. This is possible only after all packs are loaded. The tools of
 * upstreams are not known yet: a name that begins with the name of an upstream is accepted.
 */
export function checkNames(settings: NamedSettings, packs: readonly NamedPack[]): void {
  const { tenants, toolTimeoutsMs, toolCacheMs, upstreams } = settings;
  checkUpstreamNames(upstreams, packs);
  const names = [...packs.map((pack) => pack.name), ...upstreamPacks(upstreams)];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new ConfigError(`packs: two packs have the name ${twice}`);
  for (const [id, { packs: wanted }] of tenants) {
    const missing = wanted?.find((name) => !names.includes(name));
    if (missing !== undefined)
      throw new ConfigError(`tenants.${id}.packs names ${missing}, but there are ${names.join(', ')}`);
  }
  // Tools that come and go are not known yet.
  if (packs.some(({ toolSource }) => toolSource !== undefined)) return;
  const tools = new Set(packs.flatMap((pack) => pack.tools.map((tool) => tool.name)));
  const prefixes = namesOf(upstreams);
  const unknown = [...toolTimeoutsMs.keys(), ...toolCacheMs.keys()].find(
    (name) => !tools.has(name) && !isUpstreamTool(name, prefixes),
  );
  if (unknown !== undefined)
    throw new ConfigError(`tools.${unknown}: no pack or upstream has a tool of that name`);
}

/** Throws a `ConfigError` if the tools of an upstream would have the prefix of a pack's tools. */
export function checkUpstreamNames(upstreams: UpstreamsSettings, packs: readonly NamedPack[]): void {
  for (const upstream of allUpstreams(upstreams)) {
    const pack = packs.find(({ tools }) => tools.some((tool) => isUpstreamTool(tool.name, [upstream.name])));
    if (pack === undefined) continue;
    const place = `${upstream.kind === 'mcp' ? 'upstreams' : 'openapi'}.${upstream.name}`;
    throw new ConfigError(
      `${place}: tools of the pack ${pack.name} begin with ${upstream.name}., so the upstream needs another name`,
    );
  }
}

/** Whether a pattern of the policy names an upstream, or tools of one. */
export function isOfUpstream(pattern: string, upstreams: UpstreamsSettings): boolean {
  return isUpstreamTool(`${pattern}.`, namesOf(upstreams));
}

function namesOf(upstreams: UpstreamsSettings): readonly string[] {
  return allUpstreams(upstreams).map(({ name }) => name);
}

function upstreamPacks(upstreams: UpstreamsSettings): readonly string[] {
  return allUpstreams(upstreams).map(({ kind, name }) => `${kind}:${name}`);
}
