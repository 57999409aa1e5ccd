import { plainRow } from '../ledger/ledger.ts';
import type { Clock, Store } from '../ports.ts';
import { DEFAULT_TENANT } from '../access/principal.ts';
import type { Registration } from './registered-tool.ts';
import type { Registry } from './registry.ts';
import type { ServerTool } from './server-tool.ts';
import type { Tasks } from '../tasks.ts';

export interface ChangingServerToolsParts {
  readonly store: Store;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly tasks: Tasks;
}

/**
 * Tools of this process that come and go while the engine runs. They can be called, or no longer, at once; the ledger
 * row follows. Calls that run or stand in line keep the tool they were made with.
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

  /** Answers those that were there. */
  remove(names: readonly string[]): readonly string[] {
    const removed = names.filter((name) => this.#parts.registry.removeServerTool(name));
    if (removed.length > 0) this.#tell({ removed });
    return removed;
  }

  #tell(body: Readonly<Record<string, readonly string[]>>): void {
    const { store, clock, tasks } = this.#parts;
    const row = plainRow('registry.changed', DEFAULT_TENANT, clock.now(), body);
    tasks.start('registry.changed', async () => await store.append([row]));
  }
}
