import type { PatchboardClient } from '@patchboard/client';
import type { LedgerRowView } from '@patchboard/wire';
import type { Command } from 'commander';
import type { CliContext } from '../context.ts';
import { pastMoment, SINCE } from '../duration.ts';
import { UsageError } from '../exit-codes.ts';
import { adviceOnTenant, unknownId } from '../known-ids.ts';
import { asOperator, withOperatorOptions, type OperatorOptions } from '../operator-client.ts';
import { cell } from '../output.ts';
import type { Registrar } from '../program.ts';
import { wholeNumber } from '../flag-values.ts';
import { exportLedger, type ExportFlags } from './ledger-export.ts';
import { showTrace } from './ledger-trace.ts';
import { registerVerify } from './ledger-verify.ts';

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
    registerVerify(ledger, context);
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
