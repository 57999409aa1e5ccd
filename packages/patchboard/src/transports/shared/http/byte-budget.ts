import { Counters } from '../../../core/counters.ts';

/** Upper bound for one tenant, as a share of the whole budget. */
const TENANT_SHARE = 0.75;

/** A memory budget in bytes, shared by all tenants. */
export class ByteBudget {
  readonly #most: number;
  readonly #byTenant: Counters = new Counters();
  #total = 0;

  constructor(mostBytes: number) {
    this.#most = mostBytes;
  }

  get total(): number {
    return this.#total;
  }

  fits(tenant: string, bytes: number): boolean {
    if (this.#total + bytes > this.#most) return false;
    return this.#byTenant.of(tenant) + bytes <= this.#most * TENANT_SHARE;
  }

  reserve(tenant: string, bytes: number): void {
    this.#total += bytes;
    this.#byTenant.add(tenant, bytes);
  }

  release(tenant: string, bytes: number): void {
    this.reserve(tenant, -bytes);
  }
}
