import { parseUriTemplate, reason, type UriTemplate } from '@patchboard/wire';
import type { Principal } from '../access/principal.ts';
import type { TenantDirectory } from '../access/tenant-directory.ts';
import { failure, type Failure } from '../failures.ts';
import type { Page } from '../ports.ts';
import type { Prompt, Resource, ResourceKeys, ResourceSet, ResourceTemplate } from './resource.ts';
import { setProblem, type RuleLimits } from './resource-rules.ts';
import { SortedEntries, type Entry, type ResourceSupply } from './sorted-entries.ts';

export type TemplateEntry = Entry<ResourceTemplate> & { readonly template: UriTemplate };

export interface IndexLimits extends RuleLimits {
  readonly resourcesPerPack: number;
}

/** Every resource, template and prompt, by key. A key is reserved for all tenants. */
export class ResourceIndex {
  readonly #tenants: Pick<TenantDirectory, 'offers'>;
  readonly #limits: IndexLimits;
  readonly resources: SortedEntries<Entry<Resource>> = new SortedEntries();
  readonly templates: SortedEntries<TemplateEntry> = new SortedEntries();
  readonly prompts: SortedEntries<Entry<Prompt>> = new SortedEntries();

  constructor(tenants: Pick<TenantDirectory, 'offers'>, limits: IndexLimits) {
    this.#tenants = tenants;
    this.#limits = limits;
  }

  /** Returns why the members cannot be added together, or null. */
  problemWith(set: ResourceSet, { pack, isOwn = false }: ResourceSupply): Failure | null {
    const problem = setProblem(set, this.#limits, isOwn);
    if (problem !== null) return problem;
    const groups = keysOf(set);
    const taken =
      takenIn(groups.resources, this.resources) ??
      takenIn(groups.resourceTemplates, this.templates) ??
      takenIn(groups.prompts, this.prompts);
    if (taken !== null) return failure('name_taken', reason('resource_registered_twice', { key: taken }));
    const { resourcesPerPack } = this.#limits;
    const added = groups.resources.length + groups.resourceTemplates.length + groups.prompts.length;
    const present = this.#ofPack(pack);
    if (!isOwn && present + added > resourcesPerPack)
      return failure('too_large', reason('resources_of_pack', { count: resourcesPerPack }));
    return null;
  }

  /** The members must have passed `problemWith`. */
  add(set: ResourceSet, supply: ResourceSupply): void {
    for (const item of set.resources ?? []) this.resources.set({ ...supply, key: item.uri, item });
    for (const item of set.resourceTemplates ?? []) {
      const template = parseUriTemplate(item.uriTemplate);
      if (template === null) throw new Error(`not a URI template: ${item.uriTemplate}`);
      this.templates.set({ ...supply, key: item.uriTemplate, item, template });
    }
    for (const item of set.prompts ?? []) this.prompts.set({ ...supply, key: item.name, item });
  }

  /** Returns the entries that were there. */
  remove(keys: ResourceKeys): { resources: Entry[]; prompts: Entry[] } {
    const resources = (keys.resources ?? []).flatMap((key) => this.resources.delete(key) ?? []);
    const templates = (keys.resourceTemplates ?? []).flatMap((key) => this.templates.delete(key) ?? []);
    const prompts = (keys.prompts ?? []).flatMap((key) => this.prompts.delete(key) ?? []);
    return { resources: [...resources, ...templates], prompts };
  }

  /** Returns the entry that reads the URI: the resource itself, else the template with the longest literal text. */
  find(principal: Principal, uri: string): FoundResource | null {
    const resource = this.resources.get(uri);
    if (resource !== undefined) return this.sees(principal, resource) ? { resource } : null;
    let found: FoundTemplate | null = null;
    for (const entry of this.templates.sorted()) {
      if (!this.sees(principal, entry)) continue;
      const variables = entry.template.match(uri);
      if (variables === null) continue;
      if (found === null || literalLength(entry) > literalLength(found.template))
        found = { template: entry, variables };
    }
    return found;
  }

  /** Whether the principal's scopes and its tenant's packs let it see the entry. */
  sees(principal: Principal, { item, pack }: Entry): boolean {
    return (
      principal.scopes.has(item.scope ?? 'calls:read') &&
      (pack === null || this.#tenants.offers(principal.tenant, pack))
    );
  }

  /** Returns the entries after `cursor` that the principal sees, in order of their keys. */
  page<Kept extends Entry>(
    entries: SortedEntries<Kept>,
    principal: Principal,
    cursor: string | null,
    limit: number,
  ): Page<Kept> {
    const items: Kept[] = [];
    for (const entry of entries.after(cursor)) {
      if (!this.sees(principal, entry)) continue;
      if (items.length === limit) return { items, nextCursor: items.at(-1)?.key ?? null };
      items.push(entry);
    }
    return { items, nextCursor: null };
  }

  #ofPack(pack: string | null): number {
    return this.resources.ofPack(pack) + this.templates.ofPack(pack) + this.prompts.ofPack(pack);
  }
}

export type FoundResource = { readonly resource: Entry<Resource> } | FoundTemplate;

interface FoundTemplate {
  readonly template: TemplateEntry;
  readonly variables: Readonly<Record<string, string>>;
}

function keysOf(set: ResourceSet): Required<ResourceKeys> {
  return {
    resources: (set.resources ?? []).map(({ uri }) => uri),
    resourceTemplates: (set.resourceTemplates ?? []).map(({ uriTemplate }) => uriTemplate),
    prompts: (set.prompts ?? []).map(({ name }) => name),
  };
}

function takenIn(keys: readonly string[], entries: SortedEntries<Entry>): string | null {
  const seen = new Set<string>();
  for (const key of keys) {
    if (seen.has(key) || entries.get(key) !== undefined) return key;
    seen.add(key);
  }
  return null;
}

function literalLength({ key, template }: TemplateEntry): number {
  return key.length - template.variables.reduce((sum, name) => sum + name.length + 2, 0);
}
