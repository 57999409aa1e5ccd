import { HTTP_HINTS, PEER_ID_PATTERN, reason, SESSION_PROOF_HEADER, sessionIdIn } from '@patchboard/wire';
import type { Authenticator, Credentials } from '../core/access/authenticator.ts';
import { denied, failure, type Failure } from '../core/failures.ts';
import type { KeyService } from '../core/access/key-service.ts';
import { KEY_PREFIX, SECRET_PREFIX } from '../core/access/key-index.ts';
import {
  DEFAULT_TENANT,
  KEY_SESSION_PREFIX,
  OPERATOR_NAME,
  OPERATOR_TOKEN_ID,
  SESSION_PREFIX,
  type Principal,
} from '../core/access/principal.ts';
import { SCOPES_OF_KIND } from '../core/access/scopes.ts';
import type { InternalKeys } from './internal-keys.ts';
import type { JwtIdentity } from './jwt-identity.ts';
import type { MaybePromise } from '../core/maybe-promise.ts';
import type { Log } from '../core/ports.ts';
import type { SharedChanges } from '../core/shared-changes.ts';
import { headerNotId, localPrincipal } from './local-principal.ts';
import { hasOperatorTokenPrefix } from './operator-token.ts';
import type { OperatorTokenGuard } from './operator-token-guard.ts';
import { proxyHeaderIn } from './proxy-headers.ts';
import type { Sessions } from './sessions.ts';

export interface CredentialAuthenticatorParts {
  readonly keys: KeyService;
  readonly jwt: JwtIdentity | null;
  readonly operatorToken: OperatorTokenGuard;
  readonly sessions: Sessions;
  readonly internalKeys: InternalKeys;
  readonly changes: SharedChanges;
  /** Whether the server is bound to loopback and not in production. The other conditions of local mode are checked per request. */
  readonly mayBeLocal: boolean;
  readonly log: Log;
}

/** Carries the key of another service of the same operator. */
const INTERNAL_KEY_HEADER = 'x-internal-api-key';

const NAMING_HEADERS = ['x-agent-id', 'x-client-id', 'x-tenant-id'] as const;

/** Finds the principal of a request by its key, token or session, or in local mode without a credential. */
export class CredentialAuthenticator implements Authenticator {
  readonly #parts: CredentialAuthenticatorParts;
  /** The warning is logged once per server: the client sends the header with each request. */
  #hasWarned = false;

  constructor(parts: CredentialAuthenticatorParts) {
    this.#parts = parts;
  }

  authenticate(
    given: Credentials,
    takesInternalKey = false,
  ): Principal | Failure | Promise<Principal | Failure> {
    const { headers } = given;
    const { authorization, [INTERNAL_KEY_HEADER]: internalKey } = headers;
    if (authorization !== undefined) return this.#byBearer(authorization, given);
    if (takesInternalKey && internalKey !== undefined && internalKey !== '') {
      const found = this.#byInternalKey(internalKey, headers);
      if (found instanceof Promise || !('code' in found) || !this.#ignoresInternalKey(internalKey))
        return found;
    }
    const sessionId = sessionIdIn(headers['cookie']);
    if (sessionId === null) return this.#withoutCredential(headers);
    const { changes, sessions } = this.#parts;
    if (!changes.isShared || sessions.knows(sessionId)) return this.#bySession(sessionId, headers);
    return changes.afterMiss().then(() => this.#bySession(sessionId, headers));
  }

  #bySession(id: string, headers: Credentials['headers']): Principal | Failure {
    const { sessions, keys } = this.#parts;
    const session = sessions.find(id, headers[SESSION_PROOF_HEADER]);
    if (session === null) return this.#withoutCredential(headers);
    const { keyId, credentialId, expiresAt } = session;
    const credential = { id: credentialId, expiresAt };
    if (keyId === undefined) return operator(headers, credential);
    return withMatchingHeaders(keys.principalOfSession(keyId, credential), headers);
  }

  /** A key that is not known here may have been made at another node a moment ago. */
  #byKey(secret: string, headers: Credentials['headers']): MaybePromise<Principal | Failure> {
    const { keys, changes } = this.#parts;
    const find = (): Principal | Failure => withMatchingHeaders(keys.authenticate(secret), headers);
    const found = find();
    if (!('code' in found) || !changes.isShared || !keys.isUnknown(secret)) return found;
    return changes.afterMiss().then((isChanged) => (isChanged ? find() : found));
  }

  isStillValid({ credential }: Principal): boolean {
    if (credential === null) return this.isLocal;
    const { keys, sessions } = this.#parts;
    if (credential.id.startsWith(KEY_PREFIX)) return keys.isInForce(credential.id);
    if (credential.id.startsWith(SESSION_PREFIX) || credential.id.startsWith(KEY_SESSION_PREFIX))
      return sessions.isInForce(credential.id);
    return true;
  }

