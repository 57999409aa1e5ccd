/** How a client gets its own access tokens. Null members: not configured. */
export type OAuthSettings = ClientCredentialsSettings | PrivateKeyJwtSettings;

interface TokenRequestSettings {
  readonly clientId: string;
  readonly scope: string | null;
  /** Null: found in the metadata of the protected resource. */
  readonly tokenUrl: string | null;
}

export interface ClientCredentialsSettings extends TokenRequestSettings {
  readonly kind: 'client_credentials';
  readonly clientSecret: string;
}

export interface PrivateKeyJwtSettings extends TokenRequestSettings {
  readonly kind: 'private_key_jwt';
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  /** Such as `RS256` or `ES256`. */
  readonly algorithm: string;
  /** The `aud` of the assertion; null: the issuer if its metadata is read, else the token endpoint. */
  readonly audience: string | null;
}
