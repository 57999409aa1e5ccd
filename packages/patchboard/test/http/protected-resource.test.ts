import { describe, expect, it } from 'vitest';
import { createPatchboard, type HttpOptions } from '../../src/index.ts';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { closedAfterEach } from '../support/after-each.ts';

const ISSUER = 'https://issuer.example';
const AUTH = { jwt: { issuer: ISSUER, audience: 'patchboard', secret_env: 'TOKEN_SECRET' } };
const SECRET = 'a secret of at least thirty-two characters';
const PATHS = ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource'] as const;

const closeLater = closedAfterEach();

async function serving(config: Record<string, unknown>): Promise<TestPlatform> {
  const server = await aPlatform({ config, environment: { TOKEN_SECRET: SECRET } });
  closeLater(() => server.close());
  return server;
}

describe('the metadata of /mcp', () => {
  it('names the endpoint and the issuer, without a credential, at both addresses', async () => {
    const server = await serving({ auth: AUTH });
    for (const path of PATHS) {
      const { status, json, headers } = await server.ask({ method: 'GET', path });
      expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
      expect(json).toEqual({
        resource: `http://127.0.0.1:${server.port}/mcp`,
        authorization_servers: [ISSUER],
        scopes_supported: ['tools:call', 'calls:read'],
        bearer_methods_supported: ['header'],
        resource_name: 'Patchboard',
      });
    }
  });

  it('does not exist without an issuer, and the refusal says why', async () => {
    const server = await serving({});
    for (const path of PATHS) {
      const { status, json } = await server.ask({ method: 'GET', path });
      expect([status, json.code]).toEqual([404, 'route_not_found']);
      expect(json.detail).toContain('auth.jwt is not set');
    }
  });

  it('is readable by pages of an allowed origin only', async () => {
    const server = await serving({ auth: AUTH, http: { allowed_origins: ['https://app.example'] } });
    const from = async (origin: string): Promise<unknown[]> => {
      const { status, headers } = await server.ask({ method: 'GET', path: PATHS[0], headers: { origin } });
      return [status, headers['access-control-allow-origin']];
    };
    expect(await from('https://app.example')).toEqual([200, 'https://app.example']);
    expect(await from('https://evil.example')).toEqual([403, undefined]);
  });
});

describe('the URL of the resource', () => {
  const http = { allowed_hosts: ['board.example'] };
  const resourceOf = async (server: TestPlatform, headers: Record<string, string>): Promise<unknown> => {
    const { status, json } = await server.ask({ method: 'GET', path: PATHS[0], headers });
    return status === 200 ? json.resource : status;
  };

  it('has only a host that passed the guard', async () => {
    const server = await serving({ auth: AUTH, http });
    const own = `127.0.0.1:${server.port}`;
    expect(await resourceOf(server, { host: 'board.example' })).toBe('http://board.example/mcp');
    expect(await resourceOf(server, { host: 'BOARD.example:80' })).toBe('http://board.example/mcp');
    expect(await resourceOf(server, { host: 'board.example:8443' })).toBe('http://board.example:8443/mcp');
    for (const host of [
      'evil.example',
      'board.example.evil.example',
      'board.example@evil.example',
      'evil.example/board.example',
      'board.example:80@evil.example',
    ])
      expect(await resourceOf(server, { host })).toBe(421);
    for (const name of ['x-forwarded-host', 'x-host', 'x-original-host', 'x-forwarded-server'])
      expect(await resourceOf(server, { host: own, [name]: 'evil.example' })).toBe(`http://${own}/mcp`);
    expect(await resourceOf(server, { host: own, forwarded: 'host=evil.example;proto=https' })).toBe(
      `http://${own}/mcp`,
    );
  });

  it('does not take the scheme or the host from headers of a client', async () => {
    const server = await serving({ auth: AUTH, http });
    const headers = { host: 'board.example', 'x-forwarded-proto': 'https' };
    expect(await resourceOf(server, headers)).toBe('http://board.example/mcp');
  });

  it('has the scheme that a trusted proxy forwards, and not the host', async () => {
    const server = await serving({ auth: AUTH, http: { ...http, trust_proxy: true } });
    const by = async (proto: string, more = {}): Promise<unknown> =>
      await resourceOf(server, { host: 'board.example', 'x-forwarded-proto': proto, ...more });
    expect(await by('https')).toBe('https://board.example/mcp');
    expect(await by('https', { host: 'board.example:443' })).toBe('https://board.example/mcp');
    expect(await by('http')).toBe('http://board.example/mcp');
    // The proxy appends; the client wrote the rest.
    expect(await by('http, https')).toBe('https://board.example/mcp');
    expect(await by('javascript')).toBe('http://board.example/mcp');
    expect(await by('https://evil.example/?')).toBe('http://board.example/mcp');
    expect(await by('https', { 'x-forwarded-host': 'evil.example' })).toBe('https://board.example/mcp');
  });

  it('contains the prefix of a mounted board', async () => {
    const board = await createPatchboard({ http: mountedHttp });
    closeLater(() => board.close());
    for (const path of PATHS) {
      const response = await board.fetch(new Request(`https://app.example/api/board${path}`));
      expect(await response.json()).toMatchObject({
        resource: 'https://app.example/api/board/mcp',
        authorization_servers: [ISSUER],
      });
    }
    const foreign = await board.fetch(new Request(`https://evil.example/api/board${PATHS[0]}`));
    expect(foreign.status).toBe(421);
  });
});

const mountedHttp: HttpOptions = {
  prefix: '/api/board',
  allowedHosts: ['app.example'],
  jwt: { issuer: ISSUER, audience: 'patchboard', keys: { kind: 'secret', secret: SECRET } },
};
