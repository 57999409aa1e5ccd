import type { TenantSettings } from './tenant-directory.ts';
import type { Rate } from './token-buckets.ts';

export interface RateText {
  readonly burst: number;
  readonly per_second: number;
}

/** Tenant settings as JSON: in the config, over HTTP and in the store. */
export interface TenantText {
  readonly sites?: readonly string[];
  readonly packs?: readonly string[];
  readonly limits?: {
    readonly calls?: RateText;
    readonly tools?: Readonly<Record<string, RateText>>;
  };
}

export function tenantSettings({ sites, packs, limits = {} }: TenantText): TenantSettings {
  const { calls, tools = {} } = limits;
  return {
    sites: sites ?? null,
    packs: packs ?? null,
    limits: {
      ...(calls === undefined ? {} : { calls: rateOf(calls) }),
      tools: new Map(Object.entries(tools).map(([name, rate]) => [name, rateOf(rate)])),
    },
  };
}

export function tenantText({
  sites,
  packs,
  limits: { calls, tools = new Map() },
}: TenantSettings): TenantText {
  const ofTools = Object.fromEntries([...tools].map(([name, rate]) => [name, rateText(rate)]));
  return {
    ...(sites === null ? {} : { sites }),
    ...(packs === null ? {} : { packs }),
    limits: {
      ...(calls === undefined ? {} : { calls: rateText(calls) }),
      ...(tools.size === 0 ? {} : { tools: ofTools }),
    },
  };
}

export function rateOf({ burst, per_second: perSecond }: RateText): Rate {
  return { burst, perSecond };
}

function rateText({ burst, perSecond }: Rate): RateText {
  return { burst, per_second: perSecond };
}
