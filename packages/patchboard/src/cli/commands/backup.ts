import { open } from 'node:fs/promises';
import { PatchboardError, type PatchboardClient } from '@patchboard/client';
import type { LedgerHeadView } from '@patchboard/wire';
import { nodeDigest } from '../../runtime/digest.ts';
import { DEFAULT_SCHEMA } from '../../store/postgres/schema.ts';
import { checkCopy } from '../../store/sqlite/unused-store.ts';
import { createCompleteFile } from '../complete-file.ts';
import type { CliContext } from '../context.ts';
import { copyFolderStore, holdsStore } from '../data-folder.ts';
import { pgDumpLine } from '../database/pg-dump-line.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { fetchOverHttp } from '../fetch-over-http.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import type { Registrar } from '../program.ts';
import { withServerOrStore } from '../server-or-store.ts';
import {
  storeLocation,
  type DatabaseLocation,
  type StoreFlags,
  type StoreLocation,
} from '../store-location.ts';

interface BackupFlags extends OperatorOptions, StoreFlags {
  readonly force?: boolean;
}

interface Backup {
  readonly bytes: number;
  readonly head: LedgerHeadView;
}

const HELP = `
Copies the store (calls, runs, keys, grants, policy and ledger of all tenants)
while the server runs. The command asks the server at --url, with its operator
token. If that is not reachable and its address is on this machine, or with
--data, the command copies the data folder directly, which works only while no
server uses it. FILE is created when it is complete and was checked.

A store in PostgreSQL (--database, DATABASE_URL) is backed up by PostgreSQL's
own program: the command prints the line to type, without a password.

The file is the store alone. See "Backup" in docs/guides/operations.md for the
other files of a data folder, and for how to restore.

Example:
  $ patchboard backup patchboard-2026-07-28.db`;

/** Makes a consistent copy of the store, while its server runs or without one. */
export function backupCommand(context: CliContext): Registrar {
  return (program) => {
    withOperatorOptions(program.command('backup'))
      .description('write a consistent copy of the store to a file, also while the server runs')
      .argument('<file>', 'file to create, readable by this user only')
      .option('--force', 'replace an existing file')
      .option('--data <folder>', 'copy this data folder directly, while no server uses it')
      .option('--database <url>', 'print how to back up this PostgreSQL database (DATABASE_URL)')
      .option('--schema <name>', `schema of --database (default "${DEFAULT_SCHEMA}")`)
      .addHelpText('after', HELP)
      .action((file: string, flags: BackupFlags) => backUp(context, file, flags));
  };
}

async function backUp(context: CliContext, file: string, flags: BackupFlags): Promise<void> {
  const { output } = context;
  const location = storeLocation(context, flags);
  if (location.kind === 'postgres') return printDump(context, location, file, flags);
  const stop = new AbortController();
  const off = context.onInterrupt(() => stop.abort());
  try {
    // Ctrl-C aborts, see above.
    const signals = ['SIGHUP', 'SIGTERM'] as const;
    const options = { force: flags.force === true, name: 'backup', signals };
    const backup = await createCompleteFile(file, options, async (temporary) => {
      const made = await copyStore(context, flags, location, { target: temporary, signal: stop.signal });
      check(temporary, made);
      return made;
    });
    const { bytes, head } = backup;
    if (flags.json === true) output.json({ file, bytes, head });
    else output.data(`${file}: ${bytes} bytes, up to ledger row ${head.seq}`);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    output.note('interrupted: no backup was made');
    context.exitWith(EXIT.interrupted);
  } finally {
    off();
  }
}

function printDump(context: CliContext, location: DatabaseLocation, file: string, flags: BackupFlags): void {
  const { output } = context;
  const command = pgDumpLine(location, file);
  if (flags.json === true) return output.json({ command });
  output.note(`${location.shown} is in PostgreSQL: type this command, which asks for the password:`);
  output.data(command);
}

async function copyStore(
  context: CliContext,
  flags: BackupFlags,
  location: StoreLocation & { readonly kind: 'folder' },
  { target, signal }: { readonly target: string; readonly signal: AbortSignal },
): Promise<Backup> {
  const { folder } = location;
  if (flags.data !== undefined) {
    if (!holdsStore(folder)) throw new UsageError(`--data: ${folder} contains no store`);
    return await copyFolderStore(folder, target, signal);
  }
  return await withServerOrStore(context, flags, holdsStore(folder) ? location : null, {
    server: () =>
      asOperator(context, flags, (client) => download(client, target, signal), { fetch: fetchOverHttp }),
    store: () => copyFolderStore(folder, target, signal),
  });
}

async function download(client: PatchboardClient, target: string, signal: AbortSignal): Promise<Backup> {
  const { bytes, head, chunks } = await client.backup({ signal });
  const handle = await open(target, 'wx', 0o600);
  try {
    for await (const chunk of chunks) await handle.writeFile(chunk);
  } finally {
    await handle.close();
  }
  return { bytes, head };
}

/** Throws if the file is damaged, or ends at another ledger row than the copy was made at. */
function check(file: string, { head }: Backup): void {
  const found = checkCopy(file, nodeDigest);
  if (found.seq === head.seq && found.hash === head.hash) return;
  throw new PatchboardError(
    'bad_response',
    `the copy ends at ledger row ${found.seq} (${found.hash}), but was announced up to row ${head.seq} (${head.hash})`,
    { code: 'bad_response', recommendations: ['make the backup again'] },
  );
}
