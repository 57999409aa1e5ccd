import { PatchboardError } from '@patchboard/client';
import type { TraceLedgerView } from '@patchboard/wire';
import type { CliContext } from '../context.ts';
import { asOperator, type OperatorOptions } from '../operator-client.ts';
import { cell } from '../output.ts';

const HASH_CHARACTERS = 8;

export async function showTrace(context: CliContext, id: string, flags: OperatorOptions): Promise<void> {
  const { output } = context;
  const entries: TraceLedgerView[] = [];
  await asOperator(context, flags, async (client) => {
    for await (const entry of client.traceLedger(id)) entries.push(entry);
  });
  if (entries.length === 0) {
    const advice = flags.tenant === undefined ? '; for another tenant, use --tenant' : '';
    throw new PatchboardError('problem', `there is no trace "${id}"${advice}`, { code: 'value_not_found' });
  }
  if (flags.json === true) return output.json({ trace_ledger: entries });
  output.table(
    [
      { title: 'AT' },
      { title: 'TOOL' },
      { title: 'STATUS' },
      { title: 'MS' },
      { title: 'INPUT' },
      { title: 'CALL' },
      { title: 'ERROR', flexible: true },
    ],
    entries.flatMap((entry) =>
      entry.tool_calls.map((call) => [
        cell(entry.at),
        cell(call.tool_name),
        cell(call.cached ? `${entry.status} (cached)` : entry.status),
        entry.latency_ms === null ? '' : String(entry.latency_ms),
        cell(call.request_payload_hash?.slice(0, HASH_CHARACTERS) ?? ''),
        cell(call.tool_call_id ?? 'refused'),
        cell(entry.error ?? ''),
      ]),
    ),
  );
}
