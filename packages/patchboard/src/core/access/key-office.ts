import type { DocumentStore } from '../documents.ts';
import { EXPIRY_RULE, isSaneExpiry } from './expiry.ts';
import { failure, type Failure } from '../failures.ts';
import {
  checkKeyRequest,
  checkRevocation,
  KEY_PREFIX,
  KeyRing,
  SECRET_PREFIX,
  type ApiKey,
  type KeyRequest,
} from './key-ring.ts';
import { plainRow } from '../ledger/ledger.ts';
import type { Clock, Digest, Ids } from '../ports.ts';
import type { Principal } from './principal.ts';
import { SCOPES_OF_KIND } from './scopes.ts';

export interface KeyOfficeParts {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
}

const CHECKSUM_LENGTH = 6;
const HINT_LENGTH = 10;

/** Mints and revokes keys. A secret leaves here once and is kept only as its hash. */
export class KeyOffice {
  readonly ring: KeyRing;
  readonly #parts: KeyOfficeParts;

  constructor(parts: KeyOfficeParts) {
    this.#parts = parts;
    this.ring = new KeyRing(parts.digest);
  }

  async load(): Promise<void> {
    for (const { body } of await this.#parts.store.documents('key'))
      this.ring.add(JSON.parse(body) as ApiKey);
  }

  async mint(maker: Principal, request: KeyRequest): Promise<{ key: ApiKey; secret: string } | Failure> {
    const refused = checkKeyRequest(maker, request);
    if (refused !== null) return refused;
    const { store, clock, ids, digest } = this.#parts;
    const now = clock.now();
    if (request.expiresAt !== null && request.expiresAt <= now) {
      return failure('body_invalid', 'expires_at is in the past');
    }
    if (request.expiresAt !== null && !isSaneExpiry(request.expiresAt, now)) {
      const recommendations = ['leave expires_at out for a key that does not expire'];
      return failure('body_invalid', `expires_at must be ${EXPIRY_RULE}`, { recommendations });
    }
    const random = ids.secret(256);
    const secret = `${SECRET_PREFIX}${random}${checksum(digest, random)}`;
    const key: ApiKey = {
      id: ids.next(KEY_PREFIX),
      tenant: request.tenant,
      kind: request.kind,
      name: request.name,
      scopes: request.scopes ?? SCOPES_OF_KIND[request.kind],
      secretSha256: digest.sha256(secret),
      hint: secret.slice(0, HINT_LENGTH),
      createdAt: now,
      createdBy: maker.id,
      expiresAt: request.expiresAt,
    };
    const { id, kind, name, scopes } = key;
    const row = plainRow('key.created', key.tenant, now, { key_id: id, kind, name, scopes, by: maker.id });
    await store.putDocument('key', id, JSON.stringify(key), [row]);
    this.ring.add(key);
    return { key, secret };
  }

  async revoke(principal: Principal, id: string): Promise<ApiKey | Failure> {
    const key = this.ring.find(id);
    if (key === undefined || key.tenant !== principal.tenant)
      return failure('key_not_found', `no such key: ${id}`);
    const refused = checkRevocation(principal, key);
    if (refused !== null) return refused;
    const row = plainRow('key.revoked', key.tenant, this.#parts.clock.now(), {
      key_id: id,
      by: principal.id,
    });
    // First out of the ring: from here on the key opens nothing, also if the store is slow.
    this.ring.revoke(id);
    try {
      await this.#parts.store.deleteDocument('key', id, [row]);
    } catch (error) {
      // It is still stored: whoever is told so must be able to revoke it again.
      this.ring.add(key);
      throw error;
    }
    return key;
  }

  /** Neither revoked nor expired. */
  isInForce(id: string): boolean {
    const key = this.ring.find(id);
    return key !== undefined && (key.expiresAt === null || key.expiresAt > this.#parts.clock.now());
  }

  /** The principal behind a bearer secret. A mistyped one is told apart before anything is looked up. */
  authenticate(secret: string): Principal | Failure {
    const random = secret.slice(SECRET_PREFIX.length, -CHECKSUM_LENGTH);
    if (
      !secret.startsWith(SECRET_PREFIX) ||
      checksum(this.#parts.digest, random) !== secret.slice(-CHECKSUM_LENGTH)
    ) {
      return failure('auth_required', 'this is not a key of ours: it is mistyped or cut off');
    }
    return this.ring.principalOf(secret, this.#parts.clock.now());
  }
}

function checksum(digest: Digest, random: string): string {
  return digest.sha256(random).slice(0, CHECKSUM_LENGTH);
}
