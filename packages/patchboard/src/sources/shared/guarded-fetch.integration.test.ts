import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { aLoopbackServer, bodyOf } from '../../../test/support/a-loopback-server.ts';
import { closedAfterEach } from '../../../test/support/after-each.ts';
import {
  AddressNotAllowed,
  BodyTooLarge,
  CouldNotConnect,
  isBeforeSend,
  RedirectFailed,
} from './fetch-errors.ts';
import { guardedFetch, type GuardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts';

const closeLater = closedAfterEach();

async function aServer(handle: Parameters<typeof aLoopbackServer>[0]): Promise<string> {
  const server = await aLoopbackServer(handle);
  closeLater(() => server.close());
  return server.origin;
}

async function aClosedOrigin(): Promise<string> {
  const server = await aLoopbackServer(() => null);
  await server.close();
  return server.origin;
}

function aFetch(options: Partial<GuardedFetchOptions> = {}): GuardedFetch {
  const fetch = guardedFetch({ allowedOrigins: [], ...options });
  closeLater(() => fetch.close());
  return fetch;
}

function redirect(response: ServerResponse, status: number, location: string): void {
  response.writeHead(status, { location }).end('moved');
}

/** Resolves to the error that the promise rejects with. */
async function errorOf(promise: Promise<unknown>): Promise<Error> {
  return await promise.then(
    () => expect.fail('the promise resolved'),
    (error: unknown) => error as Error,
  );
}

describe('guardedFetch: addresses', () => {
  it('requests an allowed origin at a private address', async () => {
    const origin = await aServer((_, response) => response.end('hello'));
    const response = await aFetch({ allowedOrigins: [`${origin}/some/path`] })(`${origin}/x`);
    expect([response.url, await response.text()]).toEqual([`${origin}/x`, 'hello']);
  });

  it('refuses any other private address without a connection', async () => {
    let requests = 0;
    const origin = await aServer((_, response) => response.end(String((requests += 1))));
    const { port } = new URL(origin);
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '[::ffff:127.0.0.1]',
      '[::1]',
      '0.0.0.0',
      'localhost',
    ]) {
      const error = await errorOf(aFetch()(`http://${host}:${port}/`));
      expect(error).toBeInstanceOf(AddressNotAllowed);
      expect(isBeforeSend(error)).toBe(true);
    }
    expect(requests).toBe(0);
  });

  it('checks the address that a name resolves to, for each connection', async () => {
    const origin = await aServer((_, response) => response.setHeader('connection', 'close').end('hello'));
    const { port } = new URL(origin);
    const named = `http://internal.example:${port}`;
    const resolved: string[] = [];
    const resolve = async (hostname: string) => {
      resolved.push(hostname);
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const error = await errorOf(aFetch({ resolve })(named));
    expect(error).toBeInstanceOf(AddressNotAllowed);
    expect(error.message).toContain('internal.example resolves to 127.0.0.1');

    const allowed = aFetch({ resolve, allowedOrigins: [named] });
    expect(await (await allowed(named)).text()).toBe('hello');
    expect(await (await allowed(named)).text()).toBe('hello');
    await expect(allowed(`http://internal.example:81/`)).rejects.toThrow(AddressNotAllowed);
    expect(resolved).toHaveLength(4);
  });

  it('refuses a name if one of its addresses is not public', async () => {
    const addresses = [
      { address: '8.8.8.8', family: 4 },
      { address: '::ffff:10.0.0.1', family: 6 },
    ];
    const error = await errorOf(aFetch({ resolve: async () => addresses })('https://mixed.example/'));
    expect(error).toBeInstanceOf(AddressNotAllowed);
    expect(error.message).toContain('::ffff:10.0.0.1');
  });

  it.each(['file:///etc/passwd', 'ftp://example.com/', 'data:,x', 'blob:x', 'http://user:pass@example.com/'])(
    'refuses %s',
    async (url) => {
      await expect(aFetch({ allowedOrigins: ['http://example.com'] })(url)).rejects.toThrow(
        AddressNotAllowed,
      );
    },
  );
});

