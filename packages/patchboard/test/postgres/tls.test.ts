import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { Connection } from '../../src/postgres/connection.ts';
import { connectionOptions } from '../../src/postgres/connection-options.ts';
import type { Certificates } from '../services/certificates.ts';
import { startPostgres } from '../services/postgres.ts';
import type { PostgresService } from '../services/postgres.ts';
import { sharedPostgres } from '../services/shared-postgres.ts';

let service: PostgresService;
let certificates: Certificates;

beforeAll(async () => {
  service = await startPostgres({ tls: true });
  certificates = service.certificates!;
  const admin = new pg.Client(service.url);
  await admin.connect();
  await admin.query('create role certified login');
  await admin.end();
});
afterAll(() => service.close());

/** Resolves to whether the connection is encrypted. */
async function connect(url: string): Promise<boolean> {
  const connection = new Connection({ options: connectionOptions(url), name: 'test', prepare: true });
  onTestFinished(() => connection.close());
  await connection.open(10_000);
  const text = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()';
  const { rows } = await connection.query<{ ssl: boolean }>({ name: 'ssl', text });
  return rows[0]?.ssl ?? false;
}

function urlOf(host: string, parameters: Readonly<Record<string, string>>, role = 'postgres'): string {
  return `postgres://${role}@${host}:${service.port}/postgres?${new URLSearchParams(parameters)}`;
}

describe('a connection to a server with TLS', () => {
  it.each([
    ['disable', false],
    ['allow', false],
    ['prefer', true],
    ['require', true],
  ])('is encrypted as sslmode=%s says: %s', async (sslmode, expected) => {
    expect(await connect(urlOf('127.0.0.1', { sslmode }))).toBe(expected);
  });

  it('is encrypted by default', async () => {
    expect(await connect(urlOf('127.0.0.1', {}))).toBe(true);
  });

  it('is verified: verify-ca accepts any name, verify-full only that of the certificate', async () => {
    const sslrootcert = certificates.ca;
    for (const host of ['localhost', '127.0.0.1'])
      expect(await connect(urlOf(host, { sslmode: 'verify-ca', sslrootcert })), host).toBe(true);
    expect(await connect(urlOf('localhost', { sslmode: 'verify-full', sslrootcert }))).toBe(true);
    await expect(connect(urlOf('127.0.0.1', { sslmode: 'verify-full', sslrootcert }))).rejects.toThrow(
      /127\.0\.0\.1 is not in the cert's list.*: connect by a name in the certificate, or use sslmode=verify-ca/s,
    );
  });

  it.each(['require', 'verify-ca', 'verify-full'])(
    'refuses an unknown authority with %s',
    async (sslmode) => {
      const url = urlOf('localhost', { sslmode, sslrootcert: certificates.unknownCa });
      await expect(connect(url)).rejects.toThrow(
        /certificate.*: set sslrootcert to the certificate of the authority/,
      );
    },
  );

  it('refuses an authority that only this server has with sslrootcert=system', async () => {
    const url = urlOf('localhost', { sslmode: 'verify-full', sslrootcert: 'system' });
    await expect(connect(url)).rejects.toThrow(/: set sslrootcert to the certificate of the authority/);
  });

  it('has a client certificate for a role that needs one', async () => {
    const { certificate: sslcert, key: sslkey } = certificates.client;
    const url = urlOf('localhost', { sslmode: 'require', sslcert, sslkey }, 'certified');
    expect(await connect(url)).toBe(true);
    await expect(connect(urlOf('localhost', { sslmode: 'require' }, 'certified'))).rejects.toThrow(
      /certificate/,
    );
    await expect(connect(urlOf('localhost', { sslmode: 'disable' }, 'certified'))).rejects.toThrow(/pg_hba/);
  });

  it('falls back to a plain connection with prefer, not with require, if no version of TLS is common', async () => {
    const admin = new pg.Client(service.url);
    await admin.connect();
    onTestFinished(() => admin.end());
    await admin.query("alter system set ssl_max_protocol_version = 'TLSv1.1'");
    await admin.query("alter system set ssl_min_protocol_version = 'TLSv1'");
    await admin.query('select pg_reload_conf()');
    // A connection that the server accepted before it read the file still has TLS.
    await expect.poll(() => connect(urlOf('127.0.0.1', { sslmode: 'prefer' }))).toBe(false);
    await expect(connect(urlOf('127.0.0.1', { sslmode: 'require' }))).rejects.toThrow();
  });
});

describe('a connection to a server without TLS', () => {
  it('is made with prefer, and refused with require and what to do', async () => {
    const { url } = await sharedPostgres(15);
    expect(await connect(`${url}?sslmode=prefer`)).toBe(false);
    await expect(connect(`${url}?sslmode=require`)).rejects.toThrow(
      'The server does not support SSL connections: turn on ssl in the server, or use sslmode=disable',
    );
  });
});
