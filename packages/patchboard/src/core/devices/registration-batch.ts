import { reason, type RejectedTool, type ToolSpec } from '@patchboard/wire';
import type { Device } from './device.ts';
import type { Guard } from '../access/guard.ts';
import type { Pool, Pools } from './pools.ts';
import { admitClientTool, type AdmitToolParts } from '../tools/admit-tool.ts';
import { rejected, rejectedTool, type ClientTool, type Registration } from '../tools/registered-tool.ts';
import type { ToolMemory } from '../tools/tool-memory.ts';
import { isRisky, raised, riskOf } from '../tools/tool-risks.ts';

export interface RegistrationBatchParts extends AdmitToolParts {
  readonly pools: Pools;
  readonly guard: Guard;
  readonly memory: ToolMemory;
}

/** The program that registers, and how long its tools stay. */
export interface Registrant {
  readonly tenant: string;
  readonly clientId: string;
  /** The operator who registers; null: a client, which may raise a risk but not lower it. */
  readonly operator: string | null;
  /** Null: registered over HTTP and stored. Otherwise registered while this device is connected. */
  readonly device: Device | null;
}

/** What was registered under a name before; both are undefined if nothing was. */
interface PreviousTool {
  readonly tool: ClientTool | undefined;
  readonly pool: Pool | undefined;
}

/**
 * A registration in progress. Accepts or rejects one tool after the other; an accepted tool can be called at once. If the
 * batch cannot be stored, `rollBack` restores the state before it.
 */
export class RegistrationBatch {
  readonly registrant: Registrant;
  readonly taken: Map<string, { readonly tool: ClientTool; readonly spec: ToolSpec }> = new Map();
  readonly keptRisk: Set<string> = new Set();
  /** Names whose contract changed. */
  readonly changed: Set<string> = new Set();
  /** Tools that another device of the client offers already: there is nothing to record. */
  readonly joined: Map<string, ClientTool> = new Map();
  /** Those of `joined` that no other device of this node offers: other nodes must know that this one does. */
  readonly firstHere: Map<string, { readonly tool: ClientTool; readonly spec: ToolSpec }> = new Map();
  readonly #parts: RegistrationBatchParts;
  readonly #replaced: Map<string, PreviousTool> = new Map();

  constructor(parts: RegistrationBatchParts, registrant: Registrant) {
    this.#parts = parts;
    this.registrant = registrant;
  }

