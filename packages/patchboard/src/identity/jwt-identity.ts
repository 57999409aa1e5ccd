import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyOptions,
} from 'jose';
import { PEER_ID_PATTERN, reason } from '@patchboard/wire';
import { isSaneExpiry } from '../core/access/expiry.ts';
import { failure, messageOf, type Failure } from '../core/failures.ts';
import type { Clock } from '../core/ports.ts';
import { DEFAULT_TENANT, OPERATOR_NAME, type Principal } from '../core/access/principal.ts';
import { isScope, SCOPES_OF_KIND, type Scope } from '../core/access/scopes.ts';

/** The source of the verification keys, and the issuer and audience that a token must have. */
export interface JwtSettings {
  readonly issuer: string;
  /** A token must have one of them. For MCP clients, the URL of the endpoint (`https://host/mcp`) should be one. */
  readonly audience: string | readonly string[];
  readonly keys:
    | { readonly kind: 'secret'; readonly secret: string }
    | { readonly kind: 'jwks_url'; readonly url: string }
    | { readonly kind: 'jwks'; readonly jwks: { readonly keys: readonly Record<string, unknown>[] } };
}

type Verify = (token: string, options: JWTVerifyOptions) => Promise<{ payload: JWTPayload }>;

const ASYMMETRIC = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const KINDS: readonly unknown[] = ['agent', 'client', 'service', 'operator'];
const CLOCK_TOLERANCE_S = 5;

/** Accepts tokens of one issuer for the configured audiences. The kind of key determines the algorithm; the token's `alg` cannot. */
export class JwtIdentity {
  readonly #verify: Verify;
  readonly #options: JWTVerifyOptions;
  readonly #clock: Clock;

  constructor(settings: JwtSettings, clock: Clock) {
    this.#verify = verifierOf(settings);
    this.#clock = clock;
    this.#options = {
      // As lists: jose skips the check if either is undefined, which a caller without types could pass.
      issuer: [settings.issuer],
      audience: [settings.audience].flat(),
      algorithms: settings.keys.kind === 'secret' ? ['HS256'] : ASYMMETRIC,
      requiredClaims: ['iss', 'aud', 'exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE_S,
    };
  }

  async authenticate(token: string): Promise<Principal | Failure> {
    try {
      const now = this.#clock.now();
      const { payload } = await this.#verify(token, { ...this.#options, currentDate: new Date(now) });
      return principalOf(payload, now);
    } catch (error) {
      if (isKeySetError(error))
        return failure('overloaded', reason('token_keys_unavailable', { error: messageOf(error) }));
      if (error instanceof errors.JWTExpired) return failure('auth_required', reason('token_expired'));
      return failure('auth_required', reason('token_not_accepted', { error: messageOf(error) }));
    }
  }
}

/** Whether fetching the key set failed, so that the token could not be verified. jose throws a plain `JOSEError` for an HTTP status other than 200. */
function isKeySetError(error: unknown): boolean {
  if (!(error instanceof errors.JOSEError)) return true;
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  return error.code === errors.JOSEError.code;
}

function verifierOf({ keys }: JwtSettings): Verify {
  if (keys.kind === 'secret') {
    const secret = new TextEncoder().encode(keys.secret);
    return async (token, options) => await jwtVerify(token, secret, options);
  }
  const set =
    keys.kind === 'jwks_url'
      ? createRemoteJWKSet(new URL(keys.url))
      : createLocalJWKSet({ keys: [...keys.jwks.keys] as never });
  return async (token, options) => await jwtVerify(token, set, options);
}

/** Reads the claims `tenant`, `kind` and `scope`; the defaults are the default tenant, `agent`, and all scopes of an agent. */
function principalOf(payload: JWTPayload, now: number): Principal | Failure {
  const { sub, exp } = payload;
  const tenant = payload['tenant'] ?? DEFAULT_TENANT;
  const kind = payload['kind'] ?? 'agent';
  if (typeof sub !== 'string' || !PEER_ID_PATTERN.test(sub) || sub === OPERATOR_NAME) return unusable('sub');
  if (typeof tenant !== 'string' || !PEER_ID_PATTERN.test(tenant)) return unusable('tenant');
  if (!KINDS.includes(kind)) return unusable('kind');
  const scopes = scopesOf(payload['scope'], kind as Principal['kind']);
  if (scopes === null) return unusable('scope');
  if (typeof exp !== 'number' || !Number.isSafeInteger(exp) || !isSaneExpiry(exp * 1000, now))
    return failure('auth_required', reason('claim_expiry'));
  return {
    kind: kind as Principal['kind'],
    id: sub,
    tenant,
    scopes,
    agentId: sub,
    clientId: sub,
    // Includes the tenant, because subjects are unique only within one. Neither name can contain a space.
    credential: { id: `jwt:${tenant} ${sub}`, expiresAt: exp * 1000 },
  };
}

/** Returns null if the claim names an unknown scope. A claim can narrow the scopes of the kind, never widen them. */
function scopesOf(claim: unknown, kind: Principal['kind']): ReadonlySet<Scope> | null {
  const own = SCOPES_OF_KIND[kind];
  if (claim === undefined) return new Set(own);
  const names = typeof claim === 'string' ? claim.split(' ').filter((name) => name !== '') : claim;
  if (!Array.isArray(names) || !names.every(isScope)) return null;
  return new Set(own.filter((scope) => names.includes(scope)));
}

function unusable(claim: string): Failure {
  return failure('auth_required', reason('claim_unusable', { claim }));
}
