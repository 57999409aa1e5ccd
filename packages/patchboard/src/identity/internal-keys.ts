import { failure, type Failure } from '../core/failures.ts';
import type { Digest } from '../core/ports.ts';
import type { Principal } from '../core/access/principal.ts';
import { SCOPES_OF_KIND, type Scope } from '../core/access/scopes.ts';

/** A secret that another service of the same house holds, from the config. */
export interface InternalKey {
  readonly tenant: string;
  readonly secret: string;
}

/** Whoever shows one is called so. */
const INTERNAL_NAME = 'internal';

/** Only routes with `takesInternalKey` read the header, and of these only the trace ledger needs `ledger:read`. */
const INTERNAL_SCOPES: readonly Scope[] = [...SCOPES_OF_KIND.service, 'ledger:read'];

/** The keys of `X-Internal-API-Key`: each stands for one tenant, on the tenant API and the trace ledger. */
export class InternalKeys {
  readonly #digest: Digest;
  readonly #tenants: ReadonlyMap<string, string>;

  constructor(keys: readonly InternalKey[], digest: Digest) {
    this.#digest = digest;
    this.#tenants = new Map(keys.map(({ tenant, secret }) => [digest.sha256(secret), tenant]));
  }

  get size(): number {
    return this.#tenants.size;
  }

  /** Names of the principals of a tenant. */
  names(tenant: string): readonly string[] {
    return [...this.#tenants.values()].includes(tenant) ? [INTERNAL_NAME] : [];
  }

  /** Looked up by hash, so how long it takes says nothing about the secret. */
  principalOf(secret: string): Principal | Failure {
    const tenant = this.#tenants.get(this.#digest.sha256(secret));
    if (tenant === undefined) {
      return failure('auth_required', 'the internal API key is not known', {
        recommendations: ['auth.internal_keys in the config says which variables hold those that are'],
      });
    }
    return {
      kind: 'service',
      id: INTERNAL_NAME,
      tenant,
      scopes: new Set(INTERNAL_SCOPES),
      agentId: INTERNAL_NAME,
      clientId: INTERNAL_NAME,
      credential: { id: `internal:${tenant}`, expiresAt: null },
    };
  }
}
