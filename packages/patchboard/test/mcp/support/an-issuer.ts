import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';

/** An OAuth authorization server on loopback: metadata (RFC 8414), key set, and tokens for any client. */
export interface TestIssuer {
  readonly url: string;
  readonly jwksUrl: string;
  /** Signs these claims, whatever they are. */
  sign(claims: JWTPayload): Promise<string>;
  close(): Promise<void>;
}

const LIFETIME_S = 600;
const METADATA_PATH = '/.well-known/oauth-authorization-server';

export async function anIssuer(subject: string): Promise<TestIssuer> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }] };
  const sign = async (claims: JWTPayload): Promise<string> => {
    const exp = Math.floor(Date.now() / 1000) + LIFETIME_S;
    const header = { alg: 'ES256', kid: 'k1' };
    return await new SignJWT({ iss: url, sub: subject, exp, ...claims })
      .setProtectedHeader(header)
      .sign(privateKey);
  };
  const respond = async (request: IncomingMessage): Promise<unknown> => {
    switch (request.url) {
      case METADATA_PATH:
        return {
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/jwks.json`,
          response_types_supported: ['code'],
          grant_types_supported: ['client_credentials'],
          code_challenge_methods_supported: ['S256'],
        };
      case '/jwks.json':
        return jwks;
      case '/token': {
        // RFC 8707: the resource of the request is the audience of the token.
        const form = new URLSearchParams(await textOf(request));
        const claims = { aud: form.get('resource') ?? undefined, scope: form.get('scope') ?? undefined };
        return {
          access_token: await sign(claims as JWTPayload),
          token_type: 'Bearer',
          expires_in: LIFETIME_S,
        };
      }
      default:
        return null;
    }
  };
  const server = createServer((request, response) => {
    respond(request).then(
      (body) => {
        response.statusCode = body === null ? 404 : 200;
        response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
      },
      (error: unknown) => response.destroy(error as Error),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    jwksUrl: `${url}/jwks.json`,
    sign,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

/** What a client does with the URL of an issuer: reads its metadata, and asks for a token. */
export async function tokenFrom(
  issuer: string,
  wanted: { resource: string; scope: string },
): Promise<string> {
  const metadata = (await (await fetch(issuer + METADATA_PATH)).json()) as {
    issuer: string;
    token_endpoint: string;
  };
  if (metadata.issuer !== issuer) throw new Error(`the metadata of ${issuer} is that of ${metadata.issuer}`);
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...wanted });
  const response = await fetch(metadata.token_endpoint, { method: 'POST', body });
  return ((await response.json()) as { access_token: string }).access_token;
}
