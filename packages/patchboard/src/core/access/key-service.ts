import { reason } from '@patchboard/wire';
import type { DocumentStore } from '../documents.ts';
import { isSaneExpiry } from './expiry.ts';
import { failure, type Failure } from '../failures.ts';
import {
  checkKeyRequest,
  checkRevocation,
  KEY_PREFIX,
  KeyIndex,
  SECRET_PREFIX,
  type ApiKey,
  type KeyRequest,
} from './key-index.ts';
import { KeyUses } from './key-uses.ts';
import { hasLocalModeEnded, LOCAL_MODE_ENDED } from './local-mode.ts';
import { plainRow } from '../ledger/ledger.ts';
import type { Clock, Digest, Ids, Log } from '../ports.ts';
import { PendingRevocations } from './pending-revocations.ts';
import type { Credential, Principal } from './principal.ts';
import { SCOPES_OF_KIND } from './scopes.ts';

export interface KeyServiceParts {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly log: Log;
}

const CHECKSUM_LENGTH = 6;
const HINT_LENGTH = 10;

/** Mints and revokes keys. A secret is returned once, by `mint`; only its hash is stored. */
export class KeyService {
  readonly index: KeyIndex;
  readonly uses: KeyUses;
  readonly #parts: KeyServiceParts;
  readonly #revocations: PendingRevocations<ApiKey> = new PendingRevocations();
  #localModeEnded = false;

  constructor(parts: KeyServiceParts) {
    this.#parts = parts;
    const { store, clock, digest, log } = parts;
    this.uses = new KeyUses({ store, clock, log, isKnown: (id) => this.index.find(id) !== undefined });
    this.index = new KeyIndex(digest, (id, at) => this.uses.report(id, at));
  }

  /** True from the first key on, also after all keys were revoked. */
  get localModeEnded(): boolean {
    return this.#localModeEnded;
  }

  async load(): Promise<void> {
    for (const { body } of await this.#parts.store.documents('key'))
      this.index.add(JSON.parse(body) as ApiKey);
    this.#localModeEnded = await hasLocalModeEnded(this.#parts.store);
  }

  /** Applies a change of another node. A deleted key is rejected from now on, and its connections are closed. */
  apply(id: string, body: string | null): void {
    const key = body === null ? null : (JSON.parse(body) as ApiKey);
    if (this.#revocations.changed(id, key)) return;
    if (key === null) this.index.revoke(id);
    else this.index.add(key);
  }

  /** Applies a change of another node: the first key was made, or local mode was allowed again. */
  applyLocalMode(isEnded: boolean): void {
    this.#localModeEnded = isEnded;
  }

  async mint(maker: Principal, request: KeyRequest): Promise<{ key: ApiKey; secret: string } | Failure> {
    const refused = checkKeyRequest(maker, request);
    if (refused !== null) return refused;
    const { store, clock, ids, digest } = this.#parts;
    const now = clock.now();
    if (request.expiresAt !== null && request.expiresAt <= now) {
      return failure('body_invalid', reason('key_expiry_past'));
    }
    if (request.expiresAt !== null && !isSaneExpiry(request.expiresAt, now)) {
      const recommendations = ['leave expires_at out for a key that does not expire'];
      return failure('body_invalid', reason('key_expiry_far'), { recommendations });
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
    const mark = this.#localModeEnded ? [] : [{ ...LOCAL_MODE_ENDED, body: '{}' }];
    await store.putDocument('key', id, JSON.stringify(key), [row], mark);
    if (store.appliesChanges !== true) {
      this.#localModeEnded = true;
      this.index.add(key);
    }
    return { key, secret };
  }

  async revoke(principal: Principal, id: string): Promise<ApiKey | Failure> {
    const key = this.index.find(id);
    if (key === undefined || key.tenant !== principal.tenant)
      return failure('key_not_found', reason('key_unknown', { id }));
    const refused = checkRevocation(principal, key);
    if (refused !== null) return refused;
    const row = plainRow('key.revoked', key.tenant, this.#parts.clock.now(), {
      key_id: id,
      by: principal.id,
    });
    await this.#revocations.revoke({
      id,
      item: key,
      remove: () => this.index.revoke(id),
      restore: (stored) => this.index.add(stored),
      write: () => this.#parts.store.deleteDocument('key', id, [row]),
    });
    await this.uses.forget(id);
    return key;
  }

  /** Allows local mode again. Returns a failure while keys exist, and `changed: false` if local mode had not ended. */
  async allowLocalMode(principal: Principal): Promise<{ changed: boolean } | Failure> {
    const { store, clock } = this.#parts;
    if (this.index.size > 0) {
      const recommendations = ['patchboard keys ls lists them, and patchboard keys revoke revokes one'];
      const why = reason('local_mode_has_keys', { count: this.index.size });
      return failure('conflict', why, { recommendations });
    }
    if (!this.#localModeEnded) return { changed: false };
    const row = plainRow('local_mode.allowed', principal.tenant, clock.now(), { by: principal.id });
    await store.deleteDocument(LOCAL_MODE_ENDED.kind, LOCAL_MODE_ENDED.id, [row]);
    if (store.appliesChanges !== true) this.#localModeEnded = false;
    return { changed: true };
  }

  /** Whether the key is neither revoked nor expired. */
  isInForce(id: string): boolean {
    const key = this.index.find(id);
    return key !== undefined && (key.expiresAt === null || key.expiresAt > this.#parts.clock.now());
  }

  /** The names of the tenant's keys that are in force. */
  namesInForce(tenant: string): string[] {
    return this.index
      .list(tenant)
      .filter(({ id }) => this.isInForce(id))
      .map(({ name }) => name);
  }

  /** Returns the principal of a bearer secret. */
  authenticate(secret: string): Principal | Failure {
    if (!this.#isWellFormed(secret)) return failure('auth_required', reason('key_mistyped'));
    return this.index.principalOf(secret, this.#parts.clock.now());
  }

  /** Returns the principal of a session that the key opened: a failure if the key was revoked or has expired. */
  principalOfSession(id: string, session: Omit<Credential, 'key'>): Principal | Failure {
    return this.index.principalOfSession(id, session, this.#parts.clock.now());
  }

  /** Whether the secret could be one of a key that this node does not know. */
  isUnknown(secret: string): boolean {
    return this.#isWellFormed(secret) && !this.index.hasSecret(secret);
  }

  /** The checksum detects a mistyped secret without a lookup. */
  #isWellFormed(secret: string): boolean {
    const random = secret.slice(SECRET_PREFIX.length, -CHECKSUM_LENGTH);
    return (
      secret.startsWith(SECRET_PREFIX) &&
      checksum(this.#parts.digest, random) === secret.slice(-CHECKSUM_LENGTH)
    );
  }
}

function checksum(digest: Digest, random: string): string {
  return digest.sha256(random).slice(0, CHECKSUM_LENGTH);
}
