import { Counters } from '../../../core/counters.ts';

/** What one tenant may hold leaves room for others. */
const TENANT_SHARE = 0.75;

/** A number of bytes that tenants share. */
export class SharedRoom {
  readonly #most: number;
  readonly #byTenant: Counters = new Counters();
  #total = 0;

  constructor(mostBytes: number) {
    this.#most = mostBytes;
  }

  get total(): number {
    return this.#total;
  }

  has(tenant: string, bytes: number): boolean {
    if (this.#total + bytes > this.#most) return false;
    return this.#byTenant.of(tenant) + bytes <= this.#most * TENANT_SHARE;
  }

  take(tenant: string, bytes: number): void {
    this.#total += bytes;
    this.#byTenant.add(tenant, bytes);
  }

  give(tenant: string, bytes: number): void {
    this.take(tenant, -bytes);
  }
}
