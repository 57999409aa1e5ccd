import type { LedgerVerdictView } from '@patchboard/wire';
import type { Command } from 'commander';
import {
  CHECKPOINT_FORM,
  checkpointText,
  parseCheckpoint,
  type LedgerCheckpoint,
} from '../../core/ledger/checkpoint.ts';
import { verifyLedger, type LedgerVerdict } from '../../core/ledger/ledger-check.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import type { CliContext } from '../context.ts';
import { holdsStore, withReadOnlyStore } from '../data-folder.ts';
import { withReadDatabase } from '../database/database-store.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { cell } from '../output.ts';
import { withServerOrStore } from '../server-or-store.ts';
import { storeLocation, withDatabaseFlags, type StoreFlags, type StoreLocation } from '../store-location.ts';

interface VerifyFlags extends OperatorOptions, StoreFlags {
  readonly from?: string;
}

const HELP = `
The server at --url verifies its ledger. With --data or --database, and if the
server is not reachable and DATABASE_URL is set, the command reads the store
itself: a data folder only while no server uses it, a database at any time.

A verification that succeeds ends with a checkpoint. With --from, the row at the
checkpoint must still have that hash, and only it and the rows after it are
read. Keep checkpoints outside the store, where who can change the store cannot
change them.

Examples:
  $ patchboard ledger verify --data ./.patchboard
  $ patchboard ledger verify --database postgres://board@db.example/board
  $ patchboard ledger verify --from "$(cat checkpoint)"`;

export function registerVerify(ledger: Command, context: CliContext): void {
  withDatabaseFlags(withOperatorOptions(ledger.command('verify')), 'verify directly the ledger')
    .description('verify the hash chain; exits with 1 if it is broken')
    .option('--from <checkpoint>', 'verify only from this checkpoint, which an earlier verification printed')
    .option('--data <folder>', 'read this data folder directly, while no server uses it')
    .addHelpText('after', HELP)
    .action((flags: VerifyFlags) => verify(context, flags));
}

async function verify(context: CliContext, flags: VerifyFlags): Promise<void> {
  const { output, exitWith } = context;
  const from = checkpointOf(flags.from);
  const verdict = await verdictOn(context, flags, from);
  if (!verdict.ok) exitWith(EXIT.toolFailed);
  if (flags.json === true) return output.json(verdict);
  const { rows, head, checkpoint, seq, problem } = verdict;
  // A server without checkpoints ignores `from` and verifies the whole chain.
  const after = from === null || (verdict.ok && checkpoint === null) ? null : from.seq;
  if (verdict.ok) {
    const verified = `${rows} rows${after === null ? '' : ` after row ${after}`}`;
    output.data(`ok: ${verified}, head ${head?.seq ?? 0} ${cell(head?.hash ?? '')}`);
    if (checkpoint !== null) output.data(`checkpoint: ${cell(checkpoint)}`);
    return;
  }
  output.data(
    `${output.paint('red', 'BROKEN')}${seq === null ? '' : ` at row ${seq}`}: ${cell(problem ?? 'no reason given')}`,
  );
  if (after === null) return output.note(`  the ${rows} rows before it are valid`);
  if (rows > 0) output.note(`  the ${rows} rows after row ${after} and before it are valid`);
}

function checkpointOf(given: string | undefined): LedgerCheckpoint | null {
  if (given === undefined) return null;
  const checkpoint = parseCheckpoint(given.trim());
  if (checkpoint === null) throw new UsageError(`--from: "${given}" is not ${CHECKPOINT_FORM}`);
  return checkpoint;
}

async function verdictOn(
  context: CliContext,
  flags: VerifyFlags,
  from: LedgerCheckpoint | null,
): Promise<LedgerVerdictView> {
  const location = storeLocation(context, flags);
  const verifyHere = (place: StoreLocation): Promise<LedgerVerdictView> => verifyStore(place, from);
  if (flags.data !== undefined || flags.database !== undefined) return await verifyHere(location);
  const options = from === null ? {} : { from: checkpointText(from) };
  return await withServerOrStore(context, flags, location.kind === 'folder' ? null : location, {
    server: () => asOperator(context, flags, (client) => client.ledgerVerify(options)),
    store: verifyHere,
  });
}

async function verifyStore(
  location: StoreLocation,
  from: LedgerCheckpoint | null,
): Promise<LedgerVerdictView> {
  if (location.kind === 'folder') return await verifyFolder(location.folder, from);
  return await withReadDatabase(location, async (store) =>
    verdictView(await verifyLedger(store, nodeDigest, from)),
  );
}

async function verifyFolder(dataFolder: string, from: LedgerCheckpoint | null): Promise<LedgerVerdictView> {
  if (!holdsStore(dataFolder)) throw new UsageError(`--data: ${dataFolder} contains no store`);
  return await withReadOnlyStore(dataFolder, async (store) => {
    const verdict = verdictView(await verifyLedger(store, nodeDigest, from));
    if (!verdict.ok || store.loss === null) return verdict;
    const { seq, file, problem } = store.loss;
    return { ...verdict, ok: false, head: null, checkpoint: null, seq, problem: `${file} ${problem}` };
  });
}

function verdictView(verdict: LedgerVerdict): LedgerVerdictView {
  const { rows } = verdict;
  if (!verdict.ok)
    return { ok: false, rows, head: null, checkpoint: null, seq: verdict.seq, problem: verdict.problem };
  const { seq, hash } = verdict.head;
  const checkpoint = checkpointText(verdict.checkpoint);
  return { ok: true, rows, head: { seq, hash }, checkpoint, seq: null, problem: null };
}
