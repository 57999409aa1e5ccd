import type { RejectedTool } from '@patchboard/wire';
import type { DocumentChange } from '../documents.ts';
import { plainRow } from '../ledger/ledger.ts';
import type { Clock, Store } from '../ports.ts';
import { DEFAULT_TENANT } from '../access/principal.ts';
import type { RegisteredTool, Registration } from './registered-tool.ts';
import type { Registry } from './registry.ts';
import type { ServerTool } from './server-tool.ts';
import type { Tasks } from '../tasks.ts';
import type { ToolMemory } from './tool-memory.ts';
import { covers, riskDocument, riskOf } from './tool-risks.ts';
import { OWN_TOOL, type ToolSupply } from './tool-rules.ts';

export interface ChangingServerToolsParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly tasks: Tasks;
  readonly memory: ToolMemory;
}

/** The outcome of `addBatch`, tool by tool. */
export interface AddedTools {
  readonly registered: readonly RegisteredTool[];
  readonly rejected: readonly RejectedTool[];
}

/** The tenant id under which risks of tools from outside are stored: such tools belong to no single tenant. */
export const EVERY_TENANT = '*';

/**
 * Adds and removes tools of this process while the engine runs. A change takes effect at once; its ledger row is
 * written in the background. Calls that are running or queued keep the tool they were submitted with.
 */
export class ChangingServerTools {
  readonly #parts: ChangingServerToolsParts;

  constructor(parts: ChangingServerToolsParts) {
    this.#parts = parts;
  }

  add(tool: ServerTool): Registration {
    const added = this.#parts.registry.addServerTool(tool);
    if (added.ok) this.#tell({ registered: [tool.name] });
    return added;
  }

  /**
   * Adds or rejects each tool independently and writes one ledger row for the batch. A tool from outside keeps every
   * risk that its name ever had; the row lists the names whose contract changed.
   */
  addBatch(tools: readonly ServerTool[], supply: ToolSupply): AddedTools {
    const registered: RegisteredTool[] = [];
    const rejected: RejectedTool[] = [];
    for (const tool of tools) {
      const added = this.#addOne(tool, supply, registered);
      if (added.ok) registered.push(added.tool);
      else rejected.push({ name: tool.name, code: added.code, reason: added.reason });
    }
    if (registered.length > 0) this.#tellBatch(registered, supply);
    return { registered, rejected };
  }

  /** Returns the names that were registered and are now removed. */
  remove(names: readonly string[]): readonly string[] {
    const removed = names.filter((name) => this.#parts.registry.removeServerTool(name));
    if (removed.length > 0) this.#tell({ removed });
    return removed;
  }

  /** Removes all tools of the pack and returns their names. */
  removePack(pack: string): readonly string[] {
    const { registry } = this.#parts;
    const removed = registry.namesOfPack(pack).filter((name) => registry.removeServerTool(name));
    if (removed.length > 0) this.#tell({ removed, pack });
    return removed;
  }

  #addOne(tool: ServerTool, supply: ToolSupply, taken: readonly RegisteredTool[]): Registration {
    const { registry, memory } = this.#parts;
    if (supply.origin === OWN_TOOL.origin) return registry.addServerTool(tool, supply);
    const full = memory.riskProblem(EVERY_TENANT, tool, taken);
    return full ?? registry.addServerTool(tool, supply, memory.risks.of(EVERY_TENANT, tool.name));
  }

  #tellBatch(registered: readonly RegisteredTool[], { origin, pack }: ToolSupply): void {
    const names = registered.map(({ name }) => name);
    const body = { registered: names, ...(pack === null ? {} : { pack }) };
    if (origin === OWN_TOOL.origin) {
      this.#tell(body);
      return;
    }
    const { risks } = this.#parts.memory;
    const changed = registered
      .filter((tool) => this.#parts.memory.isOtherContract(EVERY_TENANT, tool))
      .map(({ name }) => name);
    const documents: DocumentChange[] = [];
    for (const { name, annotations } of registered) {
      const risk = riskOf(annotations);
      if (covers(risks.of(EVERY_TENANT, name), risk)) continue;
      risks.set(EVERY_TENANT, name, risk);
      documents.push(riskDocument(EVERY_TENANT, name, risk));
    }
    this.#tell({ ...body, ...(changed.length > 0 ? { changed } : {}) }, documents);
  }

  #tell(body: Readonly<Record<string, unknown>>, documents: readonly DocumentChange[] = []): void {
    const { store, clock, tasks } = this.#parts;
    const row = plainRow('registry.changed', DEFAULT_TENANT, clock.now(), body);
    tasks.start('registry.changed', async () => await store.saveTools([], row, documents));
  }
}
