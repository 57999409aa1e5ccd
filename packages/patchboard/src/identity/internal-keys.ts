import { reason } from '@patchboard/wire';
import { failure, type Failure } from '../core/failures.ts';
import type { Digest } from '../core/ports.ts';
import type { Principal } from '../core/access/principal.ts';
import { SCOPES_OF_KIND, type Scope } from '../core/access/scopes.ts';

/** A configured secret that another service of the same operator uses. */
export interface InternalKey {
  readonly tenant: string;
  readonly secret: string;
}

/** The principal's name for requests made with an internal key. */
const INTERNAL_NAME = 'internal';

/** Only routes with `takesInternalKey` read the header, and of these only the trace ledger needs `ledger:read`. */
const INTERNAL_SCOPES: readonly Scope[] = [...SCOPES_OF_KIND.service, 'ledger:read'];

/** The keys of `X-Internal-API-Key`. Each belongs to one tenant and is accepted on the tenant API and the trace ledger. */
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

  /** Returns the names of the tenant's principals. */
  names(tenant: string): readonly string[] {
    return [...this.#tenants.values()].includes(tenant) ? [INTERNAL_NAME] : [];
  }

  /** Looks the secret up by hash, so that the time taken reveals nothing about it. */
  principalOf(secret: string): Principal | Failure {
    const tenant = this.#tenants.get(this.#digest.sha256(secret));
    if (tenant === undefined) {
      return failure('auth_required', reason('internal_key_unknown'), {
        recommendations: ['use a key from one of the variables that auth.internal_keys in the config names'],
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
