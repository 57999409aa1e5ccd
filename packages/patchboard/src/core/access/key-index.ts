import { reason, type Reason, rfc3339 } from '@patchboard/wire';
import { denied, failure, type Failure } from '../failures.ts';
import type { Digest } from '../ports.ts';
import { OPERATOR_NAME, type Principal } from './principal.ts';
import { SCOPES_OF_KIND, type Scope } from './scopes.ts';

/** A key as it is kept: the secret itself is never stored. */
export interface ApiKey {
  readonly id: string;
  readonly tenant: string;
  readonly kind: KeyKind;
  /** The agent, client, service or operator that the key stands for. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly secretSha256: string;
  /** The first characters, so that a person can tell keys apart. */
  readonly hint: string;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly expiresAt: number | null;
}

export type KeyKind = Exclude<Principal['kind'], 'local'>;

/** Of key ids. */
export const KEY_PREFIX = 'key_';

/** Of the secrets themselves: what begins so is a key that was minted here. */
export const SECRET_PREFIX = 'pb_';

export interface KeyRequest {
  readonly tenant: string;
  readonly kind: KeyKind;
  readonly name: string;
  /** Null: what the kind is good for. */
  readonly scopes: readonly Scope[] | null;
  readonly expiresAt: number | null;
}

/** A minted key is never wider than its maker. */
export function checkKeyRequest(maker: Principal, request: KeyRequest): Failure | null {
  if (request.name === OPERATOR_NAME) {
    return failure('name_taken', reason('key_name_reserved', { name: OPERATOR_NAME }));
  }
  const why = widerThan(maker, request);
  return why === null ? null : failure('permission_denied', denied(why));
}

/** A credential revokes the keys that it could mint, and the key that it is. */
export function checkRevocation(principal: Principal, key: ApiKey): Failure | null {
  if (principal.credential?.id === key.id) return null;
  const why = widerThan(principal, key);
  if (why === null) return null;
  return failure('permission_denied', denied(reason('key_not_revocable', { reasons: [why] })));
}

/** Why the key is wider than the principal; null if it is not. */
function widerThan(
  principal: Principal,
  { tenant, kind, name, scopes, expiresAt }: KeyRequest,
): Reason | null {
  if (tenant !== principal.tenant) return reason('key_for_other_tenant', { own: principal.tenant, tenant });
  const missing = (scopes ?? SCOPES_OF_KIND[kind]).filter((scope) => !principal.scopes.has(scope));
  if (missing.length > 0) return reason('key_scopes_not_held', { scopes: missing.join(', ') });
  return widerView(principal, kind, name) ?? longerLife(principal, expiresAt);
}

/** Agents and clients see what is their own, services what is their tenant's, and only operators decide. */
function widerView({ kind, id }: Principal, wanted: KeyKind, name: string): Reason | null {
  if (kind === 'operator') return null;
  if (kind === 'service' && wanted !== 'operator') return null;
  if (kind === wanted && id === name) return null;
  return reason('key_for_itself_only', { kind, id });
}

/** A key that ends makes none that outlives it. A person's session or token ends sooner than what they set up. */
function longerLife({ credential }: Principal, expiresAt: number | null): Reason | null {
  if (credential === null || !credential.id.startsWith(KEY_PREFIX) || credential.expiresAt === null)
    return null;
  if (expiresAt !== null && expiresAt <= credential.expiresAt) return null;
  return reason('key_outlives_maker', { at: rfc3339(credential.expiresAt) });
}

/** The keys in force, by the hash of their secret. */
export class KeyIndex {
  readonly #digest: Digest;
  readonly #bySecret: Map<string, ApiKey> = new Map();
  readonly #byId: Map<string, ApiKey> = new Map();
  readonly #revoked: Set<(keyId: string) => void> = new Set();
  readonly #first: Set<() => void> = new Set();

  constructor(digest: Digest) {
    this.#digest = digest;
  }

  get size(): number {
    return this.#byId.size;
  }

  add(key: ApiKey): void {
    this.#byId.set(key.id, key);
    this.#bySecret.set(key.secretSha256, key);
    if (this.#byId.size === 1) for (const listener of this.#first) listener();
  }

  find(id: string): ApiKey | undefined {
    return this.#byId.get(id);
  }

  list(tenant: string): ApiKey[] {
    return [...this.#byId.values()].filter((key) => key.tenant === tenant);
  }

  /** From now on the secret is nobody's; whoever holds a connection open with it is told. */
  revoke(id: string): ApiKey | undefined {
    const key = this.#byId.get(id);
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

  /** With the first key, whoever came without a credential is nobody any more. */
  onFirst(listener: () => void): () => void {
    this.#first.add(listener);
    return () => {
      this.#first.delete(listener);
    };
  }

  /** Looked up by hash, so how long it takes says nothing about the secret. */
  principalOf(secret: string, now: number): Principal | Failure {
    const key = this.#bySecret.get(this.#digest.sha256(secret));
    if (key === undefined) return failure('auth_required', reason('key_secret_unknown'));
    if (key.expiresAt !== null && key.expiresAt <= now)
      return failure('auth_required', reason('key_expired'));
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
