import type { RejectedTool, ToolSpec } from '@patchboard/wire';
import type { Guard } from './guard.ts';
import { plainRow } from './ledger.ts';
import type { Clock, Store } from './ports.ts';
import type { RegisteredTool, Registry } from './registry.ts';

/** Compiling outside schemas takes time; so many go in one turn of the event loop. */
const BATCH = 20;

export interface RegistrationReport {
  readonly registered: readonly RegisteredTool[];
  readonly rejected: readonly RejectedTool[];
}

/** Client tools: in the registry while callable, in the store over restarts, with a ledger row per change. */
export class ToolDirectory {
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #clock: Clock;
  readonly #guard: Guard;

  constructor(store: Store, registry: Registry, clock: Clock, guard: Guard) {
    this.#guard = guard;
    this.#store = store;
    this.#registry = registry;
    this.#clock = clock;
  }

  /** Each tool is taken or rejected by itself. What is taken is callable once it is durable. */
  async register(tenant: string, clientId: string, specs: readonly ToolSpec[]): Promise<RegistrationReport> {
    const registered = new Map<string, RegisteredTool>();
    const stored = new Map<string, ToolSpec>();
    const rejected: RejectedTool[] = [];
    for (const [index, spec] of specs.entries()) {
      if (index % BATCH === BATCH - 1) await this.#pause();
      if (!this.#guard.registers(tenant, spec.name)) {
        const reason = 'policy does not let clients register this name';
        rejected.push({ name: spec.name, code: 'permission_denied', reason });
        continue;
      }
      const admitted = this.#registry.admit(tenant, clientId, spec);
      if (!admitted.ok) {
        rejected.push({ name: spec.name, code: admitted.code, reason: admitted.reason });
        continue;
      }
      // Into the registry at once, so that a racing client finds the name taken; out again if storing fails.
      this.#registry.add(admitted.tool);
      registered.set(spec.name, admitted.tool);
      stored.set(spec.name, spec);
    }
    if (registered.size > 0) await this.#keep(tenant, clientId, registered, stored);
    return { registered: [...registered.values()], rejected };
  }

  /** `name` null: all of the client's. Answers the names that were removed. */
  async unregister(tenant: string, clientId: string, name: string | null): Promise<readonly string[]> {
    const mine = this.#registry.ofClient(tenant, clientId);
    const removed = mine.filter((tool) => name === null || tool.name === name).map((tool) => tool.name);
    if (removed.length === 0) return removed;
    const row = plainRow('registry.changed', tenant, this.#clock.now(), { client_id: clientId, removed });
    await this.#store.removeTools(
      removed.map((toolName) => ({ tenant, name: toolName })),
      row,
    );
    for (const toolName of removed) this.#registry.remove(tenant, toolName);
    return removed;
  }

  /** At start: what clients registered before. A tool that no longer passes is left out and answered. */
  async restore(): Promise<readonly RejectedTool[]> {
    const rejected: RejectedTool[] = [];
    for (const { tenant, clientId, spec, wireName } of await this.#store.tools()) {
      const admitted = this.#registry.admit(tenant, clientId, spec, wireName);
      if (admitted.ok) this.#registry.add(admitted.tool);
      else rejected.push({ name: spec.name, code: admitted.code, reason: admitted.reason });
    }
    return rejected;
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => this.#clock.after(0, resolve));
  }

  async #keep(
    tenant: string,
    clientId: string,
    registered: ReadonlyMap<string, RegisteredTool>,
    specs: ReadonlyMap<string, ToolSpec>,
  ): Promise<void> {
    const registeredAt = this.#clock.now();
    const names = [...registered.keys()];
    const row = plainRow('registry.changed', tenant, registeredAt, {
      client_id: clientId,
      registered: names,
    });
    const tools = [...specs].map(([name, spec]) => {
      const wireName = registered.get(name)?.wireName ?? name;
      return { tenant, clientId, wireName, spec, registeredAt };
    });
    try {
      await this.#store.saveTools(tools, row);
    } catch (error) {
      for (const name of names) this.#registry.remove(tenant, name);
      throw error;
    }
  }
}