describe('guardedFetch: requests that were not sent', () => {
  it('tells a refused connection, a blocked port, an unknown name and a failed handshake', async () => {
    const plain = await aServer((_, response) => response.end());
    const closed = await aClosedOrigin();
    const blocked = 'http://127.0.0.1:6000';
    const tls = plain.replace('http:', 'https:');
    const unknown = 'http://unknown.example';
    const fetch = aFetch({
      allowedOrigins: [closed, blocked, tls, unknown],
      resolve: async (hostname) => {
        throw new Error(`getaddrinfo ENOTFOUND ${hostname}`);
      },
    });
    for (const origin of [closed, blocked, tls, unknown]) {
      const error = await errorOf(fetch(origin, { method: 'POST', body: 'x' }));
      expect(error).toBeInstanceOf(CouldNotConnect);
      expect(error.message).toContain(origin);
      expect(isBeforeSend(error)).toBe(true);
    }
  });

  it('tells a connection that ended after the request apart, and sends nothing twice', async () => {
    let requests = 0;
    const origin = await aServer((request) => {
      requests += 1;
      request.socket.destroy();
    });
    const error = await errorOf(aFetch({ allowedOrigins: [origin] })(origin));
    expect(error.name).toBe('RequestFailed');
    expect(isBeforeSend(error)).toBe(false);
    expect(requests).toBe(1);
  });

  it('does not send a request again after status 421', async () => {
    let requests = 0;
    const origin = await aServer((_, response) => {
      requests += 1;
      response.writeHead(421).end();
    });
    const error = await errorOf(aFetch({ allowedOrigins: [origin] })(origin, { method: 'POST', body: 'x' }));
    expect(error.message).toContain('421');
    expect(requests).toBe(1);
  });

  it('closes the connection to a server that responds with a status beyond 599', async () => {
    let isClosed = false;
    const origin = await aServer((request, response) => {
      request.socket.once('close', () => (isClosed = true));
      response.writeHead(999).write('x');
    });
    const error = await errorOf(aFetch({ allowedOrigins: [origin] })(origin));
    expect([error.name, isBeforeSend(error)]).toEqual(['RequestFailed', false]);
    await expect.poll(() => isClosed).toBe(true);
  });

  it('rejects with the reason of the signal', async () => {
    const abort = new AbortController();
    const reason = new Error('enough');
    const origin = await aServer(() => abort.abort(reason));
    const error = await errorOf(aFetch({ allowedOrigins: [origin] })(origin, { signal: abort.signal }));
    expect(error).toBe(reason);
  });

  it('rejects requests in flight when it is closed', async () => {
    let arrived = false;
    const origin = await aServer(() => void (arrived = true));
    const fetch = aFetch({ allowedOrigins: [origin] });
    const failed = errorOf(fetch(origin));
    await expect.poll(() => arrived).toBe(true);
    await fetch.close();
    expect(isBeforeSend(await failed)).toBe(false);
  });
});

describe('guardedFetch: redirects', () => {
  it('follows redirects within an allowed origin, with the body and the credentials', async () => {
    const origin = await aServer(async (request, response) => {
      if (request.url === '/a') redirect(response, 308, '/b');
      else response.end(`${request.method} ${request.headers.authorization} ${await bodyOf(request)}`);
    });
    const fetch = aFetch({ allowedOrigins: [origin] });
    const response = await fetch(`${origin}/a`, {
      method: 'POST',
      body: 'x',
      headers: { authorization: 'me' },
    });
    expect([response.url, await response.text()]).toEqual([`${origin}/b`, 'POST me x']);
  });

  it('does not follow a redirect to a private address of another origin', async () => {
    let requests = 0;
    const inner = await aServer((_, response) => response.end(String((requests += 1))));
    const origin = await aServer((_, response) => redirect(response, 302, inner));
    const error = await errorOf(aFetch({ allowedOrigins: [origin] })(origin));
    expect(error).toBeInstanceOf(RedirectFailed);
    expect(error.cause).toBeInstanceOf(AddressNotAllowed);
    expect(isBeforeSend(error)).toBe(false);
    expect(requests).toBe(0);
  });

  it('follows a redirect to another allowed origin without credentials', async () => {
    const other = await aServer((request, response) => response.end(JSON.stringify(request.headers)));
    const origin = await aServer((_, response) => redirect(response, 302, other));
    const headers = { authorization: 'Bearer secret', cookie: 'secret', 'x-api-key': 'secret' };
    const response = await aFetch({ allowedOrigins: [origin, other] })(origin, { headers });
    const text = await response.text();
    expect(text).toContain('accept');
    expect(text).not.toContain('secret');
  });

  it('does not send the body of a POST to another origin', async () => {
    let requests = 0;
    const other = await aServer((_, response) => response.end(String((requests += 1))));
    const origin = await aServer((_, response) => redirect(response, 307, other));
    const fetch = aFetch({ allowedOrigins: [origin, other] });
    await expect(fetch(origin, { method: 'POST', body: 'x' })).rejects.toThrow(RedirectFailed);
    expect(requests).toBe(0);
  });

  it('follows five redirects, and not six', async () => {
    const origin = await aServer((request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end('there');
      else redirect(response, 302, `/${left - 1}`);
    });
    const fetch = aFetch({ allowedOrigins: [origin] });
    expect(await (await fetch(`${origin}/5`)).text()).toBe('there');
    await expect(fetch(`${origin}/6`)).rejects.toThrow(RedirectFailed);
  });

  it('returns or refuses a redirect if the caller says so', async () => {
    const origin = await aServer((_, response) => redirect(response, 302, '/x'));
    const fetch = aFetch({ allowedOrigins: [origin] });
    expect((await fetch(origin, { redirect: 'manual' })).status).toBe(302);
    await expect(fetch(origin, { redirect: 'error' })).rejects.toThrow(RedirectFailed);
  });
});

