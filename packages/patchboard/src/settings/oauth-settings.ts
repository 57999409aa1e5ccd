import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { OAuthSettings } from '../sources/shared/oauth-settings.ts';
import type { ConfigValues } from './config-values.ts';
import { fileProblem } from './file-problem.ts';
import { httpAddress } from './http-address.ts';
import type { OAuthConfig } from './upstream-config.ts';

type Place = readonly string[];
type JwtConfig = NonNullable<OAuthConfig['private_key_jwt']>;

/** Returns the settings of a config that `upstreamProblems` accepted; null if it has none. */
export function oauthSettings(
  values: ConfigValues,
  config: OAuthConfig | undefined,
  place: Place,
): OAuthSettings | null {
  const { client_credentials: credentials, private_key_jwt: jwt } = config ?? {};
  if (credentials !== undefined) {
    const at = [...place, 'client_credentials'];
    return {
      kind: 'client_credentials',
      ...tokenRequest(values, credentials, at),
      clientSecret: values.secretVariable(credentials.secret_env, [...at, 'secret_env']),
    };
  }
  if (jwt === undefined) return null;
  const at = [...place, 'private_key_jwt'];
  const key = privateKey(values, jwt, at);
  return {
    kind: 'private_key_jwt',
    ...tokenRequest(values, jwt, at),
    privateKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    algorithm: jwt.algorithm ?? defaultAlgorithm(values, key, at),
    audience: jwt.audience ?? null,
  };
}

function tokenRequest(
  values: ConfigValues,
  config: { readonly client_id: string; readonly scope?: string; readonly token_url?: string },
  place: Place,
): Pick<OAuthSettings, 'clientId' | 'scope' | 'tokenUrl'> {
  return {
    clientId: config.client_id,
    scope: config.scope ?? null,
    tokenUrl:
      config.token_url === undefined ? null : httpAddress(values, config.token_url, [...place, 'token_url']),
  };
}

function privateKey(values: ConfigValues, { key_env, key_file }: JwtConfig, place: Place): KeyObject {
  const at = [...place, key_env === undefined ? 'key_file' : 'key_env'];
  const pem =
    key_env === undefined
      ? keyFile(values, resolve(values.folder, key_file ?? ''), at)
      : // A variable often has the line breaks as `\n`.
        values.secretVariable(key_env, at).replaceAll(String.raw`\n`, '\n');
  for (const text of [pem, pem.trim()]) values.addSecret(text);
  try {
    const key = createPrivateKey(pem);
    values.addSecret(key.export({ type: 'pkcs8', format: 'pem' }).toString().trim());
    return key;
  } catch {
    return values.fail(
      at,
      'must hold a private key in PEM, without a passphrase ("-----BEGIN PRIVATE KEY-----")',
    );
  }
}

function keyFile(values: ConfigValues, file: string, place: Place): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    return values.fail(place, `cannot read ${file}: ${fileProblem(error)}`);
  }
}

const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

function defaultAlgorithm(values: ConfigValues, key: KeyObject, place: Place): string {
  if (key.asymmetricKeyType === 'rsa') return 'RS256';
  if (key.asymmetricKeyType === 'ed25519') return 'EdDSA';
  const algorithm = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  return algorithm ?? values.fail(place, 'needs algorithm for a key of this kind');
}
