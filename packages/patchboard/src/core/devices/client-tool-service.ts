import type { RejectedTool, ToolSpec } from '@patchboard/wire';
import type { Device } from './device.ts';
import type { DocumentChange } from '../documents.ts';
import { plainRow, type LedgerDraft } from '../ledger/ledger.ts';
import type { Clock, Store } from '../ports.ts';
import type { SharedChanges } from '../shared-changes.ts';
import { heldByClient } from '../tools/name-rules.ts';
import { rejectedTool, type RegistrationReport } from '../tools/registered-tool.ts';
import { RegistrationBatch, type Registrant, type RegistrationBatchParts } from './registration-batch.ts';
import type { StoredClientTools } from './stored-client-tools.ts';
import { covers, riskDocument, riskOf, type Risk, type ToolRisks } from '../tools/tool-risks.ts';
import type { WithdrawnTools } from './withdrawn-tools.ts';

/** Number of specs, whose schemas take time to compile, per turn of the event loop. */
const BATCH = 20;

export interface ClientToolServiceParts extends RegistrationBatchParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly changes: SharedChanges;
  readonly stored: StoredClientTools;
  readonly withdrawn: WithdrawnTools;
  /** Called when tools were registered over HTTP: calls may wait for them. */
  readonly registered: (tenant: string) => void;
}

/**
 * Registers and removes client tools, with a ledger row per change. Tools registered over HTTP are stored and survive
 * restarts; tools of a device are removed with its connection.
 */
export class ClientToolService {
  readonly #parts: ClientToolServiceParts;
  readonly #risks: ToolRisks;
  /** The last change of each tenant: changes of one tenant run one after the other. */
  readonly #turns: Map<string, Promise<unknown>> = new Map();

  constructor(parts: ClientToolServiceParts) {
    this.#parts = parts;
    this.#risks = parts.memory.risks;
  }

  /**
   * Registers or rejects each tool independently, and resolves once the registered ones are durable.
   * A name keeps every risk it ever had, unless an `operator` registers it: then the spec applies as given.
   */
  async register(
    tenant: string,
    clientId: string,
    specs: readonly ToolSpec[],
    operator: string | null = null,
  ): Promise<RegistrationReport> {
    const registrant = { tenant, clientId, operator, device: null };
    return await this.#serialised(tenant, () => this.#register(registrant, specs));
  }

  async #register(registrant: Registrant, specs: readonly ToolSpec[]): Promise<RegistrationReport> {
    const batch = new RegistrationBatch(this.#parts, registrant);
    const rejected = await this.#takeAll(batch, specs);
    const held = batch.taken.size > 0 ? await this.#keep(batch) : [];
    if (held.length === 0) {
      if (batch.taken.size > 0) this.#parts.registered(registrant.tenant);
      return { registered: [...batch.taken.values()].map(({ tool }) => tool), rejected };
    }
    const taken = await this.#heldByOthers(registrant, held);
    const rest = await this.#register(registrant, withoutNames(specs, taken));
    return { registered: rest.registered, rejected: [...rest.rejected, ...taken.values()] };
  }

  /**
   * The rejections of names that other clients hold in the store. A tool that was left out at the start does not hold its
   * name: it is removed.
   */
  async #heldByOthers(
    { tenant, clientId }: Registrant,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, RejectedTool>> {
    const { store, toolIndex, changes } = this.#parts;
    const taken = new Map<string, RejectedTool>();
    await changes.catchUp();
    for (const name of names) {
      const holder = toolIndex.clientTool(tenant, name)?.clientId ?? clientId;
      if (holder !== clientId) taken.set(name, rejectedTool(name, heldByClient(name, holder)));
    }
    for (const { tenant: of, clientId: holder, spec } of await store.tools()) {
      const { name } = spec;
      if (of !== tenant || holder === clientId || !names.includes(name) || taken.has(name)) continue;
      if (!this.#parts.stored.takeLeftOut(tenant, name)) {
        taken.set(name, rejectedTool(name, heldByClient(name, holder)));
        continue;
      }
      const row = this.#row(tenant, { client_id: holder, removed: [name] });
      await store.removeTools([{ tenant, name }], row);
    }
    return taken;
  }

