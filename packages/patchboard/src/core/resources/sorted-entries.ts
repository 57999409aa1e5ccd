import type { Scope } from '../access/scopes.ts';

/** Which pack the members belong to; tenants without the pack do not see them. */
export interface ResourceSupply {
  /** Null: every tenant has them. */
  readonly pack: string | null;
  /** The server's own: they may use the scheme `patchboard:`, and their size is not limited. */
  readonly isOwn?: boolean;
}

/** The part of a member that decides who sees it. */
export interface Scoped {
  readonly scope?: Scope;
}

/** A registered member. */
export interface Entry<Item extends Scoped = Scoped> extends ResourceSupply {
  /** Its URI, its URI template or its name. */
  readonly key: string;
  readonly item: Item;
}

/** Entries by key, with their order computed once per change. */
export class SortedEntries<Kept extends Entry> {
  readonly #byKey: Map<string, Kept> = new Map();
  readonly #packs: Map<string | null, number> = new Map();
  #sorted: readonly Kept[] | null = null;

  get(key: string): Kept | undefined {
    return this.#byKey.get(key);
  }

  set(entry: Kept): void {
    this.#byKey.set(entry.key, entry);
    this.#packs.set(entry.pack, this.ofPack(entry.pack) + 1);
    this.#sorted = null;
  }

  delete(key: string): Kept | undefined {
    const entry = this.#byKey.get(key);
    if (entry === undefined) return undefined;
    this.#byKey.delete(key);
    this.#packs.set(entry.pack, this.ofPack(entry.pack) - 1);
    this.#sorted = null;
    return entry;
  }

  ofPack(pack: string | null): number {
    return this.#packs.get(pack) ?? 0;
  }

  sorted(): readonly Kept[] {
    this.#sorted ??= [...this.#byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    return this.#sorted;
  }

  *after(cursor: string | null): Iterable<Kept> {
    for (const entry of this.sorted()) if (cursor === null || entry.key > cursor) yield entry;
  }
}
