import type { Rate } from './token-buckets.ts';

/** The settings of one tenant; null or absent: the default. */
export interface TenantSettings {
  /** Sites the tenant may name in requests; null: any. */
  readonly sites: readonly string[] | null;
  /** Packs whose tools the tenant has; null: all but those with `mustBeNamed`. */
  readonly packs: readonly string[] | null;
  readonly limits: TenantLimits;
}

export interface TenantLimits {
  /** Limit on all calls of the tenant. */
  readonly calls?: Rate;
  /** Limits on calls of single tools. */
  readonly tools?: ReadonlyMap<string, Rate>;
}

const DEFAULT_SETTINGS: TenantSettings = { sites: null, packs: null, limits: {} };

/** The tenants with settings. Every other tenant exists too, with the default settings. */
export class TenantDirectory {
  readonly #tenants: Map<string, TenantSettings> = new Map();
  readonly #mustBeNamed: Set<string> = new Set();
  /** Packs that exactly these tenants have, whatever packs the tenants name. */
  readonly #onlyFor: Map<string, ReadonlySet<string>> = new Map();
  readonly #listeners: Set<(tenant: string) => void> = new Set();
  #revision = 0;

  constructor(tenants: ReadonlyMap<string, TenantSettings> = new Map()) {
    for (const [id, settings] of tenants) this.#tenants.set(id, settings);
  }

  /** Grows with every change: a cache key for values derived from the settings. */
  get revision(): number {
    return this.#revision;
  }

  /** From now on, only tenants that list the pack have its tools. */
  mustBeNamed(pack: string): void {
    this.#mustBeNamed.add(pack);
    this.#revision += 1;
  }

  /** From now on, exactly these tenants have the tools of the pack; null: the tenants' own settings decide. */
  limitPack(pack: string, tenants: readonly string[] | null): void {
    if (tenants === null) this.#onlyFor.delete(pack);
    else this.#onlyFor.set(pack, new Set(tenants));
    this.#revision += 1;
  }

  of(tenant: string): TenantSettings {
    return this.#tenants.get(tenant) ?? DEFAULT_SETTINGS;
  }

  all(): ReadonlyMap<string, TenantSettings> {
    return this.#tenants;
  }

  /** Null: the tenant gets the default settings again. */
  replace(tenant: string, settings: TenantSettings | null): void {
    if (settings === null) this.#tenants.delete(tenant);
    else this.#tenants.set(tenant, settings);
    this.#revision += 1;
    for (const listener of this.#listeners) listener(tenant);
  }

  /** Calls `listener` after each change of a tenant's settings. */
  onReplaced(listener: (tenant: string) => void): void {
    this.#listeners.add(listener);
  }

  /** Whether the tenant has the tools of the pack. */
  offers(tenant: string, pack: string): boolean {
    const only = this.#onlyFor.get(pack);
    if (only !== undefined) return only.has(tenant);
    const { packs } = this.of(tenant);
    return packs === null ? !this.#mustBeNamed.has(pack) : packs.includes(pack);
  }

  hasSite(tenant: string, site: string): boolean {
    const { sites } = this.of(tenant);
    return sites === null || sites.includes(site);
  }

  /** The default site for callers that name none: the tenant's site if it has exactly one, else null. */
  onlySite(tenant: string): string | null {
    const { sites } = this.of(tenant);
    return sites?.length === 1 ? (sites[0] ?? null) : null;
  }
}
