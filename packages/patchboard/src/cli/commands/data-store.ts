import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { withJsonOptions } from '../json-options.ts';
import { acceptLossIn, folderOperator, holdsStore, withKeyService } from '../data-folder.ts';
import { UsageError } from '../exit-codes.ts';
import { valueOrThrow } from '../key-backend.ts';
import { storeLocation, type StoreFlags } from '../store-location.ts';

interface FolderFlags extends StoreFlags {
  readonly json?: boolean;
}

const WHERE = `
Changes the data folder directly (PATCHBOARD_DATA, default ./.patchboard), which
works only while no server uses it. The ledger records the change. A store in
PostgreSQL has neither a head file nor local mode.`;

const NO_HEAD_FILE =
  'it has no head file, so there is no loss to accept; a server stops if its database goes back to an earlier state, and starts with what is there';
const NO_LOCAL_MODE =
  'a server on PostgreSQL has no local mode; use PATCHBOARD_OPERATOR_TOKEN or create a key';

/** Registers the commands for decisions of the operator about the store of a data folder. */
export function registerStoreCommands(data: Command, context: CliContext): void {
  withFolder(data.command('accept-loss'))
    .description('accept that a store lost rows that its head file records')
    .addHelpText('after', `${WHERE}\n\nExample:\n  $ patchboard data accept-loss --data ./.patchboard`)
    .action((flags: FolderFlags) => acceptLoss(context, flags));
  withFolder(data.command('allow-local-mode'))
    .description('allow requests without a credential again, after the last key was revoked')
    .addHelpText('after', `${WHERE}\n\nExample:\n  $ patchboard data allow-local-mode`)
    .action((flags: FolderFlags) => allowLocalMode(context, flags));
}

function withFolder(command: Command): Command {
  return withJsonOptions(command.option('--data <folder>', 'data folder'));
}

async function acceptLoss(context: CliContext, flags: FolderFlags): Promise<void> {
  const { output } = context;
  const loss = await acceptLossIn(folderOf(context, flags, NO_HEAD_FILE));
  if (flags.json === true) {
    return output.json(
      loss === null
        ? { accepted: false, problem: null, ledger_seq: null, local_mode_ended: null }
        : {
            accepted: true,
            problem: loss.problem,
            ledger_seq: loss.row,
            local_mode_ended: loss.endsLocalMode,
          },
    );
  }
  if (loss === null) return output.note('nothing is lost: the store matches its head file');
  output.data(`accepted, in ledger row ${loss.row}: ${loss.file} ${loss.problem}`);
  if (loss.endsLocalMode)
    output.note(
      'Keys existed before, so requests need a credential. The operator token works; create keys with: patchboard keys create',
    );
}

async function allowLocalMode(context: CliContext, flags: FolderFlags): Promise<void> {
  const { output } = context;
  const { changed } = await withKeyService(folderOf(context, flags, NO_LOCAL_MODE), async (keys) =>
    valueOrThrow(await keys.allowLocalMode(folderOperator())),
  );
  if (flags.json === true) return output.json({ changed });
  if (changed) output.data('local mode is allowed again, until the next key is created');
  else output.note('nothing changed: local mode had not ended');
}

function folderOf(context: CliContext, flags: FolderFlags, notFor: string): string {
  const location = storeLocation(context, flags);
  if (location.kind === 'postgres')
    throw new UsageError(`${location.shown} is a database: ${notFor}; for a data folder, unset DATABASE_URL`);
  if (!holdsStore(location.folder)) throw new UsageError(`${location.folder} contains no store`);
  return location.folder;
}
