import type { Command } from 'commander';
import { clientSettings } from '../../settings/environment.ts';
import type { CliContext } from '../context.ts';
import { acceptLossIn, folderOperator, holdsStore, withKeyService } from '../data-folder.ts';
import { UsageError } from '../exit-codes.ts';
import { granted } from '../key-backend.ts';

interface StoreFlags {
  readonly data?: string;
  readonly json?: boolean;
}

const WHERE = `
It changes the data folder itself (PATCHBOARD_DATA, default ./.patchboard),
which works only while no server runs on it. A ledger row records it.`;

/** What an operator decides about the store of a data folder. */
export function registerStoreCommands(data: Command, context: CliContext): void {
  withFolder(data.command('accept-loss'))
    .description('go on with a store that lost what its head file names')
    .addHelpText('after', `${WHERE}\n\nExample:\n  $ patchboard data accept-loss --data ./.patchboard`)
    .action((flags: StoreFlags) => acceptLoss(context, flags));
  withFolder(data.command('allow-local-mode'))
    .description('accept requests without a credential again, now that no key is left')
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
  if (loss === null) return output.note('nothing is lost: the store holds what its head file names');
  output.data(`accepted, in ledger row ${loss.row}: ${loss.file} ${loss.problem}`);
  if (loss.endsLocalMode)
    output.note(
      'Keys have existed, so requests need a credential. The operator token works; make keys with: patchboard keys create',
    );
}

async function allowLocalMode(context: CliContext, flags: StoreFlags): Promise<void> {
  const { output } = context;
  const { changed } = await withKeyService(folderOf(context, flags), async (keys) =>
    granted(await keys.allowLocalMode(folderOperator())),
  );
  if (flags.json === true) return output.json({ changed });
  if (changed) output.data('a server started here may be in local mode again, until the next key is made');
  else output.note('local mode had not ended');
}

function folderOf({ environment }: CliContext, { data }: StoreFlags): string {
  const folder = data ?? clientSettings(environment).dataFolder;
  if (!holdsStore(folder)) throw new UsageError(`${folder} holds no store`);
  return folder;
}
