import type { ToolSpec } from '@patchboard/wire';
import type { Device } from './device.ts';
import type { Guard } from '../access/guard.ts';
import type { Pool, Pools } from './pools.ts';
import { rejected, type ClientTool, type Registration } from '../tools/registered-tool.ts';
import type { Registry } from '../tools/registry.ts';
import type { ToolMemory } from '../tools/tool-memory.ts';
import { isRisky, raised, riskOf } from '../tools/tool-risks.ts';

/** A registration in progress: the tools accepted so far, and what to restore if it cannot be stored. */
export interface Batch {
  readonly tenant: string;
  readonly clientId: string;
  /** The operator who registers; null: a client, which may raise a risk but not lower it. */
  readonly operator: string | null;
  /** Null: registered over HTTP and stored. Otherwise registered while this device is connected. */
  readonly device: Device | null;
  readonly taken: Map<string, { readonly tool: ClientTool; readonly spec: ToolSpec }>;
  readonly replaced: Map<string, PreviousTool>;
  readonly keptRisk: Set<string>;
  /** Names whose contract changed. */
  readonly changed: Set<string>;
  /** Tools that another device of the client offers already: there is nothing to record. */
  readonly joined: Map<string, ClientTool>;
}

/** What was registered under a name before; both are undefined if nothing was. */
interface PreviousTool {
  readonly tool: ClientTool | undefined;
  readonly pool: Pool | undefined;
}

export function newBatch(given: Pick<Batch, 'tenant' | 'clientId' | 'operator' | 'device'>): Batch {
  return {
    ...given,
    taken: new Map(),
    replaced: new Map(),
    keptRisk: new Set(),
    changed: new Set(),
    joined: new Map(),
  };
}

export interface ToolRegistrarParts {
  readonly registry: Registry;
  readonly pools: Pools;
  readonly guard: Guard;
  readonly memory: ToolMemory;
}

/** Accepts or rejects the tools of a registration. Accepted tools enter the registry before the next one is checked. */
export class ToolRegistrar {
  readonly #parts: ToolRegistrarParts;

  constructor(parts: ToolRegistrarParts) {
    this.#parts = parts;
  }

  take(batch: Batch, given: ToolSpec): Registration {
    const { registry, guard, memory } = this.#parts;
    const { tenant, clientId, operator, device, taken } = batch;
    const { name } = given;
    if (device !== null && device.link === null)
      return rejected('provider_disconnected', 'the device is gone');
    if (!guard.registers(tenant, name)) {
      return rejected('permission_denied', 'policy does not let clients register this name');
    }
    const earlier = taken.get(name);
    const known = earlier === undefined ? memory.risks.of(tenant, name) : riskOf(earlier.spec.annotations);
    const spec = operator === null ? raised(given, known) : given;
    const member = this.#join(batch, spec);
    if (member !== null) return member;
    const full = isRisky(known) ? null : this.#riskProblem(batch, spec);
    if (full !== null) return full;
    const admitted = registry.admit(tenant, clientId, spec);
    if (!admitted.ok) return admitted;
    const foreign = this.#otherContract(batch, admitted.tool);
    if (foreign !== null) return foreign;
    this.#enter(batch, admitted.tool, spec);
    if (spec !== given) batch.keptRisk.add(name);
    return admitted;
  }

  /** Restores the state before the batch. Removes all tools before adding any: they may have swapped wire names. */
  rollBack({ tenant, replaced, device }: Batch): void {
    const { registry, pools } = this.#parts;
    if (device !== null) {
      // Devices that joined the pool since then keep it.
      for (const name of replaced.keys()) if (pools.leave(device, name)) registry.remove(tenant, name);
      return;
    }
    for (const name of replaced.keys()) {
      registry.remove(tenant, name);
      pools.remove(tenant, name);
    }
    for (const [name, { tool, pool }] of replaced) {
      // A device that disconnected meanwhile is not restored.
      const devices = [...(pool?.devices ?? [])].filter(({ link }) => link !== null);
      if (tool === undefined || pool === undefined || (!pool.isKept && devices.length === 0)) continue;
      registry.add(tool);
      pools.set(tenant, name, { ...pool, devices: new Set(devices) });
      for (const device of devices) device.tools.add(name);
    }
  }

  /** Adds the device to the pool of an identical tool of the same client; null if there is none. */
  #join({ tenant, clientId, device, joined, taken }: Batch, spec: ToolSpec): Registration | null {
    if (device === null || taken.has(spec.name)) return null;
    const pool = this.#parts.pools.of(tenant, spec.name);
    const tool = this.#parts.registry.clientTool(tenant, spec.name);
    if (pool === undefined || tool?.clientId !== clientId) return null;
    if (pool.specJson !== JSON.stringify(spec)) return null;
    pool.devices.add(device);
    device.tools.add(spec.name);
    joined.set(spec.name, tool);
    return { ok: true, tool };
  }

  /** Rejects a changed contract, unless the device is the only provider of the tool. */
  #otherContract({ tenant, device, operator }: Batch, tool: ClientTool): Registration | null {
    const current = this.#parts.registry.clientTool(tenant, tool.name);
    const pool = this.#parts.pools.of(tenant, tool.name);
    if (current === undefined || pool === undefined || operator !== null) return null;
    if (current.version === tool.version) return null;
    const others = [...pool.devices].filter((other) => other.name !== device?.name);
    if (others.length > 0) {
      const names = others.map(({ name }) => name).join(', ');
      return rejected(
        'name_taken',
        `device ${names} of this client offers ${tool.name} under another contract: use that contract, or have it send ` +
          '`unregister_tools` or disconnect first',
      );
    }
    if (device !== null && pool.isKept) {
      return rejected(
        'name_taken',
        `this client registered ${tool.name} over HTTP under another contract: use that contract, or release the tool first ` +
          `(DELETE /internal/clients/${encodeURIComponent(device.clientId)}/tools/${encodeURIComponent(tool.name)})`,
      );
    }
    return null;
  }

  #enter(batch: Batch, tool: ClientTool, spec: ToolSpec): void {
    const { registry, pools } = this.#parts;
    const { tenant, device } = batch;
    const { name } = tool;
    const previous = { tool: registry.clientTool(tenant, name), pool: pools.of(tenant, name) };
    if (!batch.replaced.has(name)) batch.replaced.set(name, previous);
    const isSame = previous.tool?.version === tool.version || batch.operator !== null;
    if (!isSame) for (const other of previous.pool?.devices ?? []) other.tools.delete(name);
    const devices = new Set(isSame ? previous.pool?.devices : []);
    if (device !== null) {
      devices.add(device);
      device.tools.add(name);
    }
    registry.add(tool);
    const isKept = device === null || (isSame && previous.pool?.isKept === true);
    pools.set(tenant, name, { specJson: JSON.stringify(spec), isKept, devices });
    batch.taken.set(name, { tool, spec });
    if (this.#parts.memory.isOtherContract(tenant, tool)) batch.changed.add(name);
  }

  #riskProblem({ tenant, taken }: Batch, spec: ToolSpec): Registration | null {
    const others = [...taken.values()].map((one) => one.spec);
    return this.#parts.memory.riskProblem(tenant, spec, others);
  }
}