  /** As `register`, while the device is connected. Other changes of the tenant do not wait for its ledger row. */
  async lend(device: Device, specs: readonly ToolSpec[]): Promise<RegistrationReport> {
    const { tenant, clientId } = device;
    const registrant = { tenant, clientId, operator: null, device };
    const batch = new RegistrationBatch(this.#parts, registrant);
    const rejected = await this.#serialised(tenant, () => this.#takeAll(batch, specs));
    // It has disconnected meanwhile, which has taken back what was registered before. Stored now, it would stay.
    if (device.link === null) return { registered: [], rejected: [...batch.withdrawn(), ...rejected] };
    const isNew = batch.taken.size > 0 || (this.#parts.changes.isShared && batch.firstHere.size > 0);
    const held = isNew ? await this.#keep(batch) : [];
    if (held.length > 0) {
      const others = await this.#heldByOthers(registrant, held);
      const rest = await this.lend(device, withoutNames(specs, others));
      return { registered: rest.registered, rejected: [...rest.rejected, ...others.values()] };
    }
    const taken = [...batch.taken.values()].map(({ tool }) => tool);
    return { registered: [...batch.joined.values(), ...taken], rejected };
  }

  /** Removes the tools that no other provider of the client offers, at once; resolves when the ledger row is written. */
  async takeBack(device: Device, names: readonly string[]): Promise<void> {
    const { tenant, clientId } = device;
    const { toolIndex, pools, store, changes } = this.#parts;
    const removed: string[] = [];
    const last: string[] = [];
    for (const name of names) {
      const { isLast, isRemoved } = pools.leave(device, name);
      if (isLast) last.push(name);
      if (!isRemoved) continue;
      removed.push(name);
      toolIndex.remove(tenant, name);
    }
    if (changes.isShared && last.length > 0)
      await this.#parts.withdrawn.remove({ tenant, clientId, names: last });
    else if (removed.length > 0) await store.append([this.#row(tenant, { client_id: clientId, removed })]);
  }

  /** `name` null: all tools of the client. Returns the names that were removed. */
  async unregister(tenant: string, clientId: string, name: string | null): Promise<readonly string[]> {
    return await this.#serialised(tenant, async () => {
      const removed = this.#namesOf(tenant, clientId, name);
      if (removed.length === 0) return removed;
      const risky = removed.filter((removedName) => this.#risks.has(tenant, removedName));
      // The tool's record is deleted, so its risk needs a record of its own.
      const documents = risky.map((riskyName) =>
        riskDocument(tenant, riskyName, this.#risks.of(tenant, riskyName)),
      );
      await this.#remove(tenant, removed, this.#row(tenant, { client_id: clientId, removed }), documents);
      return removed;
    });
  }

  /** For operators: removes the tool and the recorded risk of its name. */
  async forgetRisk(
    tenant: string,
    clientId: string,
    name: string,
    operator: string,
  ): Promise<{ readonly removed: readonly string[]; readonly hadRisk: boolean }> {
    return await this.#serialised(tenant, async () => {
      const removed = this.#namesOf(tenant, clientId, name);
      const hadRisk = this.#risks.has(tenant, name);
      if (removed.length === 0 && !hadRisk) return { removed, hadRisk };
      const forgotten = hadRisk ? { forgotten_risk: [name] } : {};
      const row = this.#row(tenant, { client_id: clientId, removed, ...forgotten, by: operator });
      await this.#remove(tenant, removed, row, [riskDocument(tenant, name, {})]);
      if (!this.#parts.changes.isShared) this.#risks.set(tenant, name, {});
      return { removed, hadRisk };
    });
  }

  async #takeAll(batch: RegistrationBatch, specs: readonly ToolSpec[]): Promise<RejectedTool[]> {
    const rejected: RejectedTool[] = [];
    for (const [index, spec] of specs.entries()) {
      if (index % BATCH === BATCH - 1) await this.#pause();
      const result = batch.take(spec);
      if (!result.ok) rejected.push(rejectedTool(spec.name, result));
    }
    return rejected;
  }

  /** Returns the names that other clients hold in the store: if there are any, the batch is rolled back. */
  async #keep(batch: RegistrationBatch): Promise<readonly string[]> {
    const { store, clock, changes } = this.#parts;
    const { taken, firstHere } = batch;
    const { tenant, clientId, operator, device } = batch.registrant;
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
      registered: [...(taken.size > 0 ? taken : firstHere).keys()],
      ...(batch.changed.size > 0 ? { changed: [...batch.changed] } : {}),
      ...(batch.keptRisk.size > 0 ? { kept_risk: [...batch.keptRisk] } : {}),
      ...(lowered.length > 0 ? { lowered_risk: lowered, by: operator } : {}),
    });
    const online = changes.isShared ? [...taken.values(), ...firstHere.values()] : [];
    const kept = device === null ? [...taken.values()] : online;
    const done = this.#parts.stored.saving(tenant, [...taken.keys(), ...firstHere.keys()]);
    const tools = kept.map(({ tool: { wireName }, spec }) => {
      return { tenant, clientId, wireName, spec, registeredAt };
    });
    const documents = [...risks].map(([name, risk]) => riskDocument(tenant, name, risk));
    let held: readonly string[];
    try {
      held = await store.saveTools(tools, row, documents, device !== null);
    } catch (error) {
      batch.rollBack();
      throw error;
    } finally {
      done();
    }
    if (held.length > 0) {
      batch.rollBack();
      return held;
    }
    if (!changes.isShared) for (const [name, risk] of risks) this.#risks.set(tenant, name, risk);
    return held;
  }

  async #remove(
    tenant: string,
    names: readonly string[],
    row: LedgerDraft,
    documents: readonly DocumentChange[],
  ): Promise<void> {
    const { store, toolIndex, pools, changes } = this.#parts;
    await store.removeTools(keysOf(tenant, names), row, documents);
    // With other nodes the change is applied, and another client may have registered the name at one of them since.
    if (changes.isShared) return;
    for (const name of names) {
      toolIndex.remove(tenant, name);
      pools.remove(tenant, name);
    }
  }

  #namesOf(tenant: string, clientId: string, name: string | null): readonly string[] {
    const mine = this.#parts.toolIndex.ofClient(tenant, clientId);
    return mine.filter((tool) => name === null || tool.name === name).map((tool) => tool.name);
  }

  #row(tenant: string, body: Record<string, unknown>): LedgerDraft {
    return plainRow('registry.changed', tenant, this.#parts.clock.now(), body);
  }

  async #serialised<T>(tenant: string, change: () => Promise<T>): Promise<T> {
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

function keysOf(
  tenant: string,
  names: readonly string[],
): { readonly tenant: string; readonly name: string }[] {
  return names.map((name) => ({ tenant, name }));
}

function withoutNames(specs: readonly ToolSpec[], names: ReadonlyMap<string, unknown>): readonly ToolSpec[] {
  return specs.filter(({ name }) => !names.has(name));
}
