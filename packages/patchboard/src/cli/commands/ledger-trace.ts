import type { TraceLedgerView } from '@patchboard/wire';
import type { CliContext } from '../context.ts';
import { durationCell } from '../duration.ts';
import { adviceOnTenant, unknownId } from '../known-ids.ts';
import { asOperator, type OperatorOptions } from '../operator-client.ts';
import { cell } from '../output.ts';

const HASH_CHARACTERS = 8;

export async function showTrace(context: CliContext, id: string, flags: OperatorOptions): Promise<void> {
  const { output } = context;
  const entries: TraceLedgerView[] = [];
  await asOperator(context, flags, async (client) => {
    for await (const entry of client.traceLedger(id)) entries.push(entry);
  });
  if (entries.length === 0) throw unknownId('trace', id, adviceOnTenant(flags));
  if (flags.json === true) return output.json({ trace_ledger: entries });
  output.table(
    [
      { title: 'AT' },
      { title: 'TOOL' },
      { title: 'STATUS' },
      { title: 'TIME' },
      { title: 'INPUT' },
      { title: 'CALL' },
      { title: 'ERROR', flexible: true },
    ],
    entries.flatMap((entry) =>
      entry.tool_calls.map((call) => [
        cell(entry.at),
        cell(call.tool_name),
        cell(call.cached ? `${entry.status} (cached)` : entry.status),
        durationCell(entry.latency_ms),
        cell(call.request_payload_hash?.slice(0, HASH_CHARACTERS) ?? ''),
        cell(call.tool_call_id ?? 'refused'),
        cell(entry.error ?? ''),
      ]),
    ),
  );
}
