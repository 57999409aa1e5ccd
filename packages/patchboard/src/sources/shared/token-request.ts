import { randomUUID } from 'node:crypto';
import { messageOf } from '../../core/failures.ts';
import { isRecord } from '@patchboard/wire/json';
import { visibleLine } from '../../core/tools/tool-names.ts';
import { AddressNotAllowed, TokenUnavailable } from './fetch-errors.ts';
import type { OAuthSettings, PrivateKeyJwtSettings } from './oauth-settings.ts';
import type { SecretMask } from './secret-mask.ts';
import type { OAuthFetch, TokenEndpoint } from './token-endpoint.ts';

export interface AccessToken {
  readonly value: string;
  /** Null: the authorization server does not say. */
  readonly lifetimeMs: number | null;
}

export interface TokenRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: URLSearchParams;
  /** The credentials in it. */
  readonly secrets: readonly string[];
}

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const ASSERTION_SECONDS = 60;
/** A larger part of an error of the authorization server is not shown. */
const SHOWN_CHARACTERS = 300;

/** Makes a request of grant type `client_credentials`: `client_secret_basic`, or a signed assertion (RFC 7523). */
export async function tokenRequest(
  settings: OAuthSettings,
  { audience, resource }: TokenEndpoint,
  now: number,
): Promise<TokenRequest> {
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  if (settings.scope !== null) body.set('scope', settings.scope);
  if (resource !== null) body.set('resource', resource);
  if (settings.kind === 'client_credentials') {
    const { clientId, clientSecret } = settings;
    const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret)}`;
    const authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    return { headers: { authorization }, body, secrets: [clientSecret, authorization] };
  }
  const assertion = await signedAssertion(settings, settings.audience ?? audience, now);
  body.set('client_id', settings.clientId);
  body.set('client_assertion_type', ASSERTION_TYPE);
  body.set('client_assertion', assertion);
  return { headers: {}, body, secrets: [assertion] };
}

/** Sends the request. Throws `TokenUnavailable`, masked: the server may repeat the credentials, and the URL may hold one. */
export async function requestToken(
  { url }: TokenEndpoint,
  { headers, body }: TokenRequest,
  fetch: OAuthFetch,
  mask: Pick<SecretMask, 'text'>,
): Promise<AccessToken> {
  let response: Response;
  let text: string;
  try {
    const init = {
      method: 'POST',
      headers: { ...headers, accept: 'application/json' },
      body,
    };
    // A redirect would lose the credentials or take them elsewhere.
    response = await fetch(url, { ...init, redirect: 'manual' });
    text = await response.text();
  } catch (error) {
    throw new TokenUnavailable(mask.text(messageOf(error)), {
      mayRetry: !(error instanceof AddressNotAllowed),
    });
  }
  const shownUrl = mask.text(url);
  if (!response.ok) throw refusal(shownUrl, response.status, text, mask);
  return accessTokenIn(shownUrl, parsed(text));
}

async function signedAssertion(
  { clientId, privateKey, algorithm }: PrivateKeyJwtSettings,
  audience: string,
  now: number,
): Promise<string> {
  const { importPKCS8, SignJWT } = await import('jose');
  try {
    const key = await importPKCS8(privateKey, algorithm);
    const issuedAt = Math.floor(now / 1000);
    return await new SignJWT()
      .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(audience)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ASSERTION_SECONDS)
      .setJti(randomUUID())
      .sign(key);
  } catch (error) {
    throw new TokenUnavailable(
      `the private key of client ${clientId} is not a PKCS #8 key for ${algorithm}: ${messageOf(error)}`,
      { mayRetry: false },
    );
  }
}

/** RFC 6749, section 2.3.1: both parts are encoded as in a form before base64. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

function refusal(
  url: string,
  status: number,
  text: string,
  mask: Pick<SecretMask, 'text'>,
): TokenUnavailable {
  const body = parsed(text);
  const words = isRecord(body) ? [body['error'], body['error_description']] : [];
  const shown = words
    .filter((word) => typeof word === 'string')
    // Before it is truncated, because the rest of a value is not masked, and again after hidden characters are removed.
    .map((word) => mask.text(visibleLine(mask.text(word))))
    .join(': ');
  const detail = shown === '' ? '' : ` (${shown.slice(0, SHOWN_CHARACTERS)})`;
  const mayRetry = status >= 500 || status === 429 || status === 408;
  return new TokenUnavailable(`${url} responded with status ${status}${detail}`, { mayRetry });
}

function accessTokenIn(url: string, body: unknown): AccessToken {
  const { access_token: value, token_type: type, expires_in: lifetime } = isRecord(body) ? body : {};
  if (typeof value !== 'string' || value === '')
    throw new TokenUnavailable(`the response of ${url} contains no access_token`, { mayRetry: false });
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer')
    throw new TokenUnavailable(`the response of ${url} has a token_type other than Bearer`, {
      mayRetry: false,
    });
  const seconds = Number(lifetime);
  return { value, lifetimeMs: lifetime !== undefined && seconds > 0 ? seconds * 1000 : null };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
