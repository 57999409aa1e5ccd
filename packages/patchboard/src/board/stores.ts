import { mkdir } from 'node:fs/promises';
import { failure, foreignText } from '../core/failures.ts';
import type { Log, Store } from '../core/ports.ts';
import { BadDatabaseUrl, connectionOptions } from '../postgres/connection-options.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { sqliteStore } from '../store/sqlite/sqlite-store.ts';
import { storeFileIn } from '../store/sqlite/store-file.ts';
import { BoardError } from '../sdk/board-error.ts';
import { schemaProblem } from '../settings/store-settings.ts';
import { DEFAULT_SCHEMA } from '../store/postgres/schema.ts';
import { openPostgresStore } from '../wiring/open-store.ts';

/** The storage of a board. */
export interface BoardStore {
  /**
   * @internal `retain`: as in `BoardOptions`; a store may ignore it and leave purging to the board. `log`: for problems
   * with its files.
   */
  open(options?: { readonly retain?: number | undefined; readonly log?: Log | undefined }): Promise<Store>;
  /** Null: the store uses no folder. */
  readonly folder: string | null;
  /** @internal True: a database that other machines reach. Network requests need a credential, and the board purges. */
  readonly isShared?: boolean;
}

/** Options of `postgres`. */
export interface PostgresOptions {
  /** Schema of the tables, created if it is missing. Default: `patchboard`. */
  readonly schema?: string;
  /** False: statements are not prepared, for PgBouncer before 1.21 in transaction mode. Default: true. */
  readonly prepare?: boolean;
}

/** Default of `retain` with `memory()`. */
export const DEFAULT_RETAIN = 10_000;

/** Stores calls in memory only, and keeps at most `retain` ended calls (default 10,000). */
export function memory(): BoardStore {
  return {
    folder: null,
    open: ({ retain = DEFAULT_RETAIN } = {}) => Promise.resolve(memoryStore({ digest: nodeDigest, retain })),
  };
}

/** Stores calls in a folder. Every receipt survives a crash. */
export function sqlite(folder: string): BoardStore {
  const open: BoardStore['open'] = async ({ log } = {}) => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await sqliteStore({ file: storeFileIn(folder), digest: nodeDigest, log });
  };
  return { folder, open };
}

/**
 * Stores calls in a PostgreSQL database, 15 or newer. Every receipt survives a crash. One process uses a schema at a time.
 * Throws `BoardError` if the URL or the schema is invalid; messages never contain the password.
 */
export function postgres(url: string, options: PostgresOptions = {}): BoardStore {
  const { schema = DEFAULT_SCHEMA, prepare = true } = options;
  const badSchema = schemaProblem(schema);
  const problem = urlProblem(url) ?? (badSchema === null ? null : `the schema ${badSchema}`);
  if (problem !== null) throw new BoardError(failure('body_invalid', foreignText(`postgres(): ${problem}`)));
  return {
    folder: null,
    isShared: true,
    open: ({ log } = {}) => openPostgresStore({ url, schema, prepare }, log),
  };
}

function urlProblem(url: string): string | null {
  try {
    connectionOptions(url);
    return null;
  } catch (error) {
    if (error instanceof BadDatabaseUrl) return `the URL ${error.message}`;
    throw error;
  }
}
