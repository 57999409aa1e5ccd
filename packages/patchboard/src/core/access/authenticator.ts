import type { Failure } from '../failures.ts';
import type { Principal } from './principal.ts';

/** What an identity may be read from: never the body. Names are in lower case. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The network address of the client, for what is limited per address; undefined if it came by no socket. */
  readonly ip: string | undefined;
}

/** Says who is asking, or why nobody may ask like this. Answers at once where it can. */
export interface Authenticator {
  authenticate(
    given: Credentials,
    /** Whether `X-Internal-API-Key` counts: on routes with `takesInternalKey`. */
    takesInternalKey?: boolean,
  ): Principal | Failure | Promise<Principal | Failure>;
  /** Whether what let the principal in still would: it may end while the rest of the request is on its way. */
  isStillGood(principal: Principal): boolean;
  /** Local mode: requests without a credential are accepted. */
  readonly isLocal: boolean;
  /** The agents of a tenant that a credential in force stands for; null: a caller may have any name. */
  agentNames(tenant: string): ReadonlySet<string> | null;
}

export interface OpenedSession {
  /** Goes into the cookie. */
  readonly id: string;
  /** Goes to the page, which sends it along with the cookie. */
  readonly proof: string;
  readonly maxAgeSeconds: number;
}

export interface LoginToken {
  readonly token: string;
  readonly maxAgeSeconds: number;
}

/** Browser sessions of operators. */
export interface SessionService {
  /** Of use once, for `maxAgeSeconds` at most. */
  issueLoginToken(): LoginToken;
  /** Resolves to a failure if the token opens nothing. */
  open(token: string, address: string | undefined): Promise<OpenedSession | Failure>;
  close(id: string): void;
  /** Told of the credential of a session that was closed. */
  onClosed(listener: (credentialId: string) => void): () => void;
}
