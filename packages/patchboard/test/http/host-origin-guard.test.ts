import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aServer, type TestServer } from './support/a-server.ts';
import { exchange } from './support/raw-http.ts';
import { echo } from './support/toy-tools.ts';

let server: TestServer;
const ROUTES = [
  '/',
  '/v1/tools',
  '/healthz',
  '/metrics',
  '/openapi.json',
  '/nope',
  '/v1/events',
  '/v1/tools/%zz',
];

beforeAll(async () => {
  server = await aServer({
    tools: [echo],
    allowedHosts: ['board.example', 'exact.example:9000'],
    allowedOrigins: ['https://app.example'],
  });
});
afterAll(async () => {
  await server.close();
});

async function ask(lines: readonly string[], path = '/v1/tools', method = 'GET'): Promise<string> {
  return await exchange(
    server.port,
    `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`,
  );
}

function statusOf(response: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1]);
}

describe('Host', () => {
  it.each(ROUTES)('a foreign one is 421 on %s', async (path) => {
    const response = await ask([`Host: evil.example:${server.port}`], path);
    expect(statusOf(response)).toBe(421);
    expect(response).toContain('"code":"misdirected"');
  });

  it.each(['localhost', '127.0.0.1', '[::1]', 'LOCALHOST'])('%s at the bound port is ours', async (name) => {
    expect(statusOf(await ask([`Host: ${name}:${server.port}`]))).toBe(200);
  });

  it.each(['localhost', 'localhost:1', 'localhost.evil.example', '127.0.0.1.nip.io', ''])(
    '"%s" is not',
    async (host) => {
      expect(statusOf(await ask([`Host: ${host}`]))).toBe(421);
    },
  );

  it('one that is allowed by name is served at any port, one with a port at that port', async () => {
    expect(statusOf(await ask(['Host: board.example']))).toBe(200);
    expect(statusOf(await ask(['Host: board.example:1234']))).toBe(200);
    expect(statusOf(await ask(['Host: exact.example:9000']))).toBe(200);
    expect(statusOf(await ask(['Host: exact.example:9001']))).toBe(421);
  });

  it.each(ROUTES)('two of them are 400 on %s, the same or not', async (path) => {
    const ours = `Host: localhost:${server.port}`;
    for (const second of [ours, `hOsT: localhost:${server.port}`, 'Host: evil.example']) {
      const response = await ask([ours, second], path);
      expect(statusOf(response)).toBe(400);
      expect(response).toContain('the Host header is there more than once');
    }
  });
});

