import type { Command } from 'commander';
import { BadDatabaseUrl, connectionOptions } from '../postgres/connection-options.ts';
import { readConfig, type ConfigText } from '../settings/config-file.ts';
import { clientSettings, type Environment } from '../settings/environment.ts';
import { schemaProblem, storeSettings } from '../settings/store-settings.ts';
import { DEFAULT_SCHEMA } from '../store/postgres/schema.ts';
import { readUpstreamFile } from '../settings/upstream-file.ts';
import { upstreamNames } from '../settings/upstream-config.ts';
import type { CliContext } from './context.ts';
import { UsageError } from './exit-codes.ts';

/** The store that a command uses without a server. */
export type StoreLocation = { readonly kind: 'folder'; readonly folder: string } | DatabaseLocation;

export interface DatabaseLocation {
  readonly kind: 'postgres';
  /** Contains the password. */
  readonly url: string;
  readonly schema: string;
  /** Whether a server on this store prepares statements. */
  readonly prepare: boolean;
  /** The URL without its password, for messages. */
  readonly shown: string;
}

export interface StoreFlags {
  readonly data?: string;
  readonly database?: string;
  readonly schema?: string;
}

/** `what`: what the command does with the store. */
export function withStoreFlags(command: Command, what: string): Command {
  return withDatabaseFlags(command.option('--data <folder>', `${what} of this data folder`), what);
}

export function withDatabaseFlags(command: Command, what: string): Command {
  return command
    .option('--database <url>', `${what} of this PostgreSQL database (DATABASE_URL)`)
    .option('--schema <name>', `schema of --database (default "${DEFAULT_SCHEMA}")`);
}

/**
 * Flags take precedence over the environment and the config file (PATCHBOARD_CONFIG). A data folder and a database together
 * are a usage error: the command could use the wrong one.
 */
export function storeLocation({ environment }: CliContext, flags: StoreFlags): StoreLocation {
  if (flags.data !== undefined && flags.database !== undefined)
    throw new UsageError('--data and --database name two stores: omit one of them');
  if (flags.database !== undefined) return databaseAt(flags.database, '--database', flags.schema);
  const { dataFolder } = clientSettings(environment);
  const store = storeSettings(environment, configIn(environment));
  if (store.kind === 'sqlite') {
    if (flags.schema !== undefined)
      throw new UsageError('--schema is for PostgreSQL: add --database, or set DATABASE_URL');
    return { kind: 'folder', folder: flags.data ?? dataFolder };
  }
  if (flags.data !== undefined)
    throw new UsageError('--data and DATABASE_URL name two stores: omit --data, or unset DATABASE_URL');
  const location = databaseAt(store.url, 'DATABASE_URL', flags.schema ?? store.schema);
  return { ...location, prepare: store.prepare };
}

/** The config file of `PATCHBOARD_CONFIG`; null if it is not set. Throws a `ConfigError`. */
export function configIn(
  environment: Environment,
  dataFolder: string = clientSettings(environment).dataFolder,
): ConfigText | null {
  const file = environment['PATCHBOARD_CONFIG'] ?? '';
  if (file === '') return null;
  return readConfig(file, upstreamNames(readUpstreamFile(dataFolder).value));
}

/** `source`: where the URL was given. Throws a `UsageError` that never contains a password. */
export function databaseAt(url: string, source: string, schema: string = DEFAULT_SCHEMA): DatabaseLocation {
  const problem = schemaProblem(schema);
  if (problem !== null) throw new UsageError(`--schema ${problem}`);
  try {
    return { kind: 'postgres', url, schema, prepare: true, shown: connectionOptions(url).shown };
  } catch (error) {
    if (error instanceof BadDatabaseUrl) throw new UsageError(`${source} ${error.message}`);
    throw error;
  }
}
