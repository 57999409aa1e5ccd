import { failure } from '../failures.ts';
import { plainRow } from '../ledger/ledger.ts';
import type { Clock, Store } from '../ports.ts';
import { admitServerTool, type AdmitToolParts } from './admit-tool.ts';
import { DEFAULT_TENANT } from '../access/principal.ts';
import type { Registration } from './registered-tool.ts';
import type { Pack, ServerTool, ToolFollower } from './server-tool.ts';
import type { Tasks } from '../tasks.ts';
import { OWN_TOOL, type ToolSupply } from './tool-rules.ts';

export interface ServerToolServiceParts extends AdmitToolParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly tasks: Tasks;
}

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
  addInitial(tool: ServerTool, supply: ToolSupply = OWN_TOOL): Registration {
    const admitted = admitServerTool(this.#parts, tool, supply);
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

  /** Returns the names that were registered and are now removed. */
  remove(names: readonly string[], { pack }: ToolSupply = OWN_TOOL): readonly string[] {
    const removed = names.filter((name) => this.#parts.toolIndex.removeServerTool(name));
    if (removed.length > 0) this.#record({ removed, ...(pack === null ? {} : { pack }) });
    return removed;
  }

  #record(body: Readonly<Record<string, unknown>>): void {
    const { store, clock, tasks } = this.#parts;
    const row = plainRow('registry.changed', DEFAULT_TENANT, clock.now(), body);
    tasks.start('registry.changed', async () => await store.append([row]));
  }
}

function bodyOf(registered: readonly string[], { pack }: ToolSupply): Readonly<Record<string, unknown>> {
  return { registered, ...(pack === null ? {} : { pack }) };
}
