import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { busSettings, type BusSettings } from './bus-settings.ts';
import { ConfigError, parseConfig } from './config-file.ts';
import type { Environment } from './environment.ts';
import { storeSettings } from './store-settings.ts';

const DATABASE = { DATABASE_URL: 'postgres://a:p@b/c' };

function settings(given: Environment, config = ''): BusSettings | null {
  const text = config === '' ? null : parseConfig(config, 'c.yaml');
  return busSettings(given, text, storeSettings(given, text));
}

describe('the bus in the settings', () => {
  it('is none on SQLite', () => {
    expect(settings({})).toBeNull();
    expect(settings({ NATS_URL: '' })).toBeNull();
  });

  it('is the database, without the pooler if a URL for that is set', () => {
    expect(settings(DATABASE)).toEqual({ kind: 'postgres', url: 'postgres://a:p@b/c' });
    expect(settings({ ...DATABASE, DATABASE_LISTEN_URL: 'postgres://d@e/f' })).toEqual({
      kind: 'postgres',
      url: 'postgres://d@e/f',
    });
  });

  it('is NATS with NATS_URL, or nats.url', () => {
    const config = 'nats: { url: "nats://file:4222" }';
    const fromFile = settings(DATABASE, config);
    const fromVariable = settings({ ...DATABASE, NATS_URL: 'tls://u:p@variable' }, config);
    expect(fromFile).toMatchObject({ kind: 'nats', options: { servers: ['file:4222'], requiresTls: false } });
    expect(fromVariable).toMatchObject({
      kind: 'nats',
      options: { servers: ['variable:4222'], user: 'u', password: 'p', requiresTls: true },
    });
  });

  it('reads the files for TLS', () => {
    const folder = mkdtempSync(join(tmpdir(), 'patchboard-bus-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const paths = ['ca', 'cert', 'key'].map((name) => {
      writeFileSync(join(folder, name), `PEM of ${name}`);
      return `${name}_file: ${join(folder, name)}`;
    });
    const given = { ...DATABASE, NATS_URL: 'nats://a' };
    expect(settings(given, `nats: { ${paths.join(', ')} }`)).toMatchObject({
      options: { requiresTls: true, tls: { ca: 'PEM of ca', cert: 'PEM of cert', key: 'PEM of key' } },
    });
    expect(() => settings(given, `nats:\n  ${paths[1]}`)).toThrow(
      'c.yaml:2: nats.cert_file: set cert_file and key_file together',
    );
  });

  it.each([
    [{ NATS_URL: 'nats://a:s3cr3t@b' }, '', 'NATS_URL is for several nodes on PostgreSQL: set DATABASE_URL'],
    [{}, 'nats: { url: "nats://b" }', 'c.yaml:1: nats.url is for several nodes on PostgreSQL'],
    [
      DATABASE,
      'http: {}\nnats: { ca_file: x }',
      'c.yaml:2: nats.ca_file needs a server: set NATS_URL or nats.url',
    ],
    [
      DATABASE,
      'nats: { url: "nats://b", ca_file: /nowhere/ca.pem }',
      'c.yaml:1: nats.ca_file: /nowhere/ca.pem cannot be read: there is no such file',
    ],
    [{ ...DATABASE, NATS_URL: 'http://a:s3cr3t@b' }, '', 'NATS_URL must be a URL such as nats://'],
    [DATABASE, 'nats: { url: "nats://a:s3cr3t@" }', 'c.yaml:1: nats.url must be a URL such as nats://'],
    [DATABASE, 'nats: { host: b }', 'c.yaml:1: unknown key nats.host'],
  ])('refuses %j with %j in one line, without the password', (given, config, message) => {
    const refused = (): unknown => settings(given, config);
    expect(refused).toThrow(ConfigError);
    expect(refused).toThrow(message);
    expect(refused).toThrow(expect.not.stringMatching(/s3cr3t|\n/));
  });
});
