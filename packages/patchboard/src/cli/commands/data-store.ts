import type { Command } from 'commander';
import { clientSettings } from '../../settings/environment.ts';
import type { CliContext } from '../context.ts';
import { acceptLossIn, folderOperator, holdsStore, withKeyService } from '../data-folder.ts';
import { UsageError } from '../exit-codes.ts';
import { valueOrThrow } from '../key-backend.ts';

interface StoreFlags {
  readonly data?: string;
  readonly json?: boolean;
}

const WHERE = `
Changes the data folder directly (PATCHBOARD_DATA, default ./.patchboard), which
works only while no server uses it. The ledger records the change.`;

/** Registers the commands for decisions of the operator about the store of a data folder. */
export function registerStoreCommands(data: Command, context: CliContext): void {
  withFolder(data.command('accept-loss'))
    .description('accept that a store lost rows that its head file records')
    .addHelpText('after', `${WHERE}\n\nExample:\n  $ patchboard data accept-loss --data ./.patchboard`)
    .action((flags: StoreFlags) => acceptLoss(context, flags));
  withFolder(data.command('allow-local-mode'))
    .description('allow requests without a credential again, after the last key was revoked')
    .addHelpText('after', `${WHERE}\n\nExample:\n  $ patchboard data allow-local-mode`)
    .action((flags: StoreFlags) => allowLocalMode(context, flags));
}

function withFolder(command: Command): Command {
  return command.option('--data <folder>', 'data folder').option('--json', 'print JSON');
}

async function acceptLoss(context: CliContext, flags: StoreFlags): Promise<void> {
  const { output } = context;
  const loss = await acceptLossIn(folderOf(context, flags));
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

async function allowLocalMode(context: CliContext, flags: StoreFlags): Promise<void> {
  const { output } = context;
  const { changed } = await withKeyService(folderOf(context, flags), async (keys) =>
    valueOrThrow(await keys.allowLocalMode(folderOperator())),
  );
  if (flags.json === true) return output.json({ changed });
  if (changed) output.data('local mode is allowed again, until the next key is created');
  else output.note('nothing changed: local mode had not ended');
}

function folderOf({ environment }: CliContext, { data }: StoreFlags): string {
  const folder = data ?? clientSettings(environment).dataFolder;
  if (!holdsStore(folder)) throw new UsageError(`${folder} contains no store`);
  return folder;
}
