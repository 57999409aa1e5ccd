import { reason, type Reason, rfc3339 } from '@patchboard/wire';
import { denied, failure, type Failure } from '../failures.ts';
import type { Digest } from '../ports.ts';
import { OPERATOR_NAME, type Credential, type Principal } from './principal.ts';
import { SCOPES_OF_KIND, type Scope } from './scopes.ts';

/** An API key as stored: the hash of its secret, never the secret. */
export interface ApiKey {
  readonly id: string;
  readonly tenant: string;
  readonly kind: KeyKind;
  /** The principal's name for requests made with this key. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly secretSha256: string;
  /** The first characters of the secret, so that a person can tell keys apart. */
  readonly hint: string;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly expiresAt: number | null;
}

export type KeyKind = Exclude<Principal['kind'], 'local'>;

/** The prefix of key ids. */
export const KEY_PREFIX = 'key_';

/** The prefix of key secrets. */
export const SECRET_PREFIX = 'pb_';

export interface KeyRequest {
  readonly tenant: string;
  readonly kind: KeyKind;
  readonly name: string;
  /** Null: the default scopes of the kind. */
  readonly scopes: readonly Scope[] | null;
  readonly expiresAt: number | null;
}

/** Returns a failure if the new key would have more rights than its maker. */
export function checkKeyRequest(maker: Principal, request: KeyRequest): Failure | null {
  if (request.name === OPERATOR_NAME) {
    return failure('name_taken', reason('key_name_reserved', { name: OPERATOR_NAME }));
  }
  const why = widerThan(maker, request);
  return why === null ? null : failure('permission_denied', denied(why));
}

/** A credential may revoke the keys that it could mint, and itself. */
export function checkRevocation(principal: Principal, key: ApiKey): Failure | null {
  if (keyOf(principal)?.id === key.id) return null;
  const why = widerThan(principal, key);
  if (why === null) return null;
  return failure('permission_denied', denied(reason('key_not_revocable', { reasons: [why] })));
}

/** Returns why the key has more rights than the principal; null if it does not. */
function widerThan(
  principal: Principal,
  { tenant, kind, name, scopes, expiresAt }: KeyRequest,
): Reason | null {
  if (tenant !== principal.tenant) return reason('key_for_other_tenant', { own: principal.tenant, tenant });
  const missing = (scopes ?? SCOPES_OF_KIND[kind]).filter((scope) => !principal.scopes.has(scope));
  if (missing.length > 0) return reason('key_scopes_not_held', { scopes: missing.join(', ') });
  return widerView(principal, kind, name) ?? longerLife(principal, expiresAt);
}

/** Agents and clients see only their own calls, services see their tenant's, and only operators decide approvals. */
function widerView({ kind, id }: Principal, wanted: KeyKind, name: string): Reason | null {
  if (kind === 'operator') return null;
  if (kind === 'service' && wanted !== 'operator') return null;
  if (kind === wanted && id === name) return null;
  return reason('key_for_itself_only', { kind, id });
}

/** An expiring key mints no key that outlives it. Sessions of operators and the operator token may: they are meant to be short. */
function longerLife(principal: Principal, expiresAt: number | null): Reason | null {
  const limit = keyOf(principal)?.expiresAt ?? null;
  if (limit === null || (expiresAt !== null && expiresAt <= limit)) return null;
  return reason('key_outlives_maker', { at: rfc3339(limit) });
}

/** Returns the key of the request: sent with it, or the one that opened its session; null if there is none. */
export function keyOf({ credential }: Principal): NonNullable<Credential['key']> | null {
  if (credential === null) return null;
  return credential.id.startsWith(KEY_PREFIX) ? credential : (credential.key ?? null);
}

/** A key, and the time from which its next use is reported. */
interface IndexedKey {
  readonly key: ApiKey;
  reportUseFrom: number;
}

/** Uses of a key are reported at most this often. */
const USE_EVERY_MS = 60_000;

/** The keys that are not revoked, indexed by id and by the hash of their secret. */
export class KeyIndex {
  readonly #digest: Digest;
  readonly #onUse: (id: string, at: number) => void;
  readonly #bySecret: Map<string, IndexedKey> = new Map();
  readonly #byId: Map<string, IndexedKey> = new Map();
  readonly #revoked: Set<(keyId: string) => void> = new Set();
  readonly #first: Set<() => void> = new Set();

  /** `onUse` is called at most once a minute per key. */
  constructor(digest: Digest, onUse: (id: string, at: number) => void) {
    this.#digest = digest;
    this.#onUse = onUse;
  }

  get size(): number {
    return this.#byId.size;
  }

  add(key: ApiKey): void {
    const indexed: IndexedKey = { key, reportUseFrom: 0 };
    this.#byId.set(key.id, indexed);
    this.#bySecret.set(key.secretSha256, indexed);
    if (this.#byId.size === 1) for (const listener of this.#first) listener();
  }

  find(id: string): ApiKey | undefined {
    return this.#byId.get(id)?.key;
  }

  list(tenant: string): ApiKey[] {
    return [...this.#byId.values()].map(({ key }) => key).filter((key) => key.tenant === tenant);
  }

  /** The secret is invalid from now on. Listeners of `onRevoked` close the connections opened with it. */
  revoke(id: string): ApiKey | undefined {
    const key = this.#byId.get(id)?.key;
    if (key === undefined) return undefined;
    this.#byId.delete(id);
    this.#bySecret.delete(key.secretSha256);
    for (const listener of this.#revoked) listener(id);
    return key;
  }

  onRevoked(listener: (keyId: string) => void): () => void {
    this.#revoked.add(listener);
    return () => {
      this.#revoked.delete(listener);
    };
  }

  /** Calls `listener` when the first key is added: from then on, requests without a credential are refused. */
  onFirst(listener: () => void): () => void {
    this.#first.add(listener);
    return () => {
      this.#first.delete(listener);
    };
  }

  hasSecret(secret: string): boolean {
    return this.#bySecret.has(this.#digest.sha256(secret));
  }

  /** Looks the key up by hash, so that timing reveals nothing about the secret. */
  principalOf(secret: string, now: number): Principal | Failure {
    const indexed = this.#bySecret.get(this.#digest.sha256(secret));
    return indexed === undefined
      ? failure('auth_required', reason('key_secret_unknown'))
      : this.#principal(indexed, now);
  }

  /** Returns the principal of the key, with the credential of a session that it opened. */
  principalOfSession(id: string, session: Omit<Credential, 'key'>, now: number): Principal | Failure {
    const indexed = this.#byId.get(id);
    if (indexed === undefined) return failure('auth_required', reason('credential_revoked'));
    const principal = this.#principal(indexed, now);
    if ('code' in principal) return principal;
    const { expiresAt } = indexed.key;
    return { ...principal, credential: { ...session, key: { id, expiresAt } } };
  }

  #principal(indexed: IndexedKey, now: number): Principal | Failure {
    const { key } = indexed;
    if (key.expiresAt !== null && key.expiresAt <= now)
      return failure('auth_required', reason('key_expired'));
    if (now >= indexed.reportUseFrom) {
      indexed.reportUseFrom = now + USE_EVERY_MS;
      this.#onUse(key.id, now);
    }
    return {
      kind: key.kind,
      id: key.name,
      tenant: key.tenant,
      scopes: new Set(key.scopes),
      agentId: key.name,
      clientId: key.name,
      credential: { id: key.id, expiresAt: key.expiresAt },
    };
  }
}
