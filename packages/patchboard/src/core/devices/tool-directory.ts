import type { RejectedTool, ToolSpec } from '@patchboard/wire';
import type { Device } from './device.ts';
import type { DocumentChange } from '../documents.ts';
import type { Guard } from '../access/guard.ts';
import { plainRow, type LedgerDraft } from '../ledger/ledger.ts';
import type { Pools } from './pools.ts';
import type { Clock, Store } from '../ports.ts';
import type { RegisteredTool } from '../tools/registered-tool.ts';
import type { Registry } from '../tools/registry.ts';
import type { ToolMemory } from '../tools/tool-memory.ts';
import { newBatch, ToolRegistrar, type Batch } from './tool-registrar.ts';
import { covers, raised, riskDocument, riskOf, type Risk, type ToolRisks } from '../tools/tool-risks.ts';

/** Compiling outside schemas takes time; so many go in one turn of the event loop. */
const BATCH = 20;

export interface RegistrationReport {
  readonly registered: readonly RegisteredTool[];
  readonly rejected: readonly RejectedTool[];
}

export interface ToolDirectoryParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly guard: Guard;
  readonly pools: Pools;
  readonly memory: ToolMemory;
}

/**
 * Client tools: in the registry while callable, with a ledger row per change. What was registered over HTTP is in the
 * store over restarts; what a device lends goes with its connection.
 */
export class ToolDirectory {
  readonly #parts: ToolDirectoryParts;
  readonly #risks: ToolRisks;
  readonly #registrar: ToolRegistrar;
  /** One change of a tenant at a time: the next one looks at what this one left. */
  readonly #turns: Map<string, Promise<unknown>> = new Map();

  constructor(parts: ToolDirectoryParts) {
    this.#parts = parts;
    this.#risks = parts.memory.risks;
    this.#registrar = new ToolRegistrar(parts);
  }