describe('guardedFetch: bodies', () => {
  it('ends a response that has no end, without keeping it', async () => {
    let isClosed = false;
    let sent = 0;
    const chunk = Buffer.alloc(65_536, 'x');
    const origin = await aServer((_, response) => {
      response.on('close', () => void (isClosed = true));
      const pump = (): void => {
        // Ends by itself at 1 GiB, so that a missing limit fails the test.
        while (sent < 1_073_741_824) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', pump);
        }
        response.end();
      };
      pump();
    });
    const response = await aFetch({ allowedOrigins: [origin], maxBodyBytes: 1_000_000 })(origin);
    await expect(response.text()).rejects.toThrow(BodyTooLarge);
    await expect.poll(() => isClosed).toBe(true);
    expect(sent).toBeLessThan(50_000_000);
  });

  it('counts decompressed bytes', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const origin = await aServer((_, response) => response.setHeader('content-encoding', 'gzip').end(bomb));
    const fetch = aFetch({ allowedOrigins: [origin], maxBodyBytes: 1_000_000 });
    expect(bomb.length).toBeLessThan(100_000);
    await expect((await fetch(origin)).text()).rejects.toThrow(BodyTooLarge);
  });

  it('lets an event stream go on, and ends it at an event that is too large', async () => {
    const origin = await aServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let count = 0; count < 100; count += 1) response.write(`data: ${'x'.repeat(900)}\n\n`);
      response.write(`data: ${'x'.repeat(2000)}`);
    });
    const response = await aFetch({ allowedOrigins: [origin], maxBodyBytes: 1000 })(origin);
    let received = 0;
    const error = await errorOf(
      (async () => {
        for await (const part of response.body!) received += (part as Uint8Array).length;
      })(),
    );
    expect(error).toBeInstanceOf(BodyTooLarge);
    expect(received).toBeGreaterThanOrEqual(50_000);
  });

  it.each([
    ['a form', () => new URLSearchParams({ a: 'b c' }), 'application/x-www-form-urlencoded', 'a=b+c'],
    ['a blob', () => new Blob(['x'], { type: 'image/png' }), 'image/png', 'x'],
    ['bytes', () => new TextEncoder().encode('x'), 'none', 'x'],
    ['text', () => 'x', 'text/plain', 'x'],
    ['a stream', () => new Blob(['x']).stream(), 'none', 'x'],
    ['parts', aForm, 'multipart/form-data; boundary=', 'name="file"; filename="f"'],
  ])('sends %s', async (_, body, type, text) => {
    const origin = await aServer(async (request, response) =>
      response.end(`${request.headers['content-type'] ?? 'none'} ${await bodyOf(request)}`),
    );
    const fetch = aFetch({ allowedOrigins: [origin] });
    const received = await (await fetch(origin, { method: 'POST', body: body() })).text();
    expect(received.slice(0, type.length)).toBe(type);
    expect(received).toContain(text);
  });
});

function aForm(): FormData {
  const form = new FormData();
  form.append('file', new Blob(['x']), 'f');
  return form;
}
