import { open } from 'node:fs/promises';
import { PatchboardError, type PatchboardClient } from '@patchboard/client';
import type { LedgerHeadView } from '@patchboard/wire';
import { nodeDigest } from '../../runtime/digest.ts';
import { clientSettings } from '../../settings/environment.ts';
import { checkCopy } from '../../store/sqlite/unused-store.ts';
import { createCompleteFile } from '../complete-file.ts';
import type { CliContext } from '../context.ts';
import { copyFolderStore, holdsStore } from '../data-folder.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { fetchOverHttp } from '../fetch-over-http.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { withServerOrFolder } from '../server-or-folder.ts';
import type { Registrar } from '../program.ts';

interface BackupFlags extends OperatorOptions {
  readonly force?: boolean;
  readonly data?: string;
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
      .addHelpText('after', HELP)
      .action((file: string, flags: BackupFlags) => backUp(context, file, flags));
  };
}

async function backUp(context: CliContext, file: string, flags: BackupFlags): Promise<void> {
  const { output } = context;
  const stop = new AbortController();
  const off = context.onInterrupt(() => stop.abort());
  try {
    const options = { force: flags.force === true, name: 'backup' };
    const backup = await createCompleteFile(file, options, async (temporary) => {
      const made = await copyStore(context, flags, temporary, stop.signal);
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

async function copyStore(
  context: CliContext,
  flags: BackupFlags,
  target: string,
  signal: AbortSignal,
): Promise<Backup> {
  if (flags.data !== undefined) {
    if (!holdsStore(flags.data)) throw new UsageError(`--data: ${flags.data} contains no store`);
    return await copyFolderStore(flags.data, target, signal);
  }
  const { dataFolder } = clientSettings(context.environment);
  return await withServerOrFolder(context, flags, holdsStore(dataFolder), {
    server: () =>
      asOperator(context, flags, (client) => download(client, target, signal), { fetch: fetchOverHttp }),
    folder: () => copyFolderStore(dataFolder, target, signal),
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
