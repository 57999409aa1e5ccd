import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig } from './config-file.ts';
import type { Environment } from './environment.ts';
import { storeSettings, type StoreSettings } from './store-settings.ts';

const URL_OF_DATABASE = 'postgres://board:p%40ssword@db.example:5433/board';

function settings(given: Environment, config?: string): StoreSettings {
  return storeSettings(given, config === undefined ? null : parseConfig(config, 'c.yaml'));
}

describe('the store in the settings', () => {
  it('is SQLite unless a URL is given', () => {
    expect(settings({})).toEqual({ kind: 'sqlite' });
    expect(settings({ DATABASE_URL: '', DATABASE_LISTEN_URL: '' }, 'http: {}')).toEqual({
      kind: 'sqlite',
    });
  });

  it('is PostgreSQL with DATABASE_URL', () => {
    expect(settings({ DATABASE_URL: URL_OF_DATABASE })).toEqual({
      kind: 'postgres',
      url: URL_OF_DATABASE,
      listenUrl: null,
      prepare: true,
      schema: 'patchboard',
    });
  });

  it('is PostgreSQL with store.url, and the environment takes precedence', () => {
    const config =
      'store: { url: "postgresql://a@b/c", listen_url: "postgres://d@e/f", prepare: false, schema: board_2 }';
    const fromFile = {
      kind: 'postgres',
      url: 'postgresql://a@b/c',
      listenUrl: 'postgres://d@e/f',
      prepare: false,
      schema: 'board_2',
    };
    expect(settings({}, config)).toEqual(fromFile);
    const given = { DATABASE_URL: URL_OF_DATABASE, DATABASE_LISTEN_URL: 'postgres://x@y/z' };
    expect(settings(given, config)).toEqual({
      ...fromFile,
      url: URL_OF_DATABASE,
      listenUrl: 'postgres://x@y/z',
    });
  });

  it.each([
    ['mysql://me:p%40ssword@db/board', 'must be a URL such as postgres://user:password@host:5432/database'],
    ['postgres://me:p/ssword@db/board', 'must be a URL such as postgres://'],
    ['p%40ssword', 'must be a URL such as postgres://'],
    [`${URL_OF_DATABASE}?sslmode=on`, 'has sslmode=on; it is one of disable, allow, prefer, require'],
    [`${URL_OF_DATABASE}?ssl=true`, 'has the unknown parameter ssl; known are: application_name'],
    [
      `${URL_OF_DATABASE}?sslmode=verify-full&sslrootcert=/nowhere/root.crt`,
      'has sslrootcert=/nowhere/root.crt, but that file cannot be read (ENOENT)',
    ],
    ['postgres://me:p%ssword@db/board', 'contains a % that encodes no character'],
  ])('refuses %s in one line that does not show the password', (url, problem) => {
    const refusals = [
      [() => settings({ DATABASE_URL: url }), 'DATABASE_URL'],
      [() => settings({ DATABASE_URL: URL_OF_DATABASE, DATABASE_LISTEN_URL: url }), 'DATABASE_LISTEN_URL'],
      [() => settings({}, `http: {}\nstore:\n  url: ${JSON.stringify(url)}`), 'c.yaml:3: store.url'],
    ] as const;
    for (const [refused, place] of refusals) {
      expect(refused).toThrow(ConfigError);
      expect(refused).toThrow(`${place} ${problem}`);
      expect(refused).toThrow(expect.not.stringMatching(/ssword|\n/));
    }
  });

  it.each(['Board', '2nd', 'a-b', 'a"b', 'a'.repeat(64)])('refuses the schema %s', (schema) => {
    const config = `store:\n  url: ${URL_OF_DATABASE}\n  schema: ${JSON.stringify(schema)}`;
    expect(() => settings({}, config)).toThrow('c.yaml:3: store.schema must be a name of 1 to 63 lower-case');
  });

  it.each(['pg_catalog', 'information_schema'])('refuses the schema %s of PostgreSQL', (schema) => {
    const config = `store: { url: "${URL_OF_DATABASE}", schema: ${schema} }`;
    expect(() => settings({}, config)).toThrow('c.yaml:1: store.schema is a name that PostgreSQL reserves');
  });

  it.each([
    [{}, 'store: { schema: board }', 'c.yaml:1: store.schema is for PostgreSQL: set DATABASE_URL'],
    [{ DATABASE_LISTEN_URL: 'postgres://a@b/c' }, '', 'DATABASE_LISTEN_URL is for PostgreSQL: set'],
    [{}, 'store: { database: a }', 'c.yaml:1: unknown key store.database'],
  ])('refuses %j with %j', (given, config, message) => {
    expect(() => settings(given, config)).toThrow(message);
  });
});
