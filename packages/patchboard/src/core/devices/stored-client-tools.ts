import { Counters } from '../counters.ts';
import { pairKey } from '../pair-key.ts';
import type { Clock, Log, Store } from '../ports.ts';
import type { ToolChange } from '../store-changes.ts';
import { admitClientTool, type AdmitToolParts } from '../tools/admit-tool.ts';
import { longWireNamesLast } from '../tools/name-rules.ts';
import type { StoredTool } from '../tools/registered-tool.ts';
import type { ToolMemory } from '../tools/tool-memory.ts';
import { raised, riskOf } from '../tools/tool-risks.ts';
import type { Device } from './device.ts';
import type { Pools } from './pools.ts';

export interface StoredClientToolsParts extends AdmitToolParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly pools: Pools;
  readonly memory: ToolMemory;
  /** Another node has changed the tools of the tenant. */
  readonly changedElsewhere: (tenant: string) => void;
}

/** Who offers the tool besides the devices of this node. */
type Offered = Pick<ToolChange, 'isKept' | 'isOnlineElsewhere'>;

/** Number of specs, whose schemas take time to compile, per turn of the event loop. */
const BATCH = 20;

/** Enters client tools from the store into the index: at the start, and when another node has changed them. */
export class StoredClientTools {
  readonly #parts: StoredClientToolsParts;
  /** Stored tools that are not valid here, by tenant and name. */
  readonly #leftOut: Set<string> = new Set();
  /** Registrations of this node that are being stored, by tenant and name. */
  readonly #saving: Counters = new Counters();

  constructor(parts: StoredClientToolsParts) {
    this.#parts = parts;
  }

  /** Loads the stored tools at start. Logs the tools that are no longer valid, and leaves them out. */
  async restore(): Promise<void> {
    for (const tool of longWireNamesLast(await this.#parts.store.tools()))
      this.#enter(tool, { isKept: true, isOnlineElsewhere: false }, new Set());
  }

  /** Whether the stored tool was left out. It no longer counts as such. */
  takeLeftOut(tenant: string, name: string): boolean {
    return this.#leftOut.delete(pairKey(tenant, name));
  }

  /** This node stores these tools now, until the returned function is called. */
  saving(tenant: string, names: readonly string[]): () => void {
    const done = names.map((name) => this.#saving.enter(pairKey(tenant, name)));
    return () => done.forEach((leave) => leave());
  }

  /** Applies changes of other nodes, and those of this one again, which changes nothing. */
  async apply(changes: readonly ToolChange[]): Promise<void> {
    const tenants = new Set<string>();
    for (const [index, change] of changes.entries()) {
      if (index % BATCH === BATCH - 1) await this.#parts.clock.turn();
      if (this.#apply(change)) tenants.add(change.tenant);
    }
    for (const tenant of tenants) this.#parts.changedElsewhere(tenant);
  }

  /** Returns whether that changed the list of tools. */
  #apply({ tenant, name, tool, ...offered }: ToolChange): boolean {
    const { toolIndex, pools, memory } = this.#parts;
    const current = toolIndex.clientTool(tenant, name);
    const pool = pools.of(tenant, name);
    const isSameClient = tool !== null && current?.clientId === tool.clientId;
    if (isSameClient && pool?.specJson === JSON.stringify(raised(tool.spec, memory.risks.of(tenant, name)))) {
      const { isKept, isOnlineElsewhere: isElsewhere } = offered;
      pools.set(tenant, name, { ...pool, isKept, isElsewhere });
      return false;
    }
    // What this node is storing now follows as a change of its own.
    if (this.#saving.of(pairKey(tenant, name)) > 0 && (tool === null || isSameClient)) return false;
    const devices = new Set(isSameClient ? pool?.devices : []);
    toolIndex.remove(tenant, name);
    pools.remove(tenant, name);
    this.#leftOut.delete(pairKey(tenant, name));
    if (tool !== null) this.#enter(tool, offered, devices);
    return tool !== null || current !== undefined;
  }

  #enter(
    { tenant, clientId, spec: stored, wireName }: StoredTool,
    offered: Offered,
    devices: Set<Device>,
  ): void {
    const { toolIndex, pools, memory, log } = this.#parts;
    const spec = raised(stored, memory.risks.of(tenant, stored.name));
    const { name } = spec;
    memory.risks.set(tenant, name, riskOf(spec.annotations));
    const admitted = admitClientTool(this.#parts, { tenant, clientId }, spec, wireName);
    if (!admitted.ok) {
      this.#leftOut.add(pairKey(tenant, name));
      const { code, reason } = admitted;
      log.warn('registry.tool_left_out', { tool_name: name, code, reason });
      return;
    }
    toolIndex.add(admitted.tool);
    const { isKept, isOnlineElsewhere: isElsewhere } = offered;
    pools.set(tenant, name, { specJson: JSON.stringify(spec), isKept, devices, isElsewhere });
    for (const device of devices) device.tools.add(name);
  }
}
