import { BoundedMap } from '../../../core/bounded-map.ts';
import type { Engine } from '../../../core/engine.ts';
import type { Principal } from '../../../core/access/principal.ts';
import { createToolDiscoveryService, type ToolDiscoveryService } from '../../../protocols/discovery.ts';
import { definitionsOf } from '../../../protocols/registered-tools.ts';
import type { ToolLists } from './tool-lists.ts';

/** LRU size. Each service caches the prompts for one list of tools. */
const KEPT_SERVICES = 8;

/** Caches prompts for all principals that see the same tools, until the registry or the policy changes. */
export class Prompts {
  readonly #engine: Engine;
  readonly #lists: ToolLists;
  /** Version of registry and policy that the cache is for. */
  #version = '';
  readonly #services: BoundedMap<string, ToolDiscoveryService> = new BoundedMap(KEPT_SERVICES);

  constructor(engine: Engine, lists: ToolLists) {
    this.#engine = engine;
    this.#lists = lists;
  }

  for(principal: Principal): ToolDiscoveryService {
    const { toolIndex, guard } = this.#engine;
    const version = `${toolIndex.version}.${guard.revision}`;
    if (version !== this.#version) this.#services.clear();
    this.#version = version;
    const { etag } = this.#lists.for(principal);
    const kept = this.#services.use(etag);
    if (kept !== undefined) return kept;
    const definitions = definitionsOf(this.#engine.tools(principal));
    const made = createToolDiscoveryService({ version, definitions: () => definitions });
    this.#services.set(etag, made);
    return made;
  }
}
