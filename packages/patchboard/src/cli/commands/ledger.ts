import type { PatchboardClient } from '@patchboard/client';
import type { LedgerRowView, LedgerVerdictView } from '@patchboard/wire';
import type { Command } from 'commander';
import { verifyLedger, type LedgerVerdict } from '../../core/ledger/ledger-check.ts';
import { nodeDigest } from '../../runtime/digest.ts';
import type { CliContext } from '../context.ts';
import { holdsStore, withReadOnlyStore } from '../data-folder.ts';
import { pastMoment, SINCE } from '../duration.ts';
import { withReadDatabase } from '../database/database-store.ts';
import { EXIT, UsageError } from '../exit-codes.ts';
import { adviceOnTenant, unknownId } from '../known-ids.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';
import { withServerOrStore } from '../server-or-store.ts';
import { storeLocation, withDatabaseFlags, type StoreFlags, type StoreLocation } from '../store-location.ts';
import { exportLedger, type ExportFlags } from './ledger-export.ts';
import { showTrace } from './ledger-trace.ts';

interface VerifyFlags extends OperatorOptions, StoreFlags {}

interface ListFlags extends OperatorOptions {
  readonly trace?: string;
  readonly call?: string;
  readonly since?: string;
  readonly until?: string;
  readonly from?: string;
  readonly to?: string;
  readonly after?: string;
  readonly limit: string;
}

const PAGE = 200;

const VERIFY_HELP = `
The server at --url verifies its ledger. With --data or --database, and if the
server is not reachable and DATABASE_URL is set, the command reads the store
itself: a data folder only while no server uses it, a database at any time.

Examples:
  $ patchboard ledger verify --data ./.patchboard
  $ patchboard ledger verify --database postgres://board@db.example/board`;

export function ledgerCommand(context: CliContext): Registrar {
  return (program) => {
    const ledger = program
      .command('ledger')
      .description('list, verify and export the ledger, the record of all changes');
    registerList(ledger, context);
    withOperatorOptions(ledger.command('trace'))
      .description('list all calls of a trace, including refused ones')
      .argument('<id>', 'the trace id')
      .addHelpText('after', '\nExample:\n  $ patchboard ledger trace trace-001 --tenant yantian')
      .action((id: string, flags: OperatorOptions) => showTrace(context, id, flags));
    withDatabaseFlags(withOperatorOptions(ledger.command('verify')), 'verify directly the ledger')
      .description('verify the hash chain; exits with 1 if it is broken')
      .option('--data <folder>', 'read this data folder directly, while no server uses it')
      .addHelpText('after', VERIFY_HELP)
      .action((flags: VerifyFlags) => verify(context, flags));
    withOperatorOptions(ledger.command('export'))
      .description("write the tenant's rows as JSON lines, oldest first; the last line is the chain's head")
      .option('--out <file>', 'write to this file instead of stdout; it is created when complete')
      .addHelpText('after', '\nExample:\n  $ patchboard ledger export --out ledger.jsonl')
      .action((flags: ExportFlags) => exportLedger(context, flags));
  };
}

function registerList(ledger: Command, context: CliContext): void {
  withOperatorOptions(ledger.command('ls', { isDefault: true }))
    .description('list rows, oldest first (default)')
    .option('--trace <id>', 'only rows of this trace')
    .option('--call <id>', 'only rows of this call')
    .option('--since <time>', SINCE)
    .option('--until <time>', 'before: the same forms')
    .option('--from <time>', 'the same as --since')
    .option('--to <time>', 'the same as --until')
    .option('--after <seq>', 'only rows after this one')
    .option('--limit <count>', 'maximum number of rows', '50')
    .addHelpText('after', '\nExample:\n  $ patchboard ledger ls --call tc_…')
    .action((flags: ListFlags) => list(context, flags));
}

async function list(context: CliContext, flags: ListFlags): Promise<void> {
  const { output } = context;
  const limit = wholeNumber('--limit', flags.limit, 1);
  const filter = {
    ...(flags.trace === undefined ? {} : { traceId: flags.trace }),
    ...(flags.call === undefined ? {} : { toolCallId: flags.call }),
    ...rangeOf(flags, Date.now()),
    ...(flags.after === undefined ? {} : { after: wholeNumber('--after', flags.after, 0) }),
    limit: Math.min(limit, PAGE),
  };
  const rows: LedgerRowView[] = [];
  await asOperator(context, flags, async (client) => {
    for await (const row of client.ledger(filter)) {
      rows.push(row);
      if (rows.length === limit) break;
    }
    if (rows.length === 0) await requireRows(client, flags);
  });
  if (flags.json === true) return output.json({ rows });
  if (rows.length === 0) return output.note('no rows');
  output.table(
    [
      { title: 'SEQ' },
      { title: 'AT' },
      { title: 'KIND' },
      { title: 'CALL' },
      { title: 'TRACE' },
      { title: 'BODY', flexible: true },
    ],
    rows.map((row) => [
      String(row.seq),
      cell(row.at),
      cell(row.kind),
      cell(row.tool_call_id ?? ''),
      cell(row.trace_id ?? ''),
      cell(JSON.stringify(row.body)),
    ]),
  );
}

