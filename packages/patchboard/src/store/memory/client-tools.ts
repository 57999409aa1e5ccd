import { pairKey } from '../../core/pair-key.ts';
import type { StoredTool } from '../../core/tools/registered-tool.ts';

/** The tools of clients. A name belongs to one client of the tenant. */
export class MemoryClientTools {
  readonly #tools: Map<string, StoredTool> = new Map();

  all(): StoredTool[] {
    return [...this.#tools.values()];
  }

  /** Returns the names that other clients hold: if there are any, nothing is saved. */
  save(tools: readonly StoredTool[]): readonly string[] {
    const held = tools.filter((tool) => this.#isHeldByOther(tool)).map(({ spec }) => spec.name);
    if (held.length > 0) return held;
    for (const tool of tools) this.#tools.set(pairKey(tool.tenant, tool.spec.name), tool);
    return held;
  }

  remove(keys: readonly { readonly tenant: string; readonly name: string }[]): void {
    for (const { tenant, name } of keys) this.#tools.delete(pairKey(tenant, name));
  }

  #isHeldByOther({ tenant, spec, clientId }: StoredTool): boolean {
    const holder = this.#tools.get(pairKey(tenant, spec.name));
    return holder !== undefined && holder.clientId !== clientId;
  }
}
