import { failure, type Failure, type RateRefusal } from './failures.ts';
import type { Clock } from './ports.ts';
import type { Principal } from './principal.ts';
import { TenantBook, type TenantLimits } from './tenant-book.ts';
import { TokenBuckets, type Rate } from './token-buckets.ts';

/** Null: not limited. */
export interface Rates {
  readonly principal: Rate | null;
  readonly tenant: Rate | null;
  /** Per tenant and tool; `tools` gives single tools one of their own. */
  readonly tool: Rate | null;
  readonly tools: ReadonlyMap<string, Rate>;
}

export const DEFAULT_RATES: Rates = {
  principal: { burst: 400, perSecond: 200 },
  tenant: { burst: 2000, perSecond: 1000 },
  tool: null,
  tools: new Map(),
};

/** How often calls may be made. Local mode is one's own machine and is not limited. */
export class RateLimits {
  readonly #rates: Rates;
  readonly #buckets: TokenBuckets;
  readonly #tenants: TenantBook;

  /** What is said of a tenant counts there instead of what is said of all. */
  constructor(rates: Rates, clock: Clock, tenants: TenantBook = new TenantBook()) {
    this.#rates = rates;
    this.#tenants = tenants;
    this.#buckets = new TokenBuckets(clock);
  }

  /** Null: go on. A call that one limit refuses is not counted by the others. */
  check(principal: Principal, toolName: string): Failure | null {
    if (principal.kind === 'local') return null;
    const { tenant } = principal;
    const own = this.#tenants.of(tenant).limits;
    const limits: [RateRefusal['policy'], string, Rate | null, string][] = [
      ['principal', `${tenant}\n${principal.kind}\n${principal.id}`, this.#rates.principal, principal.id],
      ['tenant', tenant, own.calls ?? this.#rates.tenant, `tenant ${tenant}`],
      ['tool', `${tenant}\n${toolName}`, this.#toolRate(own, toolName), toolName],
    ];
    const taken: string[] = [];
    for (const [policy, whose, rate, who] of limits) {
      if (rate === null) continue;
      const name = `${policy}\n${whose}`;
      const allowance = this.#buckets.take(name, rate);
      if (allowance.allowed) {
        taken.push(name);
        continue;
      }
      for (const other of taken) this.#buckets.putBack(other);
      return failure('rate_limited', `too many calls: ${who} may make ${rate.perSecond} a second`, {
        rate: { ...allowance, policy },
      });
    }
    return null;
  }

  /** What is left of the narrowest limit: the tool's own, else the tenant's; null: there is none. */
  standing(principal: Principal, toolName: string): RateRefusal | null {
    if (principal.kind === 'local') return null;
    const { tenant } = principal;
    const own = this.#tenants.of(tenant).limits;
    const ofTool = this.#toolRate(own, toolName);
    if (ofTool !== null)
      return { ...this.#buckets.look(`tool\n${tenant}\n${toolName}`, ofTool), policy: 'tool' };
    const ofTenant = own.calls ?? this.#rates.tenant;
    return ofTenant === null
      ? null
      : { ...this.#buckets.look(`tenant\n${tenant}`, ofTenant), policy: 'tenant' };
  }

  #toolRate(own: TenantLimits, toolName: string): Rate | null {
    return own.tools?.get(toolName) ?? this.#rates.tools.get(toolName) ?? this.#rates.tool;
  }
}
