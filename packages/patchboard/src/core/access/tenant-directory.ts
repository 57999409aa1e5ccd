import type { Rate } from './token-buckets.ts';

/** What is said of one tenant; null and absent: what everybody has. */
export interface TenantSettings {
  /** Sites it may speak of; null: any. */
  readonly sites: readonly string[] | null;
  /** Packs whose tools it has; null: all but those that must be named. */
  readonly packs: readonly string[] | null;
  readonly limits: TenantLimits;
}

export interface TenantLimits {
  /** All calls of the tenant. */
  readonly calls?: Rate;
  /** Calls of single tools. */
  readonly tools?: ReadonlyMap<string, Rate>;
}

const NOTHING_SAID: TenantSettings = { sites: null, packs: null, limits: {} };

/** The tenants that something is said of. Any other exists too, and has what everybody has. */
export class TenantDirectory {
  readonly #tenants: Map<string, TenantSettings> = new Map();
  readonly #mustBeNamed: Set<string> = new Set();
  #revision = 0;

  constructor(tenants: ReadonlyMap<string, TenantSettings> = new Map()) {
    for (const [id, settings] of tenants) this.#tenants.set(id, settings);
  }

  /** Grows with every change, so that what was made from it can be cached. */
  get revision(): number {
    return this.#revision;
  }

  /** Only tenants that name the pack have its tools. */
  mustBeNamed(pack: string): void {
    this.#mustBeNamed.add(pack);
    this.#revision += 1;
  }

  of(tenant: string): TenantSettings {
    return this.#tenants.get(tenant) ?? NOTHING_SAID;
  }

  all(): ReadonlyMap<string, TenantSettings> {
    return this.#tenants;
  }

  replace(tenant: string, settings: TenantSettings | null): void {
    if (settings === null) this.#tenants.delete(tenant);
    else this.#tenants.set(tenant, settings);
    this.#revision += 1;
  }

  /** Whether the tenant has the tools of the pack. */
  offers(tenant: string, pack: string): boolean {
    const { packs } = this.of(tenant);
    return packs === null ? !this.#mustBeNamed.has(pack) : packs.includes(pack);
  }

  hasSite(tenant: string, site: string): boolean {
    const { sites } = this.of(tenant);
    return sites === null || sites.includes(site);
  }

  /** For callers that name no site: the only one there is. */
  onlySite(tenant: string): string | null {
    const { sites } = this.of(tenant);
    return sites?.length === 1 ? (sites[0] ?? null) : null;
  }
}
