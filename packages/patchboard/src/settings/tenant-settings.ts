import { SECRET_PREFIX } from '../core/access/key-index.ts';
import type { TenantSettings } from '../core/access/tenant-directory.ts';
import { tenantSettings } from '../core/access/tenant-text.ts';
import type { InternalKey } from '../identity/internal-keys.ts';
import { HERITAGE_PACK, SAMPLE_SCOPE } from '../packs/heritage/names.ts';
import { ConfigError } from './config-file.ts';
import type { ConfigFile } from './config-schema.ts';
import type { Environment } from './environment.ts';

/** Minimum length of an internal key; shorter ones can be guessed. */
const LEAST_KEY_CHARACTERS = 16;

/** The tenant of a server whose config has no `tenants`. */
const DEMONSTRATION: readonly [string, TenantSettings] = [
  SAMPLE_SCOPE.tenant,
  { sites: [SAMPLE_SCOPE.site], packs: [HERITAGE_PACK], limits: {} },
];

/** Returns the configured tenants, or the demonstration tenant if the config has no `tenants`. */
export function tenantsOf({ tenants }: ConfigFile): ReadonlyMap<string, TenantSettings> {
  if (tenants === undefined) return new Map([DEMONSTRATION]);
  return new Map(Object.entries(tenants).map(([id, text]) => [id, tenantSettings(text)]));
}

/** A tenant may have several keys, so that one can be replaced while the other is in use. */
export function internalKeysOf({ auth }: ConfigFile, given: Environment): readonly InternalKey[] {
  const seen = new Map<string, string>();
  return (auth?.internal_keys ?? []).map(({ tenant, key_env: variable }, index) => {
    const place = `auth.internal_keys[${index}]`;
    const secret = given[variable] ?? '';
    if (secret.length < LEAST_KEY_CHARACTERS)
      throw new ConfigError(
        `${place}: the variable ${variable} must hold at least ${LEAST_KEY_CHARACTERS} characters`,
      );
    if (secret.startsWith(SECRET_PREFIX))
      throw new ConfigError(
        `${place}: ${variable} begins with ${SECRET_PREFIX}, which is for keys that this server makes; choose another`,
      );
    const other = seen.get(secret);
    if (other !== undefined)
      throw new ConfigError(`${place}: ${variable} holds the key of tenant ${other} already`);
    seen.set(secret, tenant);
    return { tenant, secret };
  });
}
