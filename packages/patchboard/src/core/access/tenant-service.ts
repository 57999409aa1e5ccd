import type { DocumentStore } from '../documents.ts';
import { plainRow } from '../ledger/ledger.ts';
import type { Clock } from '../ports.ts';
import type { Principal } from './principal.ts';
import type { TenantDirectory, TenantSettings } from './tenant-directory.ts';
import { tenantSettings, tenantText, type TenantText } from './tenant-text.ts';

export interface KnownTenant {
  readonly id: string;
  readonly settings: TenantSettings;
  /** Where the settings come from; an operator's settings override the config's. */
  readonly source: 'config' | 'operator';
}

/** The settings of a tenant whose stored document is unreadable: no sites and no packs. */
const NOTHING: TenantSettings = { sites: [], packs: [], limits: {} };

/** Changes tenant settings at run time. They are stored, and override the config from then on. */
export class TenantService {
  readonly #store: DocumentStore;
  readonly #clock: Clock;
  readonly #directory: TenantDirectory;
  readonly #config: ReadonlyMap<string, TenantSettings>;
  readonly #stored: Set<string> = new Set();

  constructor(parts: { store: DocumentStore; clock: Clock; directory: TenantDirectory }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#directory = parts.directory;
    this.#config = new Map(parts.directory.all());
  }

  /** Returns the ids of tenants whose stored settings could not be read. */
  async load(): Promise<readonly string[]> {
    const unreadable: string[] = [];
    for (const { id, body } of await this.#store.documents('tenant'))
      if (!this.#replace(id, body)) unreadable.push(id);
    return unreadable;
  }

  /** Applies a change of another node. Returns false if the settings could not be read. */
  apply(id: string, body: string | null): boolean {
    if (body !== null) return this.#replace(id, body);
    this.#stored.delete(id);
    this.#directory.replace(id, this.#config.get(id) ?? null);
    return true;
  }

  #replace(id: string, body: string): boolean {
    const settings = read(body);
    this.#directory.replace(id, settings ?? NOTHING);
    this.#stored.add(id);
    return settings !== null;
  }

  /** Sorted by id. */
  list(): readonly KnownTenant[] {
    return [...this.#directory.all()]
      .map(([id, settings]) => this.#known(id, settings))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async put(by: Principal, id: string, given: TenantText): Promise<KnownTenant> {
    const settings = tenantSettings(given);
    const text = tenantText(settings);
    const row = plainRow('tenant.changed', id, this.#clock.now(), { ...text, by: by.id });
    await this.#store.putDocument('tenant', id, JSON.stringify(text), [row]);
    if (this.#store.appliesChanges !== true) {
      this.#stored.add(id);
      this.#directory.replace(id, settings);
    }
    return { id, settings, source: 'operator' };
  }

  /** Restores the settings of the config. Returns false if no operator had changed them. */
  async remove(by: Principal, id: string): Promise<boolean> {
    if (!this.#stored.has(id)) return false;
    const row = plainRow('tenant.changed', id, this.#clock.now(), { removed: true, by: by.id });
    await this.#store.deleteDocument('tenant', id, [row]);
    return this.#store.appliesChanges === true || this.apply(id, null);
  }

  #known(id: string, settings: TenantSettings): KnownTenant {
    return { id, settings, source: this.#stored.has(id) ? 'operator' : 'config' };
  }
}

function read(body: string): TenantSettings | null {
  try {
    return tenantSettings(JSON.parse(body) as TenantText);
  } catch {
    return null;
  }
}
