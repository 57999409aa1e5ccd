import { pairKey } from '../../src/core/pair-key.ts';
import type { DocumentChange } from '../../src/core/documents.ts';
import type { Store } from '../../src/core/ports.ts';
import type { StoreChanges, ToolChange } from '../../src/core/store-changes.ts';
import type { StoredTool } from '../../src/core/tools/registered-tool.ts';

type Changing =
  'appliesChanges' | 'saveTools' | 'removeTools' | 'putDocument' | 'addDocument' | 'deleteDocument';
export type RevisedMembers = Required<Pick<Store, Changing | 'changes' | 'onChanged'>>;

interface NamedTool {
  readonly tenant: string;
  readonly name: string;
}

/** The revisions of a memory store that two nodes share, as a store that several nodes share keeps them. */
export class RevisionLog {
  readonly #shared: Store;
  readonly #documents: Map<string, { readonly change: DocumentChange; readonly revision: number }> =
    new Map();
  readonly #tools: Map<string, NamedTool & { readonly revision: number }> = new Map();
  readonly #kept: Map<string, StoredTool> = new Map();
  readonly #offers: Map<string, Map<object, StoredTool>> = new Map();
  #revision = 0;

  constructor(shared: Store) {
    this.#shared = shared;
  }

  /** The devices of the node are gone with it. */
  gone(node: object): void {
    this.#revision += 1;
    for (const [key, offers] of this.#offers) if (offers.delete(node)) this.#toolChanged(key);
  }

  members(node: object): RevisedMembers {
    let distribute = async (_revision: number): Promise<void> => {};
    const changed = async <T>(made: Promise<T>, before: number): Promise<T> => {
      const own = this.#revision;
      const result = await made;
      if (own > before) await distribute(own);
      return result;
    };
    return {
      appliesChanges: true,
      onChanged: (given) => {
        distribute = given;
      },
      changes: async (after) => this.#changes(after, node),
      putDocument: async (kind, id, body, entries, others = []) => {
        const before = this.#revision;
        const made = this.#shared.putDocument(kind, id, body, entries, others);
        this.#documentsChanged([{ kind, id, body }, ...others]);
        await changed(made, before);
      },
      addDocument: async (kind, id, body, entries) => {
        const before = this.#revision;
        // The memory store decides before its first await, but only its promise says how.
        const isNew = (this.#documents.get(pairKey(kind, id))?.change.body ?? null) === null;
        const made = this.#shared.addDocument(kind, id, body, entries);
        if (isNew) this.#documentsChanged([{ kind, id, body }]);
        return await changed(made, before);
      },
      deleteDocument: async (kind, id, entries) => {
        const before = this.#revision;
        const made = this.#shared.deleteDocument(kind, id, entries);
        this.#documentsChanged([{ kind, id, body: null }]);
        await changed(made, before);
      },
      saveTools: async (tools, entry, documents = [], isOnline = false) => {
        const before = this.#revision;
        const held = tools.filter((tool) => this.#isHeld(tool)).map(({ spec }) => spec.name);
        if (held.length > 0) return held.toSorted();
        const made = this.#shared.saveTools(isOnline ? [] : tools, entry, documents);
        this.#documentsChanged(documents);
        if (tools.length > 0) this.#revision += 1;
        for (const tool of tools) this.#toolSaved(tool, isOnline ? node : null);
        return await changed(made, before);
      },
      removeTools: async (keys, entry, documents = [], isOnline = false) => {
        const before = this.#revision;
        const made = this.#shared.removeTools(isOnline ? [] : keys, entry, documents);
        this.#documentsChanged(documents);
        if (keys.length > 0) this.#revision += 1;
        for (const key of keys) this.#toolRemoved(key, isOnline ? node : null);
        await changed(made, before);
      },
    };
  }

  #documentsChanged(changes: readonly DocumentChange[]): void {
    const revised = changes.filter(({ kind }) => kind !== 'todo' && kind !== 'key_use');
    if (revised.length > 0) this.#revision += 1;
    for (const change of revised)
      this.#documents.set(pairKey(change.kind, change.id), { change, revision: this.#revision });
  }

  #isHeld({ tenant, spec, clientId }: StoredTool): boolean {
    const key = pairKey(tenant, spec.name);
    const holders = [this.#kept.get(key), ...(this.#offers.get(key)?.values() ?? [])];
    return holders.some((holder) => holder !== undefined && holder.clientId !== clientId);
  }

  #toolSaved(tool: StoredTool, node: object | null): void {
    const { tenant, spec } = tool;
    const key = pairKey(tenant, spec.name);
    if (node === null) this.#kept.set(key, tool);
    else this.#offers.set(key, (this.#offers.get(key) ?? new Map<object, StoredTool>()).set(node, tool));
    this.#toolChanged(key, { tenant, name: spec.name });
  }

  #toolRemoved({ tenant, name }: NamedTool, node: object | null): void {
    const key = pairKey(tenant, name);
    if (node === null) {
      this.#kept.delete(key);
      this.#offers.delete(key);
    } else this.#offers.get(key)?.delete(node);
    this.#toolChanged(key, { tenant, name });
  }

  #toolChanged(key: string, named: NamedTool | undefined = this.#tools.get(key)): void {
    if (named === undefined) return;
    this.#tools.set(key, { tenant: named.tenant, name: named.name, revision: this.#revision });
  }

  #changes(after: number, node: object): StoreChanges {
    const documents = [...this.#documents.values()].filter(({ revision }) => revision > after);
    const tools = [...this.#tools.entries()].filter(([, { revision }]) => revision > after);
    return {
      revision: this.#revision,
      documents: documents.map(({ change }) => change),
      tools: tools.map(([key, named]) => this.#toolChange(key, named, node)),
    };
  }

  #toolChange(key: string, { tenant, name }: NamedTool, node: object): ToolChange {
    const kept = this.#kept.get(key);
    const offers = this.#offers.get(key) ?? new Map<object, StoredTool>();
    const [offered] = offers.values();
    return {
      tenant,
      name,
      tool: kept ?? offered ?? null,
      isKept: kept !== undefined,
      isOnlineElsewhere: [...offers.keys()].some((holder) => holder !== node),
    };
  }
}
