import type { RejectedTool } from '@patchboard/wire';
import type { DocumentChange } from '../documents.ts';
import { failure } from '../failures.ts';
import { plainRow } from '../ledger/ledger.ts';
import type { Clock, Store } from '../ports.ts';
import { admitServerTool, type AdmitToolParts } from './admit-tool.ts';
import { DEFAULT_TENANT } from '../access/principal.ts';
import {
  rejectedTool,
  type RegisteredTool,
  type Registration,
  type RegistrationReport,
} from './registered-tool.ts';
import type { Pack, ServerTool, ToolFollower } from './server-tool.ts';
import type { Tasks } from '../tasks.ts';
import type { ToolMemory } from './tool-memory.ts';
import { covers, NO_RISK, riskDocument, riskOf, type Risk } from './tool-risks.ts';
import { OWN_TOOL, type ToolSupply } from './tool-rules.ts';

export interface ServerToolServiceParts extends AdmitToolParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly tasks: Tasks;
  readonly memory: ToolMemory;
}

/** The tenant id under which risks of tools from outside are stored: such tools belong to no single tenant. */
export const EVERY_TENANT = '*';

/**
 * Adds and removes tools of this process while the engine runs. A change takes effect at once; its ledger row is
 * written in the background. Calls that are running or queued keep the tool they were submitted with.
 */
export class ServerToolService {
  readonly #parts: ServerToolServiceParts;

  constructor(parts: ServerToolServiceParts) {
    this.#parts = parts;
  }

  /** Adds a tool that the program starts with: without a ledger row. */
  addInitial(tool: ServerTool, supply: ToolSupply = OWN_TOOL, risk: Risk = NO_RISK): Registration {
    const admitted = admitServerTool(this.#parts, tool, supply, risk);
    if (admitted.ok) this.#parts.toolIndex.addServerTool(admitted.tool);
    return admitted;
  }

  /** Adds the tools of a pack that the program starts with. Throws if one is invalid: that is a bug of the program. */
  addPack({ name, tools, toolSource }: Pack): void {
    const supply = { ...OWN_TOOL, pack: name };
    for (const tool of tools) {
      const added = this.addInitial(tool, supply);
      if (!added.ok) throw new Error(added.reason);
    }
    toolSource?.follow(this.follower(supply));
  }

  add(tool: ServerTool, supply: ToolSupply = OWN_TOOL): Registration {
    const added = this.addInitial(tool, supply);
    if (added.ok) this.#record(bodyOf([tool.name], supply));
    return added;
  }

  /** Applies the changes of a set of tools. */
  follower(supply: ToolSupply = OWN_TOOL): ToolFollower {
    return {
      problemWith: (tool) => {
        const admitted = admitServerTool(this.#parts, tool, supply);
        return admitted.ok ? null : failure(admitted.code, admitted.reasons);
      },
      begin: (tool) => void this.addInitial(tool, supply),
      added: (tool) => void this.add(tool, supply),
      removed: (names) => void this.remove(names, supply),
    };
  }

  /**
   * Adds or rejects each tool independently and writes one ledger row for the batch. A tool from outside keeps every
   * risk that its name ever had; the row lists the names whose contract changed.
   */
  addBatch(tools: readonly ServerTool[], supply: ToolSupply): RegistrationReport {
    const registered: RegisteredTool[] = [];
    const rejected: RejectedTool[] = [];
    for (const tool of tools) {
      const added = this.#addOne(tool, supply, registered);
      if (added.ok) registered.push(added.tool);
      else rejected.push(rejectedTool(tool.name, added));
    }
    if (registered.length > 0) this.#recordBatch(registered, supply);
    return { registered, rejected };
  }

  /** Returns the names that were registered and are now removed. */
  remove(names: readonly string[], { pack }: ToolSupply = OWN_TOOL): readonly string[] {
    const removed = names.filter((name) => this.#parts.toolIndex.removeServerTool(name));
    if (removed.length > 0) this.#record({ removed, ...(pack === null ? {} : { pack }) });
    return removed;
  }

  /** Removes all tools of the pack and returns their names. */
  removePack(pack: string): readonly string[] {
    const { toolIndex } = this.#parts;
    const removed = toolIndex.namesOfPack(pack).filter((name) => toolIndex.removeServerTool(name));
    if (removed.length > 0) this.#record({ removed, pack });
    return removed;
  }

  #addOne(tool: ServerTool, supply: ToolSupply, taken: readonly RegisteredTool[]): Registration {
    const { memory } = this.#parts;
    if (supply.origin === OWN_TOOL.origin) return this.addInitial(tool, supply);
    const full = memory.riskProblem(EVERY_TENANT, tool, taken);
    return full ?? this.addInitial(tool, supply, memory.risks.of(EVERY_TENANT, tool.name));
  }

  #recordBatch(registered: readonly RegisteredTool[], supply: ToolSupply): void {
    const body = bodyOf(
      registered.map(({ name }) => name),
      supply,
    );
    if (supply.origin === OWN_TOOL.origin) {
      this.#record(body);
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
    this.#record({ ...body, ...(changed.length > 0 ? { changed } : {}) }, documents);
  }

  #record(body: Readonly<Record<string, unknown>>, documents: readonly DocumentChange[] = []): void {
    const { store, clock, tasks } = this.#parts;
    const row = plainRow('registry.changed', DEFAULT_TENANT, clock.now(), body);
    tasks.start('registry.changed', async () => await store.saveTools([], row, documents));
  }
}

function bodyOf(registered: readonly string[], { pack }: ToolSupply): Readonly<Record<string, unknown>> {
  return { registered, ...(pack === null ? {} : { pack }) };
}
