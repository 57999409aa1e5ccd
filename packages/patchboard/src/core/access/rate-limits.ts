import { reason, type Reason } from '@patchboard/wire';
import { BoundedMap } from '../bounded-map.ts';
import { failure, type Failure, type RateRefusal } from '../failures.ts';
import { pairKey, pairOf } from '../pair-key.ts';
import type { Peers } from '../peers.ts';
import type { Clock } from '../ports.ts';
import type { Principal } from './principal.ts';
import { TenantDirectory, type TenantLimits } from './tenant-directory.ts';
import { TokenBuckets, type Rate } from './token-buckets.ts';

/** The configured rate limits; null: unlimited. */
export interface Rates {
  readonly principal: Rate | null;
  readonly tenant: Rate | null;
  /** Per tenant and tool; `tools` overrides it for single tools. */
  readonly tool: Rate | null;
  readonly tools: ReadonlyMap<string, Rate>;
}

export const DEFAULT_RATES: Rates = {
  principal: { burst: 400, perSecond: 200 },
  tenant: { burst: 2000, perSecond: 1000 },
  tool: null,
  tools: new Map(),
};

/** Rate at which refusals of one principal are recorded: enough to show that it floods, and with what. */
const RECORDED_REFUSALS: Rate = { burst: 100, perSecond: 1 };
/** Maximum number of principals whose unrecorded refusals are counted. */
const MAX_FLOODERS = 10_000;

/** Parsing this many bytes of a model's reply costs one token, as much as a call. */
const BYTES_PER_TOKEN = 8192;

/** Rate limits on calls, per principal, tenant and tool. Local mode is not limited. */
export class RateLimits {
  readonly #rates: Rates;
  readonly #buckets: TokenBuckets;
  readonly #tenants: TenantDirectory;
  readonly #unrecorded: BoundedMap<string, number> = new BoundedMap(MAX_FLOODERS);
  /** Called with the tokens that this node takes; negative: that it puts back. Null: there is no other node. */
  #spent: ((bucket: string, tokens: number) => void) | null = null;

  /** Limits of a tenant's own settings replace the general ones for that tenant. */
  constructor(rates: Rates, clock: Clock, tenants: TenantDirectory = new TenantDirectory()) {
    this.#rates = rates;
    this.#tenants = tenants;
    this.#buckets = new TokenBuckets(clock);
  }

  /** Nodes that share a store share the limits: each sends the others what it took. */
  share(peers: Pick<Peers, 'isSingle' | 'spent' | 'onSpent'>): void {
    if (peers.isSingle) return;
    this.#spent = (bucket, tokens) => peers.spent(bucket, tokens);
    peers.onSpent((bucket, tokens) => {
      const rate = this.#rateOf(bucket);
      if (rate !== null) this.#buckets.spend(bucket, rate, tokens);
    });
  }

  /** Returns null if the request may proceed. Called before validation, so that invalid requests cost a token too. */
  request(principal: Principal): Failure | null {
    return this.#spend(principal, 1, []);
  }

  /** As `request`, for parsing a model's reply, by its length. `paid`: the tokens taken already. */
  reply(principal: Principal, bytes: number, paid: number): Failure | null {
    const tokens = Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN)) - paid;
    if (tokens <= 0) return null;
    return this.#spend(principal, tokens, [reason('reply_costs', { bytes, tokens })]);
  }

  #spend(principal: Principal, tokens: number, why: readonly Reason[]): Failure | null {
    if (principal.kind === 'local') return null;
    const { tenant } = principal;
    const ownBucket = `principal\n${principalKey(principal)}`;
    const own = this.#rates.principal;
    const tooFast = this.#take('principal', ownBucket, own, principal.id, { tokens, why });
    if (tooFast !== null) return tooFast;
    const ofTenant = this.#tenants.of(tenant).limits.calls ?? this.#rates.tenant;
    const tooMany = this.#take('tenant', `tenant\n${tenant}`, ofTenant, `tenant ${tenant}`, { tokens, why });
    // Refused because of the tenant's limit: the principal gets its own tokens back.
    if (tooMany !== null && own !== null) {
      this.#buckets.refund(ownBucket, own, tokens);
      this.#spent?.(ownBucket, -tokens);
    }
    return tooMany;
  }

  /** As `request`, for the limit of one tool. Called after the access check, which hides tools from the principal. */
  call({ kind, tenant }: Principal, toolName: string): Failure | null {
    if (kind === 'local') return null;
    const rate = this.#toolRate(this.#tenants.of(tenant).limits, toolName);
    return this.#take('tool', toolBucket(tenant, toolName), rate, toolName);
  }

  /**
   * Decides whether to record a refusal by these limits; a flood of refusals would fill the ledger. Returns null if this
   * one is not recorded, otherwise the number of unrecorded refusals since the last recorded one.
   */
  refusal(principal: Principal): number | null {
    const name = `refusal\n${principalKey(principal)}`;
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
    subject: string,
    { tokens, why }: { tokens: number; why: readonly Reason[] } = { tokens: 1, why: [] },
  ): Failure | null {
    if (rate === null) return null;
    const allowance = this.#buckets.take(bucket, rate, tokens);
    if (allowance.allowed) {
      this.#spent?.(bucket, tokens);
      return null;
    }
    return failure(
      'rate_limited',
      [reason('rate_of_calls', { who: subject, per_second: rate.perSecond }), ...why],
      {
        rate: { ...allowance, policy },
      },
    );
  }

  /** The current allowance of the tool's limit, else of the tenant's; null if neither is limited. */
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

  /** The limit of a bucket that another node names; null if it is not limited here. */
  #rateOf(bucket: string): Rate | null {
    const [kind = '', ...rest] = bucket.split('\n');
    const subject = rest.join('\n');
    if (kind === 'principal') return this.#rates.principal;
    if (kind === 'tenant') return this.#tenants.of(subject).limits.calls ?? this.#rates.tenant;
    const [tenant, toolName] = pairOf(subject) ?? [];
    if (kind !== 'tool' || tenant === undefined || toolName === undefined) return null;
    return this.#toolRate(this.#tenants.of(tenant).limits, toolName);
  }

  #toolRate(own: TenantLimits, toolName: string): Rate | null {
    return own.tools?.get(toolName) ?? this.#rates.tools.get(toolName) ?? this.#rates.tool;
  }
}

function toolBucket(tenant: string, toolName: string): string {
  return `tool\n${pairKey(tenant, toolName)}`;
}

function principalKey({ tenant, kind, id }: Principal): string {
  return `${tenant}\n${kind}\n${id}`;
}
