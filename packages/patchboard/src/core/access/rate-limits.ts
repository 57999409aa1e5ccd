import { reason, type Reason } from '@patchboard/wire';
import { BoundedMap } from '../bounded-map.ts';
import { failure, type Failure, type RateRefusal } from '../failures.ts';
import { pairKey } from '../pair-key.ts';
import type { Clock } from '../ports.ts';
import type { Principal } from './principal.ts';
import { TenantDirectory, type TenantLimits } from './tenant-directory.ts';
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

/** Of one principal. Enough to see that it floods, and with what. */
const RECORDED_REFUSALS: Rate = { burst: 100, perSecond: 1 };
/** Of so many at once it is known how many of their refusals were not recorded. */
const MAX_FLOODERS = 10_000;

/** Of a model's reply: reading so many costs as much as a call. */
const BYTES_PER_TOKEN = 8192;

/** How often calls may be made. Local mode is one's own machine and is not limited. */
export class RateLimits {
  readonly #rates: Rates;
  readonly #buckets: TokenBuckets;
  readonly #tenants: TenantDirectory;
  readonly #unrecorded: BoundedMap<string, number> = new BoundedMap(MAX_FLOODERS);

  /** What is said of a tenant counts there instead of what is said of all. */
  constructor(rates: Rates, clock: Clock, tenants: TenantDirectory = new TenantDirectory()) {
    this.#rates = rates;
    this.#tenants = tenants;
    this.#buckets = new TokenBuckets(clock);
  }

  /** Null: go on. Taken before anybody looks at the request, so that refused ones are spent too. */
  request(principal: Principal): Failure | null {
    return this.#spend(principal, 1, []);
  }

  /** The same for reading a model's reply, by its length. `paid`: how many tokens are taken otherwise. */
  reply(principal: Principal, bytes: number, paid: number): Failure | null {
    const tokens = Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN)) - paid;
    if (tokens <= 0) return null;
    return this.#spend(principal, tokens, [reason('reply_costs', { bytes, tokens })]);
  }

  #spend(principal: Principal, tokens: number, why: readonly Reason[]): Failure | null {
    if (principal.kind === 'local') return null;
    const { tenant } = principal;
    const ownBucket = `principal\n${whoIs(principal)}`;
    const own = this.#rates.principal;
    const tooFast = this.#take('principal', ownBucket, own, principal.id, { tokens, why });
    if (tooFast !== null) return tooFast;
    const ofTenant = this.#tenants.of(tenant).limits.calls ?? this.#rates.tenant;
    const tooMany = this.#take('tenant', `tenant\n${tenant}`, ofTenant, `tenant ${tenant}`, { tokens, why });
    // What others of the tenant used up is not this one's to pay for.
    if (tooMany !== null && own !== null) this.#buckets.putBack(ownBucket, own, tokens);
    return tooMany;
  }

  /** The same of one tool, once it is known that the principal may know of it. */
  call({ kind, tenant }: Principal, toolName: string): Failure | null {
    if (kind === 'local') return null;
    const rate = this.#toolRate(this.#tenants.of(tenant).limits, toolName);
    return this.#take('tool', toolBucket(tenant, toolName), rate, toolName);
  }

  /**
   * Whether a refusal by these limits is recorded: a flood would fill the ledger with them. The answer is how many
   * were not since the last that was; null: this one is not.
   */
  refusal(principal: Principal): number | null {
    const name = `refusal\n${whoIs(principal)}`;
    const missed = this.#unrecorded.get(name) ?? 0;
    this.#unrecorded.delete(name);
    if (this.#buckets.take(name, RECORDED_REFUSALS).allowed) return missed;
    this.#unrecorded.set(name, missed + 1);
    return null;
  }

  #take(
    policy: RateRefusal['policy'],
    bucket: string,
    rate: Rate | null,
    who: string,
    { tokens, why }: { tokens: number; why: readonly Reason[] } = { tokens: 1, why: [] },
  ): Failure | null {
    if (rate === null) return null;
    const allowance = this.#buckets.take(bucket, rate, tokens);
    if (allowance.allowed) return null;
    return failure('rate_limited', [reason('rate_of_calls', { who, per_second: rate.perSecond }), ...why], {
      rate: { ...allowance, policy },
    });
  }

  /** What is left of the narrowest limit: the tool's own, else the tenant's; null: there is none. */
  remaining(principal: Principal, toolName: string): RateRefusal | null {
    if (principal.kind === 'local') return null;
    const { tenant } = principal;
    const own = this.#tenants.of(tenant).limits;
    const ofTool = this.#toolRate(own, toolName);
    if (ofTool !== null)
      return { ...this.#buckets.peek(toolBucket(tenant, toolName), ofTool), policy: 'tool' };
    const ofTenant = own.calls ?? this.#rates.tenant;
    return ofTenant === null
      ? null
      : { ...this.#buckets.peek(`tenant\n${tenant}`, ofTenant), policy: 'tenant' };
  }

  #toolRate(own: TenantLimits, toolName: string): Rate | null {
    return own.tools?.get(toolName) ?? this.#rates.tools.get(toolName) ?? this.#rates.tool;
  }
}

function toolBucket(tenant: string, toolName: string): string {
  return `tool\n${pairKey(tenant, toolName)}`;
}

function whoIs({ tenant, kind, id }: Principal): string {
  return `${tenant}\n${kind}\n${id}`;
}
