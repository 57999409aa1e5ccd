import type { Failure } from '../failures.ts';
import type { MaybePromise } from '../maybe-promise.ts';
import type { Principal } from './principal.ts';

/** The parts of a request that an identity may be read from, never its body. Header names are in lower case. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The network address of the client, for limits per address; undefined if the request came over no socket. */
  readonly ip: string | undefined;
}

/** Returns the principal of a request or the failure to respond with, synchronously where possible. */
export interface Authenticator {
  authenticate(
    given: Credentials,
    /** Whether `X-Internal-API-Key` is accepted: on routes with `takesInternalKey`. */
    takesInternalKey?: boolean,
  ): Principal | Failure | Promise<Principal | Failure>;
  /** Whether the principal's credential is still valid. It may expire or be revoked while the request body arrives. */
  isStillValid(principal: Principal): boolean;
  /** Local mode: requests without a credential are accepted. */
  readonly isLocal: boolean;
  /** The agent names of the tenant's valid credentials; null: a caller may have any name. */
  agentNames(tenant: string): ReadonlySet<string> | null;
}

export interface OpenedSession {
  /** Sent in the cookie. */
  readonly id: string;
  /** Sent to the page, which returns it in a header along with the cookie. */
  readonly proof: string;
  readonly maxAgeSeconds: number;
}

export interface LoginToken {
  readonly token: string;
  readonly maxAgeSeconds: number;
  /** Resolves when every node accepts the token. */
  readonly stored: MaybePromise<void>;
}

/** Browser sessions of operators and of keys. */
export interface SessionService {
  /** The token can be used once, within `maxAgeSeconds`. */
  issueLoginToken(): LoginToken;
  /** Opens a session with the operator token, a login token or the secret of a key. Resolves to a failure if it is invalid. */
  open(token: string, address: string | undefined): Promise<OpenedSession | Failure>;
  /** Ends the session on every node. */
  close(id: string): MaybePromise<void>;
  /** Calls `listener` with the credential id of each closed session. Returns a function that unsubscribes. */
  onClosed(listener: (credentialId: string) => void): () => void;
}
