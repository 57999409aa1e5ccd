import type { Engine } from '../core/engine.ts';
import { SecretMask } from '../sources/shared/secret-mask.ts';
import type { Settings } from '../settings/settings.ts';
import { checkUpstreamNames, type NamedPack } from './check-names.ts';
import { makeUpstream, type UpstreamSurroundings } from './make-upstream.ts';
import { withToolConfig } from './tool-config.ts';
import { UpstreamSet } from './upstream-set.ts';

/** Adds the configured upstreams to an engine that is not started yet. Throws a `ConfigError`. */
export async function openUpstreams(
  engine: Engine,
  settings: Settings,
  packs: readonly NamedPack[],
  surroundings: Omit<UpstreamSurroundings, 'mask' | 'instanceId'>,
): Promise<UpstreamSet> {
  const mask = new SecretMask();
  const set = new UpstreamSet({
    service: engine.upstreams,
    configure: (tool) => withToolConfig(tool, settings),
    make: (one) => makeUpstream(one, { ...surroundings, mask, instanceId: engine.instanceId }),
    read: () => {
      const upstreams = settings.readUpstreams();
      checkUpstreamNames(upstreams, packs);
      return upstreams;
    },
    addSecrets: (values) => mask.add(values),
  });
  await set.open(settings.upstreams);
  return set;
}