  take(given: ToolSpec): Registration {
    const { guard, memory } = this.#parts;
    const { tenant, operator, device } = this.registrant;
    const { name } = given;
    if (device !== null && device.link === null)
      return rejected('provider_disconnected', reason('device_gone'));
    if (!guard.registers(tenant, name)) {
      return rejected('permission_denied', reason('name_not_registrable'));
    }
    const earlier = this.taken.get(name);
    const known = earlier === undefined ? memory.risks.of(tenant, name) : riskOf(earlier.spec.annotations);
    const spec = operator === null ? raised(given, known) : given;
    const member = this.#join(spec);
    if (member !== null) return member;
    const full = isRisky(known) ? null : this.#riskProblem(spec);
    if (full !== null) return full;
    const admitted = admitClientTool(this.#parts, this.registrant, spec);
    if (!admitted.ok) return admitted;
    const foreign = this.#otherContract(admitted.tool);
    if (foreign !== null) return foreign;
    this.#enter(admitted.tool, spec);
    if (spec !== given) this.keptRisk.add(name);
    return admitted;
  }

  /** The rejections of the accepted tools of a device that has disconnected since. */
  withdrawn(): RejectedTool[] {
    const gone = rejected('provider_disconnected', reason('device_gone'));
    return [...this.joined.keys(), ...this.taken.keys()].map((name) => rejectedTool(name, gone));
  }

  /** Restores the state before the batch. Removes all tools before adding any: they may have swapped wire names. */
  rollBack(): void {
    const { toolIndex, pools } = this.#parts;
    const { tenant, device } = this.registrant;
    if (device !== null) {
      // Devices that joined the pool since then keep it.
      for (const name of [...this.#replaced.keys(), ...this.firstHere.keys()])
        if (pools.leave(device, name).isRemoved) toolIndex.remove(tenant, name);
      return;
    }
    // A tool that another node stored meanwhile stays.
    const replaced = [...this.#replaced].filter(
      ([name]) => toolIndex.clientTool(tenant, name) === this.taken.get(name)?.tool,
    );
    for (const [name] of replaced) {
      toolIndex.remove(tenant, name);
      pools.remove(tenant, name);
    }
    for (const [name, { tool, pool }] of replaced) {
      // A device that disconnected meanwhile is not restored.
      const devices = [...(pool?.devices ?? [])].filter(({ link }) => link !== null);
      if (tool === undefined || pool === undefined || (!pool.isKept && devices.length === 0)) continue;
      toolIndex.add(tool);
      pools.set(tenant, name, { ...pool, devices: new Set(devices) });
      for (const device of devices) device.tools.add(name);
    }
  }

  /** Adds the device to the pool of an identical tool of the same client; null if there is none. */
  #join(spec: ToolSpec): Registration | null {
    const { tenant, clientId, device } = this.registrant;
    if (device === null || this.taken.has(spec.name)) return null;
    const pool = this.#parts.pools.of(tenant, spec.name);
    const tool = this.#parts.toolIndex.clientTool(tenant, spec.name);
    if (pool === undefined || tool?.clientId !== clientId) return null;
    if (pool.specJson !== JSON.stringify(spec)) return null;
    if (pool.devices.size === 0) this.firstHere.set(spec.name, { tool, spec });
    pool.devices.add(device);
    device.tools.add(spec.name);
    this.joined.set(spec.name, tool);
    return { ok: true, tool };
  }

  /** Rejects a changed contract, unless the device is the only provider of the tool. */
  #otherContract(tool: ClientTool): Registration | null {
    const { tenant, device, operator } = this.registrant;
    const current = this.#parts.toolIndex.clientTool(tenant, tool.name);
    const pool = this.#parts.pools.of(tenant, tool.name);
    if (current === undefined || pool === undefined || operator !== null) return null;
    if (current.version === tool.version) return null;
    const others = [...pool.devices].filter((other) => other.name !== device?.name).map(({ name }) => name);
    if (pool.isElsewhere) others.push('at another node');
    if (others.length > 0) {
      const why = reason('contract_of_devices', { devices: others.join(', '), tool: tool.name });
      return rejected('name_taken', why);
    }
    if (device !== null && pool.isKept) {
      return rejected(
        'name_taken',
        reason('contract_over_http', { client: device.clientId, tool: tool.name }),
      );
    }
    return null;
  }

  #enter(tool: ClientTool, spec: ToolSpec): void {
    const { toolIndex, pools } = this.#parts;
    const { tenant, device, operator } = this.registrant;
    const { name } = tool;
    const previous = { tool: toolIndex.clientTool(tenant, name), pool: pools.of(tenant, name) };
    if (!this.#replaced.has(name)) this.#replaced.set(name, previous);
    const isSame = previous.tool?.version === tool.version || operator !== null;
    if (!isSame) for (const other of previous.pool?.devices ?? []) other.tools.delete(name);
    const devices = new Set(isSame ? previous.pool?.devices : []);
    if (device !== null) {
      devices.add(device);
      device.tools.add(name);
    }
    toolIndex.add(tool);
    const isKept = device === null || (isSame && previous.pool?.isKept === true);
    const isElsewhere = isSame && previous.pool?.isElsewhere === true;
    pools.set(tenant, name, { specJson: JSON.stringify(spec), isKept, devices, isElsewhere });
    this.taken.set(name, { tool, spec });
    if (this.#parts.memory.isOtherContract(tenant, tool)) this.changed.add(name);
  }

  #riskProblem(spec: ToolSpec): Registration | null {
    const others = [...this.taken.values()].map((one) => one.spec);
    return this.#parts.memory.riskProblem(this.registrant.tenant, spec, others);
  }
}
