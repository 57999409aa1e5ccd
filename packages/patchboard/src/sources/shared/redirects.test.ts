import { describe, expect, it } from 'vitest';
import { RedirectFailed } from './fetch-errors.ts';
import { nextHop, type Hop } from './redirects.ts';

const SECRETS = { authorization: 'Bearer x', cookie: 'a=b', 'x-api-key': 'k', 'proxy-authorization': 'y' };

function aHop(over: Partial<Hop> = {}): Hop {
  const headers = new Headers({ accept: 'text/plain', 'content-type': 'text/plain', ...SECRETS });
  return { url: new URL('https://a.example/x/y'), method: 'GET', headers, body: null, ...over };
}

function aRedirect(status: number, location: string): Response {
  return new Response(null, { status, headers: { location } });
}

describe('nextHop', () => {
  it.each([200, 300, 304])('returns null for status %d', (status) => {
    expect(nextHop(aHop(), aRedirect(status, '/z'))).toBeNull();
  });

  it('keeps method, headers and body within an origin', () => {
    const hop = aHop({ method: 'POST', body: 'b' });
    expect(nextHop(hop, aRedirect(307, '../z'))).toEqual({ ...hop, url: new URL('https://a.example/z') });
  });

  it.each([
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'HEAD', 'HEAD'],
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [302, 'PUT', 'PUT'],
    [308, 'DELETE', 'DELETE'],
  ])('after %d a %s becomes a %s', (status, method, expected) => {
    const next = nextHop(aHop({ method, body: 'b' }), aRedirect(status, '/z')) as Hop;
    expect(next.method).toBe(expected);
    expect(next.body).toBe(method === expected ? 'b' : null);
    expect(next.headers.has('content-type')).toBe(method === expected);
  });

  it.each(['https://b.example/', 'https://a.example:444/', '//b.example/', 'https://user:pass@b.example/'])(
    'sends no credentials to %s',
    (location) => {
      const next = nextHop(aHop(), aRedirect(302, location)) as Hop;
      expect([...next.headers]).toEqual([['accept', 'text/plain']]);
      expect(next.url.username + next.url.password).toBe('');
    },
  );

  it('sends no credentials either when a later redirect leads back', () => {
    const there = nextHop(aHop(), aRedirect(302, 'https://b.example/')) as Hop;
    const back = nextHop(there, aRedirect(302, 'https://a.example/')) as Hop;
    expect([...back.headers.keys()]).toEqual(['accept']);
  });

  it.each([
    ['a POST to another origin (307)', 'POST', 307, 'https://b.example/'],
    ['a POST to another origin (308)', 'POST', 308, 'https://b.example/'],
    ['a PUT to another origin (302)', 'PUT', 302, 'https://b.example/'],
    ['from https to http', 'GET', 302, 'http://a.example/x/y'],
    ['to a file', 'GET', 302, 'file:///etc/passwd'],
    ['to no URL', 'GET', 302, 'http://['],
  ])('refuses %s', (_, method, status, location) => {
    expect(
      nextHop(aHop({ method, body: method === 'GET' ? null : 'b' }), aRedirect(status, location)),
    ).toBeInstanceOf(RedirectFailed);
  });
});
