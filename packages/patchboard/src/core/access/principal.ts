import { OPERATOR_AGENT } from '@patchboard/wire';
import type { Scope } from './scopes.ts';

/** The caller, derived from the credential or from local mode, never from the body alone. */
export interface Principal {
  readonly kind: 'agent' | 'client' | 'operator' | 'service' | 'local';
  readonly id: string;
  readonly tenant: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The agent the principal acts as when it calls tools. */
  readonly agentId: string;
  /** The client the principal acts as when it runs tools; null: any of its tenant (local mode and the operator token). */
  readonly clientId: string | null;
  /** The credential of the request; null in local mode. A connection is closed when its credential ends. */
  readonly credential: Credential | null;
}

export interface Credential {
  readonly id: string;
  readonly expiresAt: number | null;
  /** The key that opened the session; absent for every other credential. The session has the rights of the key, and ends with it. */
  readonly key?: { readonly id: string; readonly expiresAt: number | null };
}

/** The principal as JSON text. */
export function principalText(principal: Principal): string {
  return JSON.stringify({ ...principal, scopes: [...principal.scopes] });
}

/** Reads what `principalText` returned. */
export function principalFrom(text: string): Principal {
  const { scopes, ...others } = JSON.parse(text) as Omit<Principal, 'scopes'> & { readonly scopes: Scope[] };
  return { ...others, scopes: new Set(scopes) };
}

export const DEFAULT_TENANT = 'default';

/**
 * The principal name of the operator token. Reserved: no principal may approve its own call, so an agent of that name
 * could make calls that the operator cannot approve.
 */
export const OPERATOR_NAME: typeof OPERATOR_AGENT = OPERATOR_AGENT;

/** The credential id of the operator token. */
export const OPERATOR_TOKEN_ID = 'operator-token';

/** The prefix of credential ids of browser sessions of operators. */
export const SESSION_PREFIX = 'session:';

/**
 * The prefix of credential ids of browser sessions that a key opened. Different from `SESSION_PREFIX`: code that does not
 * know of keys must not take the session for one of an operator.
 */
export const KEY_SESSION_PREFIX = 'key-session:';

/**
 * Whether the principal may read metrics of the whole server: local mode, the operator token, and sessions opened with
 * it. Every other credential belongs to one tenant.
 */
export function seesWholeServer({ kind, credential }: Principal): boolean {
  if (credential === null) return kind === 'local';
  return credential.id === OPERATOR_TOKEN_ID || credential.id.startsWith(SESSION_PREFIX);
}