  /** The first key ends local mode permanently, unless an operator allows it again. A configured token issuer or internal key disables it. */
  get isLocal(): boolean {
    const { mayBeLocal, jwt, keys, internalKeys } = this.#parts;
    return mayBeLocal && jwt === null && !keys.localModeEnded && internalKeys.size === 0;
  }

  /** In local mode no internal key is configured, so a key that a client sends is ignored with a warning. */
  #ignoresInternalKey(secret: string | string[]): boolean {
    if (!this.isLocal || typeof secret !== 'string' || secret.startsWith(SECRET_PREFIX)) return false;
    if (!this.#hasWarned) this.#parts.log.warn('auth.internal_key_ignored', { header: INTERNAL_KEY_HEADER });
    this.#hasWarned = true;
    return true;
  }

  /** Returns null if the names are not known: in local mode a header names the agent, and a token issuer may know others. */
  agentNames(tenant: string): ReadonlySet<string> | null {
    const { jwt, keys, internalKeys } = this.#parts;
    if (this.isLocal || jwt !== null) return null;
    return new Set([OPERATOR_NAME, ...keys.namesInForce(tenant), ...internalKeys.names(tenant)]);
  }

  #withoutCredential(headers: Credentials['headers']): Principal | Failure {
    if (!this.isLocal) {
      return failure('auth_required', undefined, { recommendations: HTTP_HINTS.auth_required });
    }
    const proxy = proxyHeaderIn(headers);
    if (proxy === undefined) return localPrincipal(headers);
    return failure('auth_required', reason('credential_forwarded', { header: proxy }));
  }

  /** Accepts an internal key from the config or a key made by this server, so that a service can use one header for both. */
  #byInternalKey(
    secret: string | string[],
    headers: Credentials['headers'],
  ): MaybePromise<Principal | Failure> {
    if (typeof secret !== 'string')
      return failure('auth_required', reason('credential_header_twice', { header: INTERNAL_KEY_HEADER }));
    if (secret.startsWith(SECRET_PREFIX)) return this.#byKey(secret, headers);
    return withMatchingHeaders(this.#parts.internalKeys.principalOf(secret), headers);
  }

  #byBearer(
    authorization: string | string[],
    given: Credentials,
  ): Principal | Failure | Promise<Principal | Failure> {
    const { headers } = given;
    const match = typeof authorization === 'string' ? /^bearer +(\S+)$/i.exec(authorization.trim()) : null;
    const secret = match?.[1];
    if (secret === undefined) return failure('auth_required', reason('credential_form'));
    if (secret.startsWith(SECRET_PREFIX)) return this.#byKey(secret, headers);
    const { operatorToken } = this.#parts;
    // A token of the environment needs no prefix.
    if (operatorToken.isRight(secret)) return operator(headers, { id: OPERATOR_TOKEN_ID, expiresAt: null });
    const { jwt } = this.#parts;
    if (hasOperatorTokenPrefix(secret)) return operatorToken.refuse(given.ip);
    if (operatorToken.mayBeGuess(secret) && (jwt === null || !isJwt(secret)))
      return operatorToken.refuse(given.ip, reason('key_of_others'));
    if (jwt === null) return failure('auth_required', reason('key_of_others'));
    return jwt.authenticate(secret).then((found) => withMatchingHeaders(found, headers));
  }
}

/** By its form: three parts separated by dots. */
function isJwt(secret: string): boolean {
  return /^[^.]+\.[^.]+\.[^.]*$/.test(secret);
}

/** Returns the operator as a principal of the tenant that the header names. */
function operator(
  headers: Credentials['headers'],
  credential: NonNullable<Principal['credential']>,
): Principal | Failure {
  const tenant = headers['x-tenant-id'] ?? DEFAULT_TENANT;
  if (typeof tenant !== 'string' || !PEER_ID_PATTERN.test(tenant)) {
    return headerNotId('X-Tenant-ID');
  }
  const scopes = new Set(SCOPES_OF_KIND.operator);
  const own = { kind: 'operator', id: OPERATOR_NAME, agentId: OPERATOR_NAME, clientId: null } as const;
  return withMatchingHeaders({ ...own, tenant, scopes, credential }, headers);
}

/** Returns a failure if an identity header differs from the credential. */
function withMatchingHeaders(
  found: Principal | Failure,
  headers: Credentials['headers'],
): Principal | Failure {
  if ('code' in found) return found;
  const own = { 'x-agent-id': found.agentId, 'x-client-id': found.clientId, 'x-tenant-id': found.tenant };
  for (const name of NAMING_HEADERS) {
    const given = headers[name];
    if (given !== undefined && given !== own[name]) {
      return failure('permission_denied', denied(reason('credential_names_other', { header: name })));
    }
  }
  return found;
}