/** Rejects if the ledger has no row of the call or of the trace, whatever the other options. */
async function requireRows(client: PatchboardClient, flags: ListFlags): Promise<void> {
  const { call, trace } = flags;
  const isEmpty = async (filter: Parameters<PatchboardClient['ledger']>[0]): Promise<boolean> =>
    (await client.ledger({ ...filter, limit: 1 }).page()).items.length === 0;
  if (call !== undefined && (await isEmpty({ toolCallId: call })))
    throw unknownId('call', call, adviceOnTenant(flags));
  if (trace !== undefined && (await isEmpty({ traceId: trace })))
    throw unknownId('trace', trace, adviceOnTenant(flags));
}

function rangeOf(flags: ListFlags, now: number): { readonly from?: Date; readonly to?: Date } {
  if (flags.since !== undefined && flags.from !== undefined)
    throw new UsageError('give only one of --since and --from');
  if (flags.until !== undefined && flags.to !== undefined)
    throw new UsageError('give only one of --until and --to');
  const [from, to] = [flags.since ?? flags.from, flags.until ?? flags.to];
  return {
    ...(from === undefined ? {} : { from: pastMoment('--since', from, now) }),
    ...(to === undefined ? {} : { to: pastMoment('--until', to, now) }),
  };
}

async function verify(context: CliContext, flags: VerifyFlags): Promise<void> {
  const { output, exitWith } = context;
  const verdict = await verdictOn(context, flags);
  if (!verdict.ok) exitWith(EXIT.toolFailed);
  if (flags.json === true) return output.json(verdict);
  if (verdict.ok) {
    output.data(`ok: ${verdict.rows} rows, head ${verdict.head?.seq ?? 0} ${cell(verdict.head?.hash ?? '')}`);
    return;
  }
  output.data(
    `${output.paint('red', 'BROKEN')}${verdict.seq === null ? '' : ` at row ${verdict.seq}`}: ${cell(verdict.problem ?? 'no reason given')}`,
  );
  output.note(`  the ${verdict.rows} rows before it are valid`);
}

async function verdictOn(context: CliContext, flags: VerifyFlags): Promise<LedgerVerdictView> {
  const location = storeLocation(context, flags);
  if (flags.data !== undefined || flags.database !== undefined) return await verifyStore(location);
  return await withServerOrStore(context, flags, location.kind === 'folder' ? null : location, {
    server: () => asOperator(context, flags, (client) => client.ledgerVerify()),
    store: verifyStore,
  });
}

async function verifyStore(location: StoreLocation): Promise<LedgerVerdictView> {
  if (location.kind === 'folder') return await verifyFolder(location.folder);
  return await withReadDatabase(location, async (store) =>
    verdictView(await verifyLedger(store, nodeDigest)),
  );
}

async function verifyFolder(dataFolder: string): Promise<LedgerVerdictView> {
  if (!holdsStore(dataFolder)) throw new UsageError(`--data: ${dataFolder} contains no store`);
  return await withReadOnlyStore(dataFolder, async (store) => {
    const verdict = verdictView(await verifyLedger(store, nodeDigest));
    if (!verdict.ok || store.loss === null) return verdict;
    const { seq, file, problem } = store.loss;
    return { ...verdict, ok: false, head: null, seq, problem: `${file} ${problem}` };
  });
}

function verdictView(verdict: LedgerVerdict): LedgerVerdictView {
  const { rows } = verdict;
  if (!verdict.ok) return { ok: false, rows, head: null, seq: verdict.seq, problem: verdict.problem };
  const { seq, hash } = verdict.head;
  return { ok: true, rows, head: { seq, hash }, seq: null, problem: null };
}

function wholeNumber(flag: string, given: string, min: number): number {
  const value = Number(given);
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new UsageError(`${flag}: "${given}" is not a whole number of at least ${min}`);
}
