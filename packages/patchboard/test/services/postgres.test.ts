import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';

import { waitFor } from '../support/wait-for.ts';
import { startPostgres } from './postgres.ts';
import type { PostgresService } from './postgres.ts';
import { POSTGRES_VERSIONS } from './postgres-binaries.ts';
import { aSchema, sharedPostgres } from './shared-postgres.ts';

async function connect(config: string | pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(config);
  client.on('error', () => undefined); // the end of a stopped server
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

async function aServer(...args: Parameters<typeof startPostgres>): Promise<PostgresService> {
  const service = await startPostgres(...args);
  onTestFinished(() => service.close());
  return service;
}

describe.each(POSTGRES_VERSIONS)('the shared PostgreSQL server, version %i', (version) => {
  it('is one server, and reports its own version', async () => {
    const [service, again] = await Promise.all([sharedPostgres(version), sharedPostgres(version)]);
    expect(again).toBe(service);
    const client = await connect(service.url);
    const { rows } = await client.query<{ server_version_num: string }>('show server_version_num');
    expect(Math.floor(Number(rows[0]?.server_version_num) / 10_000)).toBe(service.version);
    // Of Debian, any version is used if 15 is missing.
    if (version === 18) expect(service.version).toBe(18);
  });
});

describe('aSchema', () => {
  const used: string[] = [];

  it('names a schema of the test', async () => {
    const service = await sharedPostgres(15);
    const client = await connect(service.url);
    for (let count = 0; count < 2; count += 1) used.push(aSchema(service));
    for (const name of used) await client.query(`create schema ${name} create table t (a int)`);
    expect(new Set(used).size).toBe(2);
  });

  it('drops it when the test has ended', async () => {
    const client = await connect((await sharedPostgres(15)).url);
    const { rows } = await client.query('select nspname from pg_namespace where nspname = any($1)', [used]);
    expect(used).toHaveLength(2);
    expect(rows).toEqual([]);
  });
});

describe('a PostgreSQL server of a test', () => {
  it('keeps port and data over stop, crash and kill', async () => {
    const service = await aServer({ version: 18, settings: { max_connections: '7' } });
    const ends = [() => service.stop(), () => service.stop('immediate'), () => service.kill()];
    const first = await connect(service.url);
    await first.query('create table t (a int)');
    const { rows } = await first.query<{ max_connections: string }>('show max_connections');
    expect(rows[0]?.max_connections).toBe('7');
    for (const [index, end] of ends.entries()) {
      const client = await connect(service.url);
      await client.query('insert into t values ($1)', [index]);
      await end();
      await expect(connect(service.url)).rejects.toThrow();
      await service.start();
      const after = await connect(service.url);
      expect((await after.query('select a from t')).rowCount).toBe(index + 1);
    }
    await service.restart('immediate');
    expect((await (await connect(service.url)).query('select a from t')).rowCount).toBe(3);
  });

  it('ends, and removes its folder, when the process that started it is killed', async () => {
    const module = new URL('./postgres.ts', import.meta.url).href;
    const program = `const { startPostgres } = await import('${module}');
      const service = await startPostgres(); process.stdout.write(service.url); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [url] = (await once(child.stdout, 'data')) as [Buffer];
    const client = await connect(url.toString());
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    const folder = rows[0]?.data_directory ?? '';
    const pid = Number(readFileSync(`${folder}/postmaster.pid`, 'utf8').split('\n')[0]);
    child.kill('SIGKILL');
    await waitFor(() => expect(existsSync(folder)).toBe(false));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

describe('a PostgreSQL server with TLS', () => {
  it('has a certificate of localhost, and demands one of the role certified', async () => {
    const service = await aServer({ tls: true });
    const { ca, unknownCa, client } = service.certificates!;
    const at = (host: string, user: string, ssl: object): pg.ClientConfig => {
      return { host, port: service.port, user, database: 'postgres', ssl };
    };
    const trusted = { ca: readFileSync(ca) };
    const admin = await connect(at('localhost', 'postgres', trusted));
    await admin.query('create role certified login');
    await expect(connect(at('127.0.0.1', 'postgres', trusted))).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    await expect(connect(at('localhost', 'postgres', { ca: readFileSync(unknownCa) }))).rejects.toMatchObject(
      { code: expect.stringMatching(/UNABLE_TO_VERIFY|SELF_SIGNED/) },
    );
    await expect(connect(at('localhost', 'certified', trusted))).rejects.toThrow(/certificate/);
    const own = { ...trusted, cert: readFileSync(client.certificate), key: readFileSync(client.key) };
    const certified = await connect(at('localhost', 'certified', own));
    expect((await certified.query('select current_user')).rows).toEqual([{ current_user: 'certified' }]);
  });
});
