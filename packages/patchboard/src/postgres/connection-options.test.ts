import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BadDatabaseUrl, connectionOptions, shownUrl } from './connection-options.ts';

let folder: string;
let ca: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-url-'));
  ca = join(folder, 'ca.crt');
  writeFileSync(ca, 'CERTIFICATE');
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('connectionOptions', () => {
  it('reads all parts of a URL, decoded', () => {
    expect(connectionOptions('postgresql://us%40er:p%2Fw%3A@db.example:6000/my%20db')).toMatchObject({
      host: 'db.example',
      port: 6000,
      user: 'us@er',
      password: 'p/w:',
      database: 'my db',
      applicationName: 'patchboard',
    });
  });

  it('has the defaults of libpq', () => {
    const { username } = userInfo();
    expect(connectionOptions('postgres:///')).toMatchObject({
      host: 'localhost',
      port: 5432,
      user: username,
      password: undefined,
      database: username,
    });
    expect(connectionOptions('postgres://app@host')).toMatchObject({ user: 'app', database: 'app' });
  });

  it('prefers parameters of the query, and connects to a Unix socket without TLS', () => {
    const url = 'postgres:///db?host=/run/postgresql&port=5433&user=app&password=x&sslmode=require';
    expect(connectionOptions(url)).toMatchObject({
      host: '/run/postgresql',
      port: 5433,
      user: 'app',
      password: 'x',
      encryption: [false],
    });
  });

  it.each(['12#planted', '12/planted', '12?planted', '12?planted=x', '#planted'])(
    'refuses and does not show a URL with the password %s, which is not encoded',
    (password) => {
      const url = `postgres://me:${password}@db/board`;
      const read = (): unknown => connectionOptions(url);
      expect(read).toThrow('encode special characters of the password');
      expect(read).toThrow(expect.not.stringContaining('planted'));
      expect(shownUrl(url)).toBe('the database URL');
    },
  );

  it('reads an IPv6 address', () => {
    expect(connectionOptions('postgres://app@[::1]:5433/db').host).toBe('::1');
  });

  it.each([
    ['', [{ rejectUnauthorized: false }, false]],
    ['sslmode=prefer', [{ rejectUnauthorized: false }, false]],
    ['sslmode=allow', [false, { rejectUnauthorized: false }]],
    ['sslmode=disable', [false]],
    ['sslmode=require', [{ rejectUnauthorized: false }]],
  ])('tries the encryption that %s allows, in order', (query, expected) => {
    expect(connectionOptions(`postgres://app@host/db?${query}`).encryption).toEqual(expected);
  });

  it('verifies the chain for require with a root certificate and for verify-ca, the name too for verify-full', () => {
    for (const mode of ['require', 'verify-ca']) {
      const [tls] = connectionOptions(`postgres://app@host/db?sslmode=${mode}&sslrootcert=${ca}`).encryption;
      expect(tls).toMatchObject({ ca: 'CERTIFICATE', rejectUnauthorized: true });
      expect(tls).toHaveProperty('checkServerIdentity');
    }
    const [full] = connectionOptions(
      `postgres://app@host/db?sslmode=verify-full&sslrootcert=${ca}`,
    ).encryption;
    expect(full).toEqual({ ca: 'CERTIFICATE', rejectUnauthorized: true, host: 'host' });
    const [system] = connectionOptions(
      'postgres://app@host/db?sslmode=verify-full&sslrootcert=system',
    ).encryption;
    expect(system).toEqual({ rejectUnauthorized: true, host: 'host' });
  });

  it.each([
    ['mysql://host/db', /must be a URL such as postgres:/],
    ['host=localhost dbname=x', /must be a URL such as postgres:/],
    ['postgres://app@host:99999/db', /must be a URL|port/],
    ['postgres://app@host/db?sslmode=strict', /sslmode=strict; it is one of disable, allow/],
    ['postgres://app@host/db?sslmod=require', /unknown parameter sslmod; known are: .*sslmode/],
    ['postgres://app@host/db?sslmode=require&sslrootcert=/nowhere/ca.crt', /cannot be read \(ENOENT\)/],
    ['postgres://app@host/db?sslcert=/nowhere/c.crt', /only one of sslcert and sslkey/],
    ['postgres://app@host/db?connect_timeout=soon', /connect_timeout=soon/],
    ['postgres://app@host/db?channel_binding=yes', /channel_binding=yes/],
    ['postgres://a%ZZ@host/db', /%25/],
    ['postgres://app@one,two/db', /names several hosts/],
    ['postgres:///db?host=one,two', /names several hosts/],
  ])('refuses %s', (url, message) => {
    expect(() => connectionOptions(url)).toThrow(BadDatabaseUrl);
    expect(() => connectionOptions(url)).toThrow(message);
  });

  it('never shows the password', () => {
    for (const url of [
      'postgres://app:planted@host/db?sslmode=x',
      'postgres://app@host/db?password=planted&x=1',
    ])
      expect(() => connectionOptions(url)).toThrow(/^((?!planted).)*$/s);
    expect(shownUrl('postgres://app:planted@host/db?password=planted')).toBe('postgres://app@host/db');
    expect(shownUrl('postgres//:planted')).toBe('the database URL');
  });
});
