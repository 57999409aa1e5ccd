import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { HERITAGE_FILE } from '../../packs/heritage/names.ts';
import { sqliteHeritageStorage } from '../../packs/heritage/sqlite/sqlite-storage.ts';
import { postgresHeritageStorage } from '../../packs/heritage/postgres/postgres-storage.ts';
import { Connection } from '../../postgres/connection.ts';
import { connectionOptions } from '../../postgres/connection-options.ts';
import { connectAdvice } from '../../postgres/sql-errors.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import { firstCallIdAt } from '../../runtime/ids.ts';
import { DEFAULT_SCHEMA } from '../../store/postgres/schema.ts';
import { copyStore, type Compared, type CopyProgress, type CopyReport } from '../../store/copy/copy-store.ts';
import type { TableDigest } from '../../store/copy/row-digest.ts';
import { storeFileIn } from '../../store/sqlite/store-file.ts';
import { StoreRefused } from '../../store/store-refused.ts';
import type { CliContext } from '../context.ts';
import { withJsonOptions } from '../json-options.ts';
import { copyHeritage } from '../database/copy-heritage.ts';
import { holdsStore } from '../data-folder.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import type { Output } from '../output.ts';
import { databaseAt, type DatabaseLocation } from '../store-location.ts';
import { messageOf } from '../../core/failures.ts';

interface CopyFlags {
  readonly schema?: string;
  readonly json?: boolean;
}

/** A report with the heritage data, which is not part of the store; absent if there is none. */
interface WholeReport extends CopyReport {
  readonly heritage?: Compared<TableDigest>;
}

const HELP = `
FROM is a data folder that no server uses; it is not changed. TO is the URL of a
PostgreSQL database, by default DATABASE_URL, which keeps its password out of
the list of processes. Its schema is created, or must hold no data.

Moves calls, runs, idempotency keys, keys, grants, policy, tools, journals, the
ledger with its hashes, and the heritage data. Then both sides are read and
compared. A server refuses the schema until the copy is complete and the same; a
copy that was interrupted is repeated with the same command.

Example:
  $ patchboard data copy ./.patchboard postgres://board@db.example/board`;

const NOTE_EVERY_MS = 2000;
const CONNECT_MS = 5000;

export function registerCopy(data: Command, context: CliContext): void {
  withJsonOptions(data.command('copy'))
    .description('copy a data folder into PostgreSQL, and verify the copy')
    .argument('<from>', 'data folder')
    .argument('[to]', 'URL of the database (DATABASE_URL)')
    .option('--schema <name>', `schema to create (default "${DEFAULT_SCHEMA}")`)
    .addHelpText('after', HELP)
    .action((from: string, to: string | undefined, flags: CopyFlags) => copy(context, from, to, flags));
}

async function copy(
  context: CliContext,
  from: string,
  to: string | undefined,
  flags: CopyFlags,
): Promise<void> {
  const { output } = context;
  if (!holdsStore(from)) throw new UsageError(`${from} contains no store`);
  const url = to ?? context.environment['DATABASE_URL'] ?? '';
  if (url === '') throw new UsageError('name the database to copy to, or set DATABASE_URL');
  const location = databaseAt(url, to === undefined ? 'DATABASE_URL' : 'TO', flags.schema);
  const began = performance.now();
  const report = await run(from, location, noted(output));
  const seconds = (performance.now() - began) / 1000;
  if (!report.ok) context.exitWith(EXIT.toolFailed);
  if (flags.json === true) return output.json({ ...report, seconds: Number(seconds.toFixed(1)) });
  show(report, output);
  if (report.ok)
    output.note(`copied and verified in ${seconds.toFixed(1)} s: start a server on ${location.shown}`);
  else output.note('the copy differs, and no server uses it: repeat the command, or drop the schema');
}

async function run(
  from: string,
  location: DatabaseLocation,
  progress: (progress: CopyProgress) => void,
): Promise<WholeReport> {
  const { url, schema, shown } = location;
  const connection = new Connection({ options: connectionOptions(url), name: 'copy', prepare: false });
  try {
    await connection.open(CONNECT_MS).catch((error: unknown) => {
      throw new StoreRefused(shown, `cannot be opened (${messageOf(error)})`, connectAdvice(error));
    });
    let heritage: Compared<TableDigest> | null = null;
    const report = await copyStore({
      file: storeFileIn(from),
      target: { connection, schema, shown, storeId: randomUUID() },
      digest: nodeDigest,
      firstIdAt: firstCallIdAt,
      progress,
      beforeRelease: async () => {
        heritage = await moveHeritage(join(from, HERITAGE_FILE), location);
        return heritage === null || heritage.source.sha256 === heritage.target.sha256;
      },
    });
    return heritage === null ? report : { ...report, heritage };
  } finally {
    await connection.close();
  }
}

async function moveHeritage(
  file: string,
  { url, schema }: DatabaseLocation,
): Promise<Compared<TableDigest> | null> {
  if (!existsSync(file)) return null;
  const source = sqliteHeritageStorage(file);
  const target = await postgresHeritageStorage({ url, schema, prepare: false });
  try {
    return await copyHeritage(file, source, target);
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

/** Prints the progress at most every two seconds, and the end of each step. */
function noted(output: Output): (progress: CopyProgress) => void {
  let next = performance.now() + NOTE_EVERY_MS;
  return ({ step, table, rows, total }) => {
    if (performance.now() < next) return;
    next = performance.now() + NOTE_EVERY_MS;
    output.note(`${step} ${table}: ${rows} of ${total}`);
  };
}

function show({ tables, states, ledger, heritage }: WholeReport, output: Output): void {
  const equal = (is: boolean): string => (is ? 'same' : output.paint('red', 'DIFFERS'));
  const digests = [...tables, ...(heritage === undefined ? [] : [heritage])];
  output.table(
    [{ title: 'WHAT' }, { title: 'FROM' }, { title: 'TO' }, { title: 'SHA-256' }, { title: '' }],
    [
      ...digests.map(({ name, source, target }) => [
        name,
        String(source.rows),
        String(target.rows),
        source.sha256.slice(0, 16),
        equal(source.rows === target.rows && source.sha256 === target.sha256),
      ]),
      ...states.map(({ name, source, target }) => [
        `calls ${name}`,
        String(source),
        String(target),
        '',
        equal(source === target),
      ]),
      [
        'ledger',
        String(ledger.source.rows),
        String(ledger.target.rows),
        ledger.source.hash.slice(0, 16),
        ledger.source.problem ?? ledger.target.problem ?? equal(ledger.source.hash === ledger.target.hash),
      ],
    ],
  );
}