describe('Origin', () => {
  const host = (): string => `Host: localhost:${server.port}`;

  it.each(['http://evil.example', 'null', 'http://localhost:1', 'https://app.example.evil', 'file://'])(
    '%s is 403 and records nothing',
    async (origin) => {
      const body = '{"run_id":"r"}';
      const before = await server.store.ledgerHead();
      const response = await ask(
        [host(), `Origin: ${origin}`, 'Content-Type: application/json', `Content-Length: ${body.length}`],
        '/v1/tools/echo/invoke',
        'POST',
      );
      expect(statusOf(response)).toBe(403);
      expect(response).not.toMatch(/access-control/i);
      expect((await server.store.ledgerHead()).seq).toBe(before.seq);
    },
  );

  it('our own passes, without CORS headers', async () => {
    const response = await ask([host(), `Origin: http://localhost:${server.port}`]);
    expect(statusOf(response)).toBe(200);
    expect(response).not.toMatch(/access-control/i);
  });

  it('an allowed one passes with CORS headers, on receipts and streams too', async () => {
    const origin = 'Origin: https://app.example';
    expect(await ask([host(), origin])).toMatch(/access-control-allow-origin: https:\/\/app\.example/i);
    const response = await server.post(
      '/v1/tools/echo/invoke',
      { run_id: 'r' },
      { headers: { origin: 'https://app.example' } },
    );
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
    const { tool_call_id: id } = response.json;
    const stream = await fetch(`${server.url}/v1/tool_calls/${id}/events`, {
      headers: { origin: 'https://app.example' },
    });
    expect(stream.headers.get('access-control-allow-origin')).toBe('https://app.example');
    await stream.text();
  });

  it('an allowed one gets Vary with every header that the response depends on', async () => {
    const headers = { origin: 'https://app.example' };
    for (const status of [200, 304]) {
      const response = await server.get('/v1/tools?format=mcp', { headers });
      expect([response.status, response.headers.get('vary')]).toEqual([status, 'origin, accept']);
      Object.assign(headers, { 'if-none-match': response.headers.get('etag') });
    }
  });

  it('serves the preflight request of an allowed origin only', async () => {
    const wants = 'Access-Control-Request-Method: POST';
    const allowed = await ask(
      [host(), 'Origin: https://app.example', wants],
      '/v1/tools/echo/invoke',
      'OPTIONS',
    );
    expect(statusOf(allowed)).toBe(204);
    expect(allowed).toMatch(/access-control-allow-methods: GET, POST/i);
    for (const name of ['authorization', 'x-tenant-id', 'x-site-id', 'x-trace-id', 'x-user-id'])
      expect(allowed).toMatch(new RegExp(`access-control-allow-headers: [^\\r]*\\b${name}\\b`, 'i'));
    const foreign = await ask(
      [host(), 'Origin: https://evil.example', wants],
      '/v1/tools/echo/invoke',
      'OPTIONS',
    );
    expect(statusOf(foreign)).toBe(403);
  });

  describe('the headers of MCP', () => {
    const preflight = async (requested: string, origin = 'https://app.example'): Promise<string[]> => {
      const response = await ask(
        [
          host(),
          `Origin: ${origin}`,
          'Access-Control-Request-Method: DELETE',
          `Access-Control-Request-Headers: ${requested}`,
        ],
        '/mcp',
        'OPTIONS',
      );
      expect(statusOf(response)).toBe(origin === 'https://app.example' ? 204 : 403);
      expect(
        response.match(/access-control-allow-methods: ([^\r]*)/i)?.[1]?.split(', ') ?? ['DELETE'],
      ).toContain('DELETE');
      return response.match(/access-control-allow-headers: ([^\r]*)/i)?.[1]?.split(', ') ?? [];
    };

    it('are allowed for an allowed origin', async () => {
      const names = ['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'last-event-id'];
      expect(await preflight('mcp-method')).toEqual(expect.arrayContaining(names));
      expect(await preflight('mcp-method', 'https://evil.example')).toEqual([]);
    });

    it('that carry arguments are allowed by name', async () => {
      const fixed = await preflight('');
      const added = async (requested: string): Promise<string[]> =>
        (await preflight(requested)).filter((name) => !fixed.includes(name));
      expect(await added('mcp-param-region, Mcp-Param-City,mcp-param-city')).toEqual([
        'mcp-param-region',
        'mcp-param-city',
      ]);
      expect(
        await added('x-evil, mcp-param-, mcp-params, xmcp-param-a, mcp-param-a b, mcp-param-é, *'),
      ).toEqual([]);
      expect(await added(`mcp-param-${'x'.repeat(129)}`)).toEqual([]);
      const many = Array.from({ length: 200 }, (_, index) => `mcp-param-${index}`);
      expect(await added(many.join(','))).toHaveLength(64);
    });

    it('can be read by an allowed origin, and the challenge', async () => {
      const response = await ask([host(), 'Origin: https://app.example']);
      const exposed = response.match(/access-control-expose-headers: ([^\r]*)/i)?.[1]?.split(', ');
      expect(exposed).toEqual(expect.arrayContaining(['mcp-session-id', 'www-authenticate', 'retry-after']));
    });
  });

  it('a cross-site request without an origin is 403, one from a bookmark is not', async () => {
    expect(statusOf(await ask([host(), 'Sec-Fetch-Site: cross-site']))).toBe(403);
    expect(statusOf(await ask([host(), 'Sec-Fetch-Site: cross-site', 'Origin: https://app.example']))).toBe(
      200,
    );
    expect(statusOf(await ask([host(), 'Sec-Fetch-Site: none']))).toBe(200);
    expect(
      statusOf(await ask([host(), 'Sec-Fetch-Site: same-origin', `Origin: http://localhost:${server.port}`])),
    ).toBe(200);
  });
});

describe('local mode', () => {
  it.each([
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-anything',
    'x-original-url',
    'forwarded',
    'via',
    'x-real-ip',
    'x-client-ip',
    'x-cluster-client-ip',
    'true-client-ip',
    'cf-connecting-ip',
    'fastly-client-ip',
  ])('%s ends it', async (name) => {
    const response = await server.get('/v1/tools', { headers: { [name]: '1.2.3.4' } });
    expect(response.json).toMatchObject({ status: 401, code: 'auth_required' });
    expect(response.json.detail).toContain(name);
  });

  it('a credential that is not ours is not ignored', async () => {
    const response = await server.get('/v1/tools', { headers: { authorization: 'Bearer pb_nonsense' } });
    expect(response.json).toMatchObject({ status: 401, code: 'auth_required' });
  });
});

describe('security headers of every response', () => {
  it.each(['/v1/tools', '/healthz', '/nope'])('%s has a policy that allows nothing', async (path) => {
    const { headers } = await server.get(path);
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });

  it('a receipt too', async () => {
    const { headers } = await server.post('/v1/tools/echo/invoke', { run_id: 'r' });
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('the page for people has a policy without exceptions, nothing inline, and loads only what is there', async () => {
    const page = await fetch(`${server.url}/`);
    const html = await page.text();
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy');
    expect(policy).toMatch(/^default-src 'self'; script-src 'self'; style-src 'self'; /);
    expect(policy).not.toMatch(/unsafe|data:|https?:/);
    expect(html).not.toMatch(/<style|style=|\son\w+=|<script>/);
    for (const [, address] of html.matchAll(/(?:href|src)="([^"]+)"/g))
      expect((await fetch(server.url + address)).status).toBe(200);
  });
});
