import type { RejectedTool, ToolSpec } from '@patchboard/wire';
import type { DocumentChange } from './documents.ts';
import type { Guard } from './guard.ts';
import { plainRow, type LedgerDraft } from './ledger.ts';
import type { Clock, Store } from './ports.ts';
import type { RegisteredTool, Registration, Registry } from './registry.ts';
import { covers, isRisky, raised, riskDocument, riskOf, ToolRisks, type Risk } from './tool-risks.ts';

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
  /** As many names are remembered as risky. */
  readonly riskyNamesPerTenant: number;
}

/** A registration under way: what it took so far, and what stands again if it cannot be stored. */
interface Batch {
  readonly tenant: string;
  readonly clientId: string;
  /** The operator who registers; null: anybody else, who may raise a risk but not lower it. */
  readonly operator: string | null;
  readonly taken: Map<string, { readonly tool: RegisteredTool; readonly spec: ToolSpec }>;
  readonly replaced: Map<string, RegisteredTool | undefined>;
  readonly keptRisk: Set<string>;
}

/** Client tools: in the registry while callable, in the store over restarts, with a ledger row per change. */
export class ToolDirectory {
  readonly #parts: ToolDirectoryParts;
  readonly #risks: ToolRisks = new ToolRisks();
  /** One change of a tenant at a time: the next one looks at what this one left. */
  readonly #turns: Map<string, Promise<unknown>> = new Map();

  constructor(parts: ToolDirectoryParts) {
    this.#parts = parts;
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
    return await this.#inTurn(tenant, async () => {
      const replaced = new Map<string, RegisteredTool | undefined>();
      const batch: Batch = { tenant, clientId, operator, taken: new Map(), replaced, keptRisk: new Set() };
      const rejected: RejectedTool[] = [];
      for (const [index, spec] of specs.entries()) {
        if (index % BATCH === BATCH - 1) await this.#pause();
        const answer = this.#take(batch, spec);
        if (!answer.ok) rejected.push({ name: spec.name, code: answer.code, reason: answer.reason });
      }
      if (batch.taken.size > 0) await this.#keep(batch);
      return { registered: [...batch.taken.values()].map(({ tool }) => tool), rejected };
    });
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
    const { store, registry } = this.#parts;
    const rejected: RejectedTool[] = [];
    await this.#risks.load(store);
    for (const { tenant, clientId, spec: stored, wireName } of await store.tools()) {
      const spec = raised(stored, this.#risks.of(tenant, stored.name));
      this.#risks.set(tenant, spec.name, riskOf(spec.annotations));
      const admitted = registry.admit(tenant, clientId, spec, wireName);
      if (admitted.ok) registry.add(admitted.tool);
      else rejected.push({ name: spec.name, code: admitted.code, reason: admitted.reason });
    }
    return rejected;
  }

  #take(batch: Batch, given: ToolSpec): Registration {
    const { registry, guard, riskyNamesPerTenant } = this.#parts;
    const { tenant, clientId, operator, taken } = batch;
    const { name } = given;
    if (!guard.registers(tenant, name)) {
      const reason = 'policy does not let clients register this name';
      return { ok: false, code: 'permission_denied', reason };
    }
    const earlier = taken.get(name);
    const known = earlier === undefined ? this.#risks.of(tenant, name) : riskOf(earlier.spec.annotations);
    const spec = operator === null ? raised(given, known) : given;
    const isNewRisk = !isRisky(known) && isRisky(riskOf(spec.annotations));
    if (isNewRisk && this.#risks.count(tenant) + this.#newRisks(batch) >= riskyNamesPerTenant) {
      const reason = `the risk of ${riskyNamesPerTenant} names is remembered; an operator must forget one first`;
      return { ok: false, code: 'too_large', reason };
    }
    const admitted = registry.admit(tenant, clientId, spec);
    if (!admitted.ok) return admitted;
    if (!batch.replaced.has(name)) batch.replaced.set(name, registry.clientTool(tenant, name));
    // Into the registry at once, so that the rest of the batch is held against it; out again if storing fails.
    registry.add(admitted.tool);
    taken.set(name, { tool: admitted.tool, spec });
    if (spec !== given) batch.keptRisk.add(name);
    return admitted;
  }

  /** Of the names in the batch, those that were not risky before. */
  #newRisks({ tenant, taken }: Batch): number {
    return [...taken].filter(
      ([name, { spec }]) => isRisky(riskOf(spec.annotations)) && !this.#risks.has(tenant, name),
    ).length;
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
      ...(batch.keptRisk.size > 0 ? { kept_risk: [...batch.keptRisk] } : {}),
      ...(lowered.length > 0 ? { lowered_risk: lowered, by: batch.operator } : {}),
    });
    const tools = [...taken.values()].map(({ tool: { wireName }, spec }) => {
      return { tenant, clientId, wireName, spec, registeredAt };
    });
    const documents = [...risks].map(([name, risk]) => riskDocument(tenant, name, risk));
    try {
      await store.saveTools(tools, row, documents);
    } catch (error) {
      this.#putBack(batch);
      throw error;
    }
    for (const [name, risk] of risks) this.#risks.set(tenant, name, risk);
  }

  /** All out before any comes back in: they may have each other's wire names. */
  #putBack({ tenant, replaced }: Batch): void {
    const { registry } = this.#parts;
    for (const name of replaced.keys()) registry.remove(tenant, name);
    for (const tool of replaced.values()) if (tool !== undefined) registry.add(tool);
  }

  async #remove(
    tenant: string,
    names: readonly string[],
    row: LedgerDraft,
    documents: readonly DocumentChange[],
  ): Promise<void> {
    const { store, registry } = this.#parts;
    const keys = names.map((name) => ({ tenant, name }));
    await store.removeTools(keys, row, documents);
    for (const name of names) registry.remove(tenant, name);
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
