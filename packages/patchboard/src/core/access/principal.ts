import type { Scope } from './scopes.ts';

/** Who is asking. It comes from the credential (or from local mode), never from the body alone. */
export interface Principal {
  readonly kind: 'agent' | 'client' | 'operator' | 'service' | 'local';
  readonly id: string;
  readonly tenant: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The agent it acts as when it calls tools. */
  readonly agentId: string;
  /** The client it acts as when it runs tools; null: any of its tenant (local mode, and the operator token). */
  readonly clientId: string | null;
  /** What the request was let in with; null in local mode. A connection ends with its credential. */
  readonly credential: { readonly id: string; readonly expiresAt: number | null } | null;
}

export const DEFAULT_TENANT = 'default';

/**
 * Whoever holds the operator token. Nobody else may be called so: nobody decides on their own call, so an agent of that
 * name would make calls that the operator cannot decide on.
 */
export const OPERATOR_NAME = 'operator';

/** Names the operator token among the credentials. */
export const OPERATOR_TOKEN_ID = 'operator-token';

/** Begins the ids of browser sessions among the credentials. */
export const SESSION_PREFIX = 'session:';

/**
 * May see what is counted of the whole server: local mode, the operator token, and sessions that were opened with it.
 * Every other credential is one tenant's.
 */
export function seesWholeServer({ kind, credential }: Principal): boolean {
  if (credential === null) return kind === 'local';
  return credential.id === OPERATOR_TOKEN_ID || credential.id.startsWith(SESSION_PREFIX);
}