  /**
   * Each tool is taken or rejected by itself; what is taken stays once it is durable.
   * A name keeps the risk it ever had, unless an `operator` registers it: their word stands as it is.
   */
  async register(
    tenant: string,
    clientId: string,
    specs: readonly ToolSpec[],
    operator: string | null = null,
  ): Promise<RegistrationReport> {
    const batch = newBatch({ tenant, clientId, operator, device: null });
    return await this.#inTurn(tenant, async () => {
      const rejected = await this.#takeAll(batch, specs);
      if (batch.taken.size > 0) await this.#keep(batch);
      return { registered: [...batch.taken.values()].map(({ tool }) => tool), rejected };
    });
  }

  /** The same for as long as the device is connected. Nobody else waits for its record to become durable. */
  async lend(device: Device, specs: readonly ToolSpec[]): Promise<RegistrationReport> {
    const { tenant, clientId } = device;
    const batch = newBatch({ tenant, clientId, operator: null, device });
    const rejected = await this.#inTurn(tenant, () => this.#takeAll(batch, specs));
    if (batch.taken.size > 0) await this.#keep(batch);
    const taken = [...batch.taken.values()].map(({ tool }) => tool);
    return { registered: [...batch.joined.values(), ...taken], rejected };
  }

  /** Leaves the registry at once, unless somebody else of the client offers it too; settles when that is recorded. */
  async takeBack(device: Device, names: readonly string[]): Promise<void> {
    const { tenant, clientId } = device;
    const { registry, pools, store } = this.#parts;
    const removed = names.filter((name) => pools.leave(device, name));
    for (const name of removed) registry.remove(tenant, name);
    if (removed.length > 0) await store.append([this.#row(tenant, { client_id: clientId, removed })]);
  }

  /** `name` null: all of the client's. Answers the names that were removed. */
  async unregister(tenant: string, clientId: string, name: string | null): Promise<readonly string[]> {
    return await this.#inTurn(tenant, async () => {
      const removed = this.#namesOf(tenant, clientId, name);
      if (removed.length === 0) return removed;
      const risky = removed.filter((removedName) => this.#risks.has(tenant, removedName));
      // The tool's own record goes, so the risk must stand in one of its own.
      const documents = risky.map((riskyName) =>
        riskDocument(tenant, riskyName, this.#risks.of(tenant, riskyName)),
      );
      await this.#remove(tenant, removed, this.#row(tenant, { client_id: clientId, removed }), documents);
      return removed;
    });
  }

  /** For operators: takes the tool back, and what is registered under its name next is judged by itself. */
  async forgetRisk(
    tenant: string,
    clientId: string,
    name: string,
    operator: string,
  ): Promise<{ readonly removed: readonly string[]; readonly hadRisk: boolean }> {
    return await this.#inTurn(tenant, async () => {
      const removed = this.#namesOf(tenant, clientId, name);
      const hadRisk = this.#risks.has(tenant, name);
      if (removed.length === 0 && !hadRisk) return { removed, hadRisk };
      const forgotten = hadRisk ? { forgotten_risk: [name] } : {};
      const row = this.#row(tenant, { client_id: clientId, removed, ...forgotten, by: operator });
      await this.#remove(tenant, removed, row, [riskDocument(tenant, name, {})]);
      this.#risks.set(tenant, name, {});
      return { removed, hadRisk };
    });
  }

  /** At start: what clients registered before. A tool that no longer passes is left out and answered. */
  async restore(): Promise<readonly RejectedTool[]> {
    const { store, registry, pools, memory } = this.#parts;
    const rejected: RejectedTool[] = [];
    await memory.load(store);
    for (const { tenant, clientId, spec: stored, wireName } of await store.tools()) {
      const spec = raised(stored, this.#risks.of(tenant, stored.name));
      this.#risks.set(tenant, spec.name, riskOf(spec.annotations));
      const admitted = registry.admit(tenant, clientId, spec, wireName);
      if (admitted.ok) {
        registry.add(admitted.tool);
        const pool = { specJson: JSON.stringify(spec), isKept: true, devices: new Set<Device>() };
        pools.set(tenant, spec.name, pool);
      } else rejected.push({ name: spec.name, code: admitted.code, reason: admitted.reason });
    }
    return rejected;
  }

  async #takeAll(batch: Batch, specs: readonly ToolSpec[]): Promise<RejectedTool[]> {
    const rejected: RejectedTool[] = [];
    for (const [index, spec] of specs.entries()) {
      if (index % BATCH === BATCH - 1) await this.#pause();
      const answer = this.#registrar.take(batch, spec);
      if (!answer.ok) rejected.push({ name: spec.name, code: answer.code, reason: answer.reason });
    }
    return rejected;
  }

  async #keep(batch: Batch): Promise<void> {
    const { store, clock } = this.#parts;
    const { tenant, clientId, taken } = batch;
    const registeredAt = clock.now();
    const risks = new Map<string, Risk>();
    const lowered: string[] = [];
    for (const [name, { spec }] of taken) {
      const before = this.#risks.of(tenant, name);
      const risk = riskOf(spec.annotations);
      if (!covers(risk, before)) lowered.push(name);
      if (!covers(risk, before) || !covers(before, risk)) risks.set(name, risk);
    }
    const row = this.#row(tenant, {
      client_id: clientId,
      registered: [...taken.keys()],
      ...(batch.changed.size > 0 ? { changed: [...batch.changed] } : {}),
      ...(batch.keptRisk.size > 0 ? { kept_risk: [...batch.keptRisk] } : {}),
      ...(lowered.length > 0 ? { lowered_risk: lowered, by: batch.operator } : {}),
    });
    const kept = batch.device === null ? [...taken.values()] : [];
    const tools = kept.map(({ tool: { wireName }, spec }) => {
      return { tenant, clientId, wireName, spec, registeredAt };
    });
    const documents = [...risks].map(([name, risk]) => riskDocument(tenant, name, risk));
    try {
      await store.saveTools(tools, row, documents);
    } catch (error) {
      this.#registrar.putBack(batch);
      throw error;
    }
    for (const [name, risk] of risks) this.#risks.set(tenant, name, risk);
  }

  async #remove(
    tenant: string,
    names: readonly string[],
    row: LedgerDraft,
    documents: readonly DocumentChange[],
  ): Promise<void> {
    const { store, registry, pools } = this.#parts;
    const keys = names.map((name) => ({ tenant, name }));
    await store.removeTools(keys, row, documents);
    for (const name of names) {
      registry.remove(tenant, name);
      pools.remove(tenant, name);
    }
  }

  #namesOf(tenant: string, clientId: string, name: string | null): readonly string[] {
    const mine = this.#parts.registry.ofClient(tenant, clientId);
    return mine.filter((tool) => name === null || tool.name === name).map((tool) => tool.name);
  }

  #row(tenant: string, body: Record<string, unknown>): LedgerDraft {
    return plainRow('registry.changed', tenant, this.#parts.clock.now(), body);
  }

  async #inTurn<T>(tenant: string, change: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(tenant) ?? Promise.resolve()).then(change);
    const over = turn.catch(() => undefined);
    this.#turns.set(tenant, over);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(tenant) === over) this.#turns.delete(tenant);
    }
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => this.#parts.clock.after(0, resolve));
  }
}
