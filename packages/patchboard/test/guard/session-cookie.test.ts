import { createServer, request, type RequestOptions, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createPatchboard, type Patchboard } from '../../src/index.ts';
import { closedAfterEach } from '../support/after-each.ts';
import { aPlatform, type TestPlatform } from './support/a-platform.ts';

const closeLater = closedAfterEach();

/** Whether the cookies of login and logout are `Secure`. */
async function cookies(server: TestPlatform, headers: Record<string, string>): Promise<readonly boolean[]> {
  const body = { token: server.operatorToken };
  const login = await server.ask({ method: 'POST', path: '/v1/session', headers, body });
  const logout = await server.ask({ method: 'DELETE', path: '/v1/session', headers });
  return [login, logout].map((response) => {
    expect(response.status).toBe(200);
    return isSecure(response.headers['set-cookie']);
  });
}

function isSecure(cookie: unknown): boolean {
  expect(String(cookie)).toMatch(/HttpOnly; SameSite=Strict/);
  return String(cookie).split('; ').includes('Secure');
}

describe('the cookie of a session', () => {
  it('is not Secure over plain HTTP, where a browser would not keep it, whatever the client says', async () => {
    const server = await aPlatform();
    closeLater(() => server.close());
    expect(await cookies(server, {})).toEqual([false, false]);
    expect(await cookies(server, { 'x-forwarded-proto': 'https' })).toEqual([false, false]);
  });

  it('is Secure behind a trusted proxy that sends https, and uses the last X-Forwarded-Proto', async () => {
    const server = await aPlatform({ config: { http: { trust_proxy: true } } });
    closeLater(() => server.close());
    expect(await cookies(server, { 'x-forwarded-proto': 'https' })).toEqual([true, true]);
    expect(await cookies(server, { 'x-forwarded-proto': 'http, HTTPS' })).toEqual([true, true]);
    expect(await cookies(server, { 'x-forwarded-proto': 'https, http' })).toEqual([false, false]);
  });

  // The operator token of a mounted board is unknown, so that only the logout sets the cookie.
  it('is Secure where a board is mounted in a server that speaks TLS', async () => {
    const board = await aBoard();
    // A key that both sides hold spares a certificate.
    const psk = Buffer.alloc(32, 7);
    const shared = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const;
    const server = createServer({ ...shared, pskCallback: () => psk } as ServerOptions, board.handler);
    closeLater(() => new Promise<void>((resolve) => server.close(() => resolve())));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const cookie = await new Promise((resolve, reject) => {
      const to = { host: '127.0.0.1', port, path: '/v1/session', method: 'DELETE', agent: false };
      const given = { ...shared, ...to, pskCallback: () => ({ psk, identity: 'test' }) };
      const asked = request(
        { ...given, checkServerIdentity: () => undefined } as RequestOptions,
        (response) => {
          response.resume();
          resolve(response.headers['set-cookie']);
        },
      );
      asked.on('error', reject).end();
    });
    expect(isSecure(cookie)).toBe(true);
  });

  it('is Secure for a request with an https URL', async () => {
    const board = await aBoard();
    const logout = async (url: string): Promise<boolean> => {
      const response = await board.fetch(new Request(`${url}/v1/session`, { method: 'DELETE' }));
      return isSecure(response.headers.get('set-cookie'));
    };
    expect(await logout('https://board.example')).toBe(true);
    expect(await logout('http://board.example')).toBe(false);
  });
});

async function aBoard(): Promise<Patchboard> {
  const board = await createPatchboard({ http: { allowedHosts: ['board.example'] } });
  closeLater(() => board.close());
  return board;
}
