import { BadDatabaseUrl, connectionOptions } from '../postgres/connection-options.ts';
import { DEFAULT_SCHEMA, SCHEMA_PATTERN } from '../store/postgres/schema.ts';
import { ConfigError, type ConfigText } from './config-file.ts';
import type { StoreConfig } from './config-schema.ts';
import { isSet, type Environment } from './environment.ts';

/** Where the server stores its state. */
export type StoreSettings =
  /** A file in the data folder. */
  { readonly kind: 'sqlite' } | PostgresSettings;

export interface PostgresSettings {
  readonly kind: 'postgres';
  /** Contains the password: messages show `shownUrl` of it. */
  readonly url: string;
  /** A direct connection for notifications, if `url` leads to a pooler. Null: as `url`. */
  readonly listenUrl: string | null;
  /** Whether statements are prepared. */
  readonly prepare: boolean;
  readonly schema: string;
}

/** A URL, and where it was set: the variable, or file, line and key. */
interface GivenUrl {
  readonly url: string;
  readonly from: string;
}

/** Schemas of PostgreSQL itself. */
const RESERVED_SCHEMA = /^(?:pg_.*|information_schema)$/;

/** The environment takes precedence over the config file. Throws a `ConfigError` that never contains a password. */
export function storeSettings(given: Environment, config: ConfigText | null): StoreSettings {
  const file: StoreConfig = config?.value.store ?? {};
  const places = new Map(Object.keys(file).map((key) => [key, placeOf(config, key)]));
  const url = givenUrl(given, 'DATABASE_URL', file.url, places.get('url'));
  const listenUrl = givenUrl(given, 'DATABASE_LISTEN_URL', file.listen_url, places.get('listen_url'));
  if (url === null) {
    const [unused = listenUrl?.from] = places.values();
    if (unused === undefined) return { kind: 'sqlite' };
    throw new ConfigError(`${unused} is for PostgreSQL: set DATABASE_URL or store.url too, or remove it`);
  }
  const { schema = DEFAULT_SCHEMA, prepare = true } = file;
  checkUrl(url);
  if (listenUrl !== null) checkUrl(listenUrl);
  const problem = schemaProblem(schema);
  if (problem !== null) throw new ConfigError(`${places.get('schema')} ${problem}`);
  return { kind: 'postgres', url: url.url, listenUrl: listenUrl?.url ?? null, prepare, schema };
}

/** Returns why a schema cannot have this name; null if it can. */
export function schemaProblem(schema: string): string | null {
  if (!SCHEMA_PATTERN.test(schema))
    return 'must be a name of 1 to 63 lower-case letters, digits and underscores that does not begin with a digit';
  return RESERVED_SCHEMA.test(schema) ? 'is a name that PostgreSQL reserves; choose another' : null;
}

function placeOf(config: ConfigText | null, key: string): string {
  return `${config?.file}:${config?.lineOf(['store', key])}: store.${key}`;
}

function givenUrl(
  given: Environment,
  variable: string,
  inFile: string | undefined,
  place: string | undefined,
): GivenUrl | null {
  const url = given[variable];
  if (isSet(url)) return { url, from: variable };
  return inFile === undefined || place === undefined ? null : { url: inFile, from: place };
}

function checkUrl({ url, from }: GivenUrl): void {
  try {
    connectionOptions(url);
  } catch (error) {
    if (error instanceof BadDatabaseUrl) throw new ConfigError(`${from} ${error.message}`);
    throw error;
  }
}
