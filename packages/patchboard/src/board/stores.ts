import { mkdir } from 'node:fs/promises';
import { failure, foreignText } from '../core/failures.ts';
import type { Log, Store } from '../core/ports.ts';
import { BadDatabaseUrl, connectionOptions } from '../postgres/connection-options.ts';
import { natsOptions, BadNatsUrl } from '../bus/nats-options.ts';
import { nodeDigest } from '../runtime/digest.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { sqliteStore } from '../store/sqlite/sqlite-store.ts';
import { storeFileIn } from '../store/sqlite/store-file.ts';
import { BoardError } from '../sdk/board-error.ts';
import type { BusSettings } from '../settings/bus-settings.ts';
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
  /**
   * @internal What carries notifications to other nodes; absent for a store of one process. With it, other machines reach the
   * database: network requests need a credential, and the board purges.
   */
  readonly bus?: BusSettings;
}

/** Options of `postgres`. */
export interface PostgresOptions {
  /** Schema of the tables, created if it is missing. Default: `patchboard`. */
  readonly schema?: string;
  /** False: statements are not prepared, for PgBouncer before 1.21 in transaction mode. Default: true. */
  readonly prepare?: boolean;
  /** The same database without a pooler in between, for notifications. Default: the URL of the store. */
  readonly listenUrl?: string;
  /** A NATS server for notifications between nodes, such as `nats://host:4222`. Default: LISTEN and NOTIFY of the database. */
  readonly natsUrl?: string;
}

/** Default of `retain` with `memory()`. */
const DEFAULT_RETAIN = 10_000;

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
 * Stores calls in a PostgreSQL database, 15 or newer. Every receipt survives a crash. Several processes, boards or servers, may
 * use a schema at the same time: each is a node. Throws `BoardError` if an option is invalid; messages never contain a password.
 */
export function postgres(url: string, options: PostgresOptions = {}): BoardStore {
  const { schema = DEFAULT_SCHEMA, prepare = true, listenUrl = url, natsUrl } = options;
  checked(() => connectionOptions(url), 'the URL');
  checked(() => connectionOptions(listenUrl), 'listenUrl');
  const badSchema = schemaProblem(schema);
  if (badSchema !== null) throw invalid(`the schema ${badSchema}`);
  return {
    folder: null,
    bus:
      natsUrl === undefined
        ? { kind: 'postgres', url: listenUrl }
        : { kind: 'nats', options: checked(() => natsOptions(natsUrl), 'natsUrl') },
    open: ({ log } = {}) => openPostgresStore({ url, schema, prepare }, log),
  };
}

/** Returns the value that `read` makes of an option. Throws `BoardError` if it cannot be used. */
function checked<Value>(read: () => Value, option: string): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadDatabaseUrl || error instanceof BadNatsUrl)
      throw invalid(`${option} ${error.message}`);
    throw error;
  }
}

function invalid(problem: string): BoardError {
  return new BoardError(failure('body_invalid', foreignText(`postgres(): ${problem}`)));
}
